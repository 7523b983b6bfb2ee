"""Arrays of different lengths that meet in a branch inside of a loop: each keeps its own."""

import numpy as np
import pytest

from tapeless import disable_jit, grad, jit

ONES = np.ones


def counted(x, z, c, m):
    n = 0
    for _ in range(m):
        y = x if c > 0 else z
        n += len(y)
        x = x[1:]
    return n


def replaced(x, z, w, m):
    for k in range(m):
        if w[k] > 0:
            x = z
        z = np.tanh(x)
    return x


def exchanged(x, y, w, m):
    for k in range(m):
        t = y * 2
        if w[k] > 0:
            x, y = t, x
    return x


def averaged(x, z, w, m):
    s = 0.0
    for k in range(m):
        if w[k] > 0:
            x = z
        z = x * 1.0
        s = s + np.mean(x)
    return s


def turned(a, w, m):
    for k in range(m):
        t = a.T * 2
        if w[k] > 0:
            a = t
    return a


def rolled(x, y, z, w, m):
    for k in range(m):
        x = np.roll(y, 1)
        if w[k] > 0:
            if k > 0:
                y, z = z, y
            z = np.concatenate([z, y])
    return x


@pytest.mark.parametrize("w", [[-1.0, -1, 1], [-1.0, 1, -1], [1.0, -1, 1], [1.0, 1, 1]])
@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (replaced, (np.arange(3.0), ONES(5))),
        (exchanged, (np.arange(2.0), ONES(3))),
        (averaged, (np.arange(3.0), np.arange(5.0))),
        (turned, (np.arange(6.0).reshape(2, 3),)),
        (rolled, (np.arange(3.0), np.arange(4.0), np.arange(5.0))),
    ],
)
def test_values(f, args, w, passes):
    args = (*args, np.array(w), passes)
    want = f(*args)
    np.testing.assert_allclose(jit(f)(*args), want)
    with disable_jit():
        np.testing.assert_allclose(jit(f)(*args), want)


@pytest.mark.parametrize("c", [-1.0, 1.0])
def test_lengths(c):
    for passes in range(4):
        args = ONES(5), ONES(7), c, passes
        assert jit(counted)(*args) == counted(*args)


def test_derivatives():
    def f(x, z, w, m):
        for k in range(m):
            if w[k] > 0:
                x = z
            z = x + 0.5
        return np.sum(z**2)

    slope = jit(grad(f, (0, 1)))
    for w, m, wanted in (
        ([-1.0], 1, (3 * ONES(3), np.zeros(5))),
        ([1.0], 1, (np.zeros(3), 3 * ONES(5))),
        ([-1.0, 1.0], 2, (4 * ONES(3), np.zeros(5))),
    ):
        for got, want in zip(slope(ONES(3), ONES(5), np.array(w), m), wanted, strict=True):
            np.testing.assert_allclose(got, want)
