"""A loop of the user runs for each row by itself only where each pass treats every row alike."""

import numpy as np
import pytest

from tapeless import grad, jit

A = np.random.default_rng(3).normal(size=(5, 3)).round(2)


def halves_all_but_the_last(a, n):
    a = a + 1
    for _ in range(n):
        w = a.copy()
        w[:-1] *= 0.5
        a = w * 1.5
    return a


def halves_in_place(a, n):
    for k in range(n):
        w = a[:, None, 0].copy()
        w[:-1, k] *= 0.5
        a[:, 0] = w[:, 0]
    return a


def reads_all_but_the_last(a, n):
    a = a + 1
    for k in range(n):
        w = a * 1.0
        w[:-1] = np.sin(a[:-1]) + k
        a = w * 1.5
    return a


def reads_from_the_second_on(a, n):
    a = a + 1
    for _ in range(n):
        w = a * 1.0
        w[1:] = np.sin(a[1:])
        a = w * 1.5
    return a


def first_column_only(a, n):
    a = a + 1
    for _ in range(n):
        w = a * 1.0
        w[:, :1] += np.sin(a[:, :1])
        a = w * 0.5
    return a


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "f",
    [
        halves_all_but_the_last,
        halves_in_place,
        reads_all_but_the_last,
        reads_from_the_second_on,
        first_column_only,
    ],
)
def test_parts_of_the_rows(f, n):
    n = min(n, 1) if f is halves_in_place else n
    np.testing.assert_allclose(jit(f)(A.copy(), n), f(A.copy(), n), rtol=1e-14)

    def total(a):
        return np.sum(np.sin(f(a.copy(), n)))

    v = np.random.default_rng(4).normal(size=A.shape)
    found = np.sum(jit(grad(total))(A) * v)
    assert abs(found - (total(A + 1e-6 * v) - total(A - 1e-6 * v)) / 2e-6) < 1e-6 * (1 + abs(found))


def downwards(x, a):
    y = np.zeros(x.shape)
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        y[i] = x[i] + a * y[i - 1]
    return y


def downwards_in_place(x, a):
    y = x.copy()
    for i in range(1, x.shape[0]):
        y[i] += a * y[i - 1]
    return y


def upwards(x, a):
    y = x.copy()
    for i in range(x.shape[0] - 2, -1, -1):
        y[i] = y[i] - a * np.sin(y[i + 1])
    return y


def of_three_axes(x, a):
    y = np.zeros((*x.shape, 2))
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * a + x[i][:, None]
    return y[:, :, 0]


def along_rows(x, a):
    y = x.copy()
    for j in range(1, x.shape[1]):
        y[:, j] += a * y[:, j - 1]
    return y


@pytest.mark.parametrize(
    "function", [downwards, downwards_in_place, upwards, of_three_axes, along_rows]
)
def test_recurrences_from_row_to_row(function):
    x = np.random.default_rng(0).normal(size=(7, 5))
    np.testing.assert_allclose(jit(function)(x, 0.5), function(x, 0.5), rtol=1e-13)


@pytest.mark.parametrize(
    ("function", "depth"), [(downwards, 4), (downwards_in_place, 4), (upwards, 4), (along_rows, 8)]
)
def test_the_loop_inside_goes_along_memory(function, depth):
    lines = jit(function).source(np.ones((7, 5)), 0.5).splitlines()
    first = function.__code__.co_firstlineno
    places = {f"# line {first + k}" for k in (2, 3)}  # of the loop, and of what it does
    (loop,) = [x for x in lines if x.lstrip().startswith("for ") and x.split("  ")[-1] in places]
    assert len(loop) - len(loop.lstrip()) == depth
