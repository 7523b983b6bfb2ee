"""What loops keep on lists for backward loops: taken as often as it was put there."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, vmap

X = np.array([0.5, 1.0, 0.4])
N = np.array([6, 3, 2])
M = np.array([2, 3, 1])
BOUND = np.array([10.0, -1.0, 0.1])


def ends_of_ranges_and_breaks(x, n, m, bound):
    r = 0
    while r < m:
        for _ in range(n - r):
            x = np.sin(x) + 0.1 * x * x
            if x < bound:
                break
        r = r + 1
    return x


def a_loop_that_all_make_in_one_that_they_do_not(x, n, m, bound):
    y = np.array([x, x * x])
    for _ in range(m):
        k = 0
        while True:
            k += 1
            if k >= 4:
                break
            y = np.sin(np.cos(y))
    return np.sum(y)


def a_branch_that_all_take_in_a_loop_that_they_do_not(x, n, m, bound):
    for _ in range(m):
        r = 0
        while r < 5:
            if r % 2 == 0:
                for _ in range(r):
                    x = np.sin(x)
            r = r + 1
    return x


PROGRAMS = [
    ends_of_ranges_and_breaks,
    a_loop_that_all_make_in_one_that_they_do_not,
    a_branch_that_all_take_in_a_loop_that_they_do_not,
]


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, form):
    rows = list(zip(X, N, M, BOUND, strict=True))
    slopes = [(f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6 for x, *rest in rows]
    np.testing.assert_allclose(form(vmap(grad(f)))(X, N, M, BOUND), slopes, rtol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives_and_batches_of_batches(f):
    args = X, N, M, BOUND
    slope = vmap(grad(f))
    bends = (slope(X + 1e-6, N, M, BOUND) - slope(X - 1e-6, N, M, BOUND)) / 2e-6
    np.testing.assert_allclose(vmap(hessian(f))(*args), bends, rtol=1e-6)
    twice = vmap(vmap(grad(f)))(*(np.stack([a, a[::-1]]) for a in args))
    np.testing.assert_allclose(twice, np.stack([slope(*args), slope(*args)[::-1]]), rtol=1e-12)


def repeated(x, n):
    for _ in range(n):
        x = np.sin(x)
    return x


def settled(x, n):
    while x > 0.3:
        x = 0.9 * np.sin(x)
    return x


@pytest.mark.parametrize(
    ("derivative", "f"), [(grad, repeated), (lambda f: grad(grad(f)), settled)]
)
def test_a_pass_reads_and_stores_only_its_own(derivative, f):
    """Parts of the whole would be copied in each pass otherwise: that takes quadratic time."""
    found = vmap(derivative(f))
    expected = [derivative(f)(x, n) for x, n in zip(X, N, strict=True)]
    np.testing.assert_allclose(found(X, N), expected, rtol=1e-12)
    parts = [line for line in found.source().splitlines() if "saved[" in line]
    assert parts
    assert all("[mask" in line and ", " in line.partition("saved[")[2] for line in parts)


def test_rows_and_columns_under_a_mask():
    def f(a, mask):
        b = a.copy()
        row, column = a[mask][:, 1], a[mask][0]
        part = b[mask]
        part[:, 2] = np.sin(row)
        b[mask] = part
        chosen = b[mask]
        chosen[:, 0] += 2.0
        b[mask] = chosen
        b[mask] = b[mask] + 1.0
        return np.sum(b * b) + np.sum(column), b

    a, mask = np.arange(12.0).reshape(4, 3) / 7, np.array([True, False, True, True])
    total, b = f(a, mask)
    for found in (jit(f)(a, mask), vmap(f, (0, None))(np.stack([a, a]), mask)):
        np.testing.assert_allclose(found[0], np.broadcast_to(total, np.shape(found[0])))
        np.testing.assert_allclose(found[1], np.broadcast_to(b, found[1].shape))
    steps = 1e-6 * np.eye(12).reshape(12, 4, 3)
    slopes = [(f(a + d, mask)[0] - f(a - d, mask)[0]) / 2e-6 for d in steps]
    slope = grad(lambda a: f(a, mask)[0])
    np.testing.assert_allclose(slope(a), np.reshape(slopes, (4, 3)), atol=1e-7)
    assert "[mask, 2]" in slope.source()


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("passes", [0, 2])
@pytest.mark.parametrize("axis", [0, None])
def test_lists_that_stay_empty(size, passes, axis):
    def f(x, a, n):
        found = []
        for _ in range(n):
            found.append(np.sin(np.mean(a)))  # noqa: PERF401 (a list that grows)
        x = x + sum(found)
        return np.array([x, 2.0]) * np.cos(x)

    x, a = np.ones(size) if axis == 0 else 1.0, np.ones((size, 3))
    expected = np.reshape([f(1.0, np.ones(3), passes) for _ in range(size)], (size, 2))
    np.testing.assert_allclose(vmap(f, (axis, 0, None))(x, a, passes), expected)
    slope = vmap(grad(lambda *args: np.sum(f(*args)), argnums=1), (axis, 0, None))
    assert slope(x, a, passes).shape == (size, 3)
