"""Lengths and places that do not fit raise NumPy's error, compiled or not."""

import numpy as np
import pytest

from tapeless import grad, jit

X, U = np.array([0.5, 0.2, 0.9, 0.3, 0.7, 0.4]), np.linspace(0.1, 0.9, 7)
IN_ORDER = np.argsort(X)
MESSAGES = "out of bounds|same (length|size)|must equal|negative"


def partitioned(x, u, k, n):
    return np.sum(np.partition(x, n) * x)


def partitioned_in_place(x, u, k, n):
    y = x * 1.0
    y.partition(n)
    return np.sum(y)


def interpolated(x, u, k, n):
    return np.interp(0.6, x, u[n:])


def by_a_sorter(x, u, k, n):
    return np.sum(x) + np.sum(np.searchsorted(x, u, sorter=k[n:]))


def powers(x, u, k, n):
    return np.sum(x) + np.sum(np.vander(x, n))


def resized(x, u, k, n):
    return np.sum(x) + np.sum(np.resize(x, n))


def broadcast(x, u, k, n):
    return np.sum(x) + np.sum(np.broadcast_to(x, (n, 6)))


def masked(x, u, k, n):
    y = x * 1.0
    np.putmask(y, u[n:] > 0.4, 1.0)
    return np.sum(y * x)


CASES = [
    (partitioned, (0, 5, -6), (6, 9, -7)),
    (partitioned_in_place, (0, 5, -6), (6, 9, -7)),
    (interpolated, (1,), (0, 2)),
    (by_a_sorter, (0,), (1, 3)),
    (powers, (0, 2), (-1,)),
    (resized, (0, 2), (-1,)),
    (broadcast, (0, 2), (-1,)),
    (masked, (1,), (0, 3, 6)),
]


def in_a_loop(f):
    def g(x, u, k, n):
        total = 0.0
        for t in range(3):
            if x[t] > -1:
                total += f(x, u, k, n) * x[t]
        return total

    return g


@pytest.mark.parametrize("around", [lambda f: f, in_a_loop], ids=["alone", "in a loop"])
@pytest.mark.parametrize(("f", "fits", "does_not"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_what_does_not_fit_is_numpys_error(f, fits, does_not, around):
    f = around(f)
    ways = [(f, f), (jit(f).plain, f), (jit(f), f), (jit(grad(f)), grad(f))]
    for g, right in ways:
        for n in fits:
            args = X, U, IN_ORDER, n
            np.testing.assert_allclose(g(*args), right(*args), rtol=1e-12)
        for n in does_not:
            with pytest.raises(ValueError, match=MESSAGES):
                g(X, U, IN_ORDER, n)
