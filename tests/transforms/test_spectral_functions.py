"""Functions of Hermitian matrices by eigenvalues, where some coincide: every way of writing them,
every mode, against differences of the function itself, which is smooth there."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, value_and_grad, vmap

A = np.array([[0.4, 0.1, -0.2], [0.1, -0.3, 0.3], [-0.2, 0.3, 0.2]])
B = np.array([[0.3, 0.5, 0.1], [0.5, 0.1, -0.4], [0.1, -0.4, 0.6]])
WEIGHTS = np.array([[0.7, -0.3, 0.2], [0.1, 0.5, 0.4], [-0.6, 0.2, 0.9]])
VECTOR = np.array([0.3, -1.1, 0.8])
#: All eigenvalues equal, two equal, two equal up to rounding, none equal.
TURN = np.linalg.qr(WEIGHTS)[0]
POINTS = {
    "all": 2.0 * np.eye(3),
    "two": np.diag([1.5, 0.7, 1.5]),
    "turned": TURN @ np.diag([1.5, 1.5, 0.7]) @ TURN.T,
    "close": np.diag([1.5, 1.5 + 1e-12, 0.7]),
    "apart": np.diag([1.5, 1.1, 0.7]),
}


def sandwich(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * ((v * np.exp(w)) @ v.T))


def between_others(m):
    w, v = np.linalg.eigh(m)
    return np.trace(WEIGHTS @ (v * np.sqrt(w)) @ v.T @ WEIGHTS)


def diagonal_matrix(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * (v @ np.diag(np.log(w)) @ v.T))


def rows_scaled(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * (v @ (np.sin(w)[:, None] * v.T)))


def einstein(m):
    w, v = np.linalg.eigh(m)
    return np.einsum("ij,j,kj,ik->", v, w**3, v, WEIGHTS)


def solved(m):
    w, v = np.linalg.eigh(m)
    return np.sum((v @ ((v.T @ VECTOR) / (w + 0.5))) ** 2)


def divided(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * ((v / w) @ v.T))


def quadratic_form(m):
    w, v = np.linalg.eigh(m)
    return np.sum(np.exp(-w) * (v.T @ VECTOR) ** 2)


def evolution(m):
    w, v = np.linalg.eigh(m + 0j)
    u = (v * np.exp(-1j * w)) @ v.conj().T
    return np.real(np.sum(WEIGHTS * u)) + np.imag(np.sum(WEIGHTS * (u @ u)))


def complex_hermitian(m):
    w, v = np.linalg.eigh(m + 1j * (m @ WEIGHTS - (m @ WEIGHTS).T) * 0.0)
    return np.real(np.sum(WEIGHTS * ((v * np.exp(w)) @ np.conj(v.T))))


def chosen(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * ((v * np.where(w > 0.1, np.log(np.maximum(w, 0.1)), 0.0)) @ v.T))


def normalised(m):
    w, v = np.linalg.eigh(m)
    p = np.exp(-w) / np.sum(np.exp(-w))
    return np.sum(WEIGHTS * ((v * p) @ v.T)) - np.sum(p * np.log(p))


def of_values(m):
    return np.sum(np.exp(np.linalg.eigvalsh(m))) + np.log(np.sum(np.linalg.eigvalsh(m) ** 2))


def values_and_vectors(m):
    """The trace of the square, and the projection on all vectors but the least."""
    w, v = np.linalg.eigh(m)
    return w[0] + w[1] + w[2] + np.sum(WEIGHTS * (v @ v.T))


def scaled_by_parameter(m):
    w, v = np.linalg.eigh(m)
    return np.sum(WEIGHTS * ((v * np.exp(m[0, 1] * w)) @ v.T))


def twice(m):
    w, v = np.linalg.eigh(m)
    root = (v * np.sqrt(w)) @ v.T
    w2, v2 = np.linalg.eigh(root @ np.diag([1.0, 2.0, 3.0]) @ root)
    return np.sum((v2 * np.sqrt(w2)) @ v2.T)


FUNCTIONS = [
    sandwich,
    between_others,
    diagonal_matrix,
    rows_scaled,
    einstein,
    solved,
    divided,
    quadratic_form,
    evolution,
    complex_hermitian,
    chosen,
    normalised,
    of_values,
    values_and_vectors,
    scaled_by_parameter,
    twice,
]


def slope(f, point, *directions, h=2e-2):
    """The derivative in the directions, by central differences extrapolated twice."""
    if not directions:
        return f(point)
    d, *rest = directions

    def quotient(step):
        up, down = (slope(f, point + s * d, *rest, h=h) for s in (step, -step))
        return (up - down) / (2 * step)

    first, second, third = quotient(h), quotient(h / 2), quotient(h / 4)
    better, best = (4 * second - first) / 3, (4 * third - second) / 3
    return (16 * best - better) / 15


def symmetric(f):
    """The function of a matrix of which both triangles count."""
    return lambda m: f((m + m.T) / 2)


#: Every function at two of the points, every point with six functions or more.
CASES = [(f, point) for k, f in enumerate(FUNCTIONS) for point in [*POINTS, *POINTS][k % 5 :][:2]]


@pytest.mark.parametrize(("f", "point"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_derivatives(f, point):
    f, m = symmetric(f), POINTS[point]
    first, second = slope(f, m, A), slope(f, m, B, A)
    near = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(jvp(f, (m,), (A,))[1], first, **near)
    np.testing.assert_allclose(np.sum(grad(f)(m) * A), first, **near)
    np.testing.assert_allclose(jvp(lambda x: np.sum(grad(f)(x) * A), (m,), (B,))[1], second, **near)
    np.testing.assert_allclose(
        np.sum(grad(lambda x: np.sum(grad(f)(x) * A))(m) * B), second, **near
    )


@pytest.mark.parametrize("f", [solved, evolution, of_values])
def test_in_batches_and_compiled(f):
    f = symmetric(f)
    stack = np.stack([POINTS["all"], POINTS["turned"], POINTS["apart"]])
    right = [slope(f, m, A) for m in stack]
    for gradient in (
        vmap(grad(f)),
        grad(lambda ms: np.sum(vmap(f)(ms))),
        jit(vmap(grad(f))),
    ):
        np.testing.assert_allclose(np.sum(gradient(stack) * A, (1, 2)), right, 1e-6, 1e-6)
    curvature = [slope(f, m, B, A) for m in stack]
    found = vmap(hessian(f))(stack)
    np.testing.assert_allclose(np.einsum("kabcd,ab,cd->k", found, A, B), curvature, 1e-6, 1e-6)


@pytest.mark.parametrize("point", ["turned", "close"])
def test_third_order(point):
    f, m = symmetric(sandwich), POINTS[point]

    def along(g, d):
        return lambda x: np.sum(grad(g)(x) * d)

    found = along(along(along(f, A), B), A + B)(m)
    np.testing.assert_allclose(found, slope(f, m, A + B, B, A, h=0.1), rtol=1e-5)


def test_matrix_with_eigenvalues_of_rounding():
    """Eigenvalues that are 0 but for rounding: quotients of differences would be noise."""
    low = np.outer(VECTOR, VECTOR)
    f = symmetric(sandwich)
    np.testing.assert_allclose(np.sum(grad(f)(low) * A), slope(f, low, A), rtol=1e-7)


def test_eigenvalues_of_other_sizes():
    """Small eigenvalues that differ by their own size are not taken for equal."""
    w = np.array([1e-9, 5e-9, 1.0])
    m, direction = np.diag(w), A * np.sqrt(np.outer(w, w))
    f = symmetric(diagonal_matrix)
    np.testing.assert_allclose(np.sum(grad(f)(m) * direction), slope(f, m, direction), rtol=1e-4)


def test_values_and_vectors_of_one_block_in_no_known_product_are_nan():
    """A loop over eigenvalues is not recognised; nothing wrong comes out."""

    def looped(m):
        w, v = np.linalg.eigh(m)
        total = 0.0
        for k in range(len(w)):
            total += np.exp(w[k]) * (v[:, k] @ WEIGHTS @ v[:, k])
        return total

    f = symmetric(looped)
    assert np.isnan(grad(f)(POINTS["all"])).any()
    apart = POINTS["apart"]
    np.testing.assert_allclose(np.sum(grad(f)(apart) * A), slope(f, apart, A), rtol=1e-7)


def test_position_of_an_eigenvalue_is_no_function_of_the_matrix():
    def weighted(m):
        w, v = np.linalg.eigh(m)
        return np.sum(WEIGHTS * ((v * (w * np.arange(3.0))) @ v.T))

    assert np.isnan(grad(symmetric(weighted))(POINTS["all"])).any()


def test_products_that_are_no_function_of_the_matrix():
    """Fourth powers of vectors, and a diagonal matrix that only looks like one between vectors."""

    def fourth_powers(m):
        w, v = np.linalg.eigh(m)
        return np.sum(np.exp(w) * v**4)

    def beside(m):
        w, v = np.linalg.eigh(m)
        return np.sum(WEIGHTS * np.diag(w) * ((v * np.exp(w)) @ v.T))

    for f in (symmetric(fourth_powers), symmetric(beside)):
        m = POINTS["apart"] + 0.1 * A
        np.testing.assert_allclose(np.sum(grad(f)(m) * B), slope(f, m, B, h=1e-2), rtol=1e-6)


def test_single_precision():
    m = POINTS["turned"].astype(np.float32)
    found = grad(symmetric(sandwich))(m)
    assert found.dtype == np.float32
    want = slope(symmetric(sandwich), POINTS["turned"], A)
    np.testing.assert_allclose(np.sum(found * A), want, rtol=1e-5)


@pytest.mark.parametrize("f", [np.linalg.eigvalsh, np.linalg.svdvals, np.linalg.cond])
def test_values_beside_a_derivative(f):
    """What the derivative does not need is computed all the same: it goes along."""
    a = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    for run in (value_and_grad, lambda *a, **k: jit(value_and_grad(*a, **k))):
        (_, value), slope = run(lambda w, a: (w * 2.0, f(a)), has_aux=True)(1.0, a)
        np.testing.assert_allclose(value, f(a))
        assert slope == 2.0


def test_slopes_of_what_a_choice_cut_off():
    """sqrt(maximum(w, 0)) below 0: the slope of the root is infinite, that of the whole is 0."""

    def positive_root(m):
        w, v = np.linalg.eigh(m)
        return np.sum(WEIGHTS * ((v * np.sqrt(np.maximum(w, 0.0))) @ v.T))

    f, m = symmetric(positive_root), np.diag([-1.0, 2.0, 3.0])
    np.testing.assert_allclose(np.sum(grad(f)(m) * A), slope(f, m, A), rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (m,), (A,))[1], slope(f, m, A), rtol=1e-7)
