"""Generator expressions and iterators read what an array holds when their turn comes."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([0.5, -0.3, 0.8])


def halved(x):
    a, s = x.copy(), 0.0
    for v in (2 * w for w in a):
        a *= 0.5
        s += v
    return s


def overwritten(x):
    a = x.copy()
    g = (2 * w for w in a)
    first = next(g)
    a[:] = 1
    return first + sum(g)


def by_an_iterator(x):
    a = x.copy()
    rest = iter(a)
    first = next(rest)
    a[:] = 3.0 * first
    return first + sum(rest)


def beside_the_array(x):
    a, s = x.copy(), 0.0
    for v, w in zip(a, (3 * q for q in a), strict=True):
        a *= 0.5
        s += v * w
    return s


@pytest.mark.parametrize("f", [halved, overwritten, by_an_iterator, beside_the_array])
def test_what_is_read_late(f):
    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-15)
    slope = [(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(f)(X), slope, rtol=1e-8)
