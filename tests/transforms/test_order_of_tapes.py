"""Linear maps that run forwards read what was saved in the order of the program; lengths that
differ from pass to pass are those of the pass."""

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, jacrev, jit, jvp, linearize, vjp, vmap

RATES = np.array([1.0, 2.0, 3.0])
RNG = np.random.default_rng(0)
X, D = RNG.standard_normal((2, 12, 3))
Y = RNG.integers(0, 3, 12)


def step(a, q):
    return np.sin(a * q) / (1 + q * q) + np.cos(q)


def run(x):
    for d in RATES:
        x = step(d, step(2 * d, x))
    return x


def three_runs(x):
    return run(x) + run(1.1 * x) + run(1.2 * x)


def listed(q):
    out = []
    for d in RATES:
        q = step(d, step(2 * d, q))
        out.append(q * q)
    return sum(out)


def three_lists(x):
    return listed(x) + listed(1.1 * x) + listed(1.2 * x)


@pytest.mark.parametrize("f", [three_runs, three_lists])
def test_of_outlined_functions(f):
    slope = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(linearize(f, 0.5)[1](1.0), slope, rtol=1e-7)
    curve = (grad(f)(0.5 + 1e-6) - grad(f)(0.5 - 1e-6)) / 2e-6
    for second in (hessian(f), grad(grad(f)), jacfwd(jacfwd(f)), jit(hessian(f))):
        np.testing.assert_allclose(second(0.5), curve, rtol=1e-6)


def halving(x):
    for _ in range(len(x) - 1):
        x = x[1:] * x[:-1]
    return x[0]


def tree(x):
    p = x[0] * np.arange(1.0, 5.0)
    for _ in range(3):
        p = p[:-1] * x[1] + x[2]
    return p[0]


@pytest.mark.parametrize("f", [halving, tree])
def test_of_arrays_that_become_shorter(f):
    x = np.array([1.1, 1.2, 1.3])
    want = [(grad(f)(x + 1e-6 * e) - grad(f)(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    for second in (hessian(f), jacfwd(grad(f)), jacrev(grad(f)), jit(hessian(f))):
        np.testing.assert_allclose(second(x), want, rtol=1e-7, atol=1e-8)


def batches(x):
    w = np.zeros((3, 3))
    for s in range(0, 12, 5):
        part, labels = x[s : s + 5], Y[s : s + 5]
        p = np.exp(part @ w)
        p[np.arange(len(part)), labels] -= 1
        w = w - 0.1 * (part.T @ p)
    return np.sum(w**2)


def shares(x):
    w = np.zeros((3, 3))
    for s in range(0, 12, 5):
        part = x[s : s + 5]
        p = np.exp(part @ w)
        p /= p.sum(1, keepdims=True)
        w = w - 0.1 * part.T @ p
    return np.sum(w**2)


@pytest.mark.parametrize("f", [batches, shares])
def test_of_batches_of_several_sizes(f):
    def along(x):
        return np.sum(grad(f)(x) * D)

    e = RNG.standard_normal(X.shape)
    want = (along(X + 1e-6 * e) - along(X - 1e-6 * e)) / 2e-6
    np.testing.assert_allclose(np.sum(grad(along)(X) * e), want, rtol=1e-6)


def test_of_batches_in_kernels():
    def along(x):
        return np.sum(grad(batches)(x) * D)

    np.testing.assert_allclose(jit(grad(along))(X), grad(along)(X), rtol=1e-12, atol=1e-14)


# -- tangents and cotangents without axes


def cube(x):
    y = x
    for _ in range(2):
        y = y * x
    return y


def damped(x):
    y = x
    for _ in range(2):
        y -= 0.25 * y * x
    return y


def test_arrays_without_axes_are_not_overwritten():
    one = np.array(1.0)
    pull, push = vjp(cube, 2.0)[1], linearize(cube, 2.0)[1]
    for _ in range(2):
        assert pull(one) == (12.0,)
        assert push(one) == 12.0
    assert jvp(damped, (2.0,), (one,))[1] == jvp(damped, (2.0,), (1.0,))[1] == -0.25
    assert one == 1.0


# -- what choices made zero


def roots(v):
    return np.sum(np.sqrt(np.maximum(v, 0.0)))


def twice(x):
    s = np.sqrt(x)
    return np.sum(np.where(x > 0, s, 0) + np.where(x > 1, s, 0))


def selected(x):
    s = np.sqrt(x)
    return np.sum(np.select([x > 1, x > 0], [s, 2 * s], 0.0))


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_zeros_stay_zeros():
    v, ones = np.array([-1.0, 4.0]), np.ones(2)
    assert linearize(roots, v)[1](ones) == 0.25
    np.testing.assert_array_equal(jacfwd(roots)(v), [0, 0.25])
    x = np.array([4.0, 0.25, 0.0])
    for slope in (grad(twice), jit(grad(twice))):
        np.testing.assert_array_equal(slope(x), [0.5, 1.0, 0.0])
    for slope in (grad(selected), jit(grad(selected))):
        np.testing.assert_array_equal(slope(x), [0.25, 2.0, 0.0])


def test_of_shares_in_kernels():
    def along(x):
        return np.sum(grad(shares)(x) * D)

    np.testing.assert_allclose(jit(grad(along))(X), grad(along)(X), rtol=1e-12, atol=1e-14)


def part_on_some_sides(x, v):
    s = 0.0
    if x > 0:
        t = v[v > 0] * 3 * x
    if x > 2:
        s = s + np.sum(np.sin(t))
    if x > 3:
        s = s * np.sum(t)
    return s + x


def test_of_parts_of_several_lengths_in_a_batch():
    x = np.array([3.5, 2.2, 4.0])
    v = np.array([[0.5, -0.2, 0.7, -0.9], [0.1, 0.2, 0.3, -0.4], [-1, -2, -0.3, 0.4]])
    slope = grad(lambda x: np.sum(vmap(part_on_some_sides)(x, v)))
    want = [grad(part_on_some_sides)(*row) for row in zip(x, v, strict=True)]
    np.testing.assert_allclose(slope(x), want, rtol=1e-13)
