"""Functions of matrices that need not be symmetric, by eigenvalues of which some coincide: every
mode against differences of another way to compute them, which is smooth there."""

import numpy as np
import pytest
import scipy.linalg

from tapeless import grad, jit, jvp, vmap

RNG = np.random.default_rng(3)
WEIGHTS, A, B = RNG.normal(size=(3, 3, 3))
VECTOR = np.array([0.3, -1.1, 0.8])
S = np.eye(3) + 0.3 * WEIGHTS
POINTS = {
    "all": 0.7 * np.eye(3),
    "two": S @ np.diag([0.5, -0.4, 0.5]) @ np.linalg.inv(S),
    "complex": S @ np.array([[0.2, -0.9, 0], [0.9, 0.2, 0], [0, 0, 0.2]]) @ np.linalg.inv(S),
    "apart": S @ np.diag([0.5, -0.4, 0.9]) @ np.linalg.inv(S),
}


def by_products(m):
    w, v = np.linalg.eig(m)
    return np.sum(WEIGHTS * (v @ np.diag(np.exp(w)) @ np.linalg.inv(v)).real)


def by_rows(m):
    w, v = np.linalg.eig(m)
    return np.sum(WEIGHTS * np.real(v @ (np.exp(w)[:, None] * scipy.linalg.inv(v))))


def by_einsum(m):
    w, v = np.linalg.eig(m)
    return np.sum(WEIGHTS * np.einsum("ij,j,jk->ik", v, np.exp(w), np.linalg.inv(v)).real)


def exact(m):
    return np.sum(WEIGHTS * scipy.linalg.expm(m))


def of_a_vector(m):
    w, v = np.linalg.eig(m)
    return np.sum(np.sin((v @ (np.exp(w) * np.linalg.solve(v, VECTOR))).real))


def exact_of_a_vector(m):
    return np.sum(np.sin(scipy.linalg.expm(m) @ VECTOR))


PAIRS = {
    by_products: exact,
    by_rows: exact,
    by_einsum: exact,
    of_a_vector: exact_of_a_vector,
}


def slope(f, m, d, h=1e-4):
    first, second = ((f(m + s * d) - f(m - s * d)) / (2 * s) for s in (h, 2 * h))
    return (4 * first - second) / 3


CASES = [(f, p) for k, f in enumerate(PAIRS) for p in [*POINTS, *POINTS][k:][:2]]


@pytest.mark.parametrize(("f", "point"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_derivatives(f, point):
    m, reference = POINTS[point], PAIRS[f]
    first = slope(reference, m, A)
    second = slope(lambda x: slope(reference, x, A, 1e-2), m, B, 1e-2)
    np.testing.assert_allclose(jvp(f, (m,), (A,))[1], first, rtol=1e-7)
    np.testing.assert_allclose(np.sum(grad(f)(m) * A), first, rtol=1e-7)
    curved = jvp(lambda x: np.sum(grad(f)(x) * A), (m,), (B,))[1]
    np.testing.assert_allclose(curved, second, rtol=1e-5, atol=1e-5)
    curved = grad(lambda x: np.sum(grad(f)(x) * A))(m)
    np.testing.assert_allclose(np.sum(curved * B), second, rtol=1e-5, atol=1e-5)


def test_in_batches_and_compiled():
    stack = np.stack([*POINTS.values()])
    right = [slope(exact, m, A) for m in stack]
    for gradient in (vmap(grad(by_products)), jit(vmap(grad(by_products)))):
        np.testing.assert_allclose(np.sum(gradient(stack) * A, (1, 2)), right, rtol=1e-7)


def test_rates_of_mutations():
    """Kimura's model, of which two eigenvalues are always equal."""

    def chances(kappa, t):
        rates = np.array([[0, 1, kappa, 1], [1, 0, 1, kappa], [kappa, 1, 0, 1], [1, kappa, 1, 0.0]])
        w, v = np.linalg.eig(rates - np.diag(rates.sum(axis=1)))
        return np.real(v @ np.diag(np.exp(w * t)) @ np.linalg.inv(v))[0, 2]

    def of_kimura(kappa, t):
        return 0.25 + 0.25 * np.exp(-4 * t) - 0.5 * np.exp(-2 * t * (1 + kappa))

    for k in (0, 1):
        ours, right = (grad(f, argnums=k)(2.0, 0.3) for f in (chances, of_kimura))
        np.testing.assert_allclose(ours, right, rtol=1e-12)
