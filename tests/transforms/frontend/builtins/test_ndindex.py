"""np.ndindex and np.ndenumerate: loops that stay loops, with the places and items of NumPy's."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.random.default_rng(0).normal(size=(3, 4))


def indices(x):
    total = 0.0
    for i, j in np.ndindex(x.shape):
        total += x[i, j] * i - x[i, j] ** 2 * j
    return total


def items(x):
    y = np.zeros_like(x)
    for at, v in np.ndenumerate(x):
        y[at] = v * 2 + sum(at)
    return y


def apart(x):
    for i, j in np.ndindex(*x.shape):
        x[i, j] += i + 2 * j
    return x


def chosen(x):
    return [i for i, v in np.ndenumerate(x) if v > 0.5]


def largest(x):
    best, where = None, (0, 0)
    for at, v in np.ndenumerate(x):
        if best is None or v > best:
            best, where = v, at
    return best, where


def taken(x):
    places = np.ndindex(x.shape[0], 2)
    return next(places, None), list(places)


def keys(x):
    return {at: v * 2 for at, v in np.ndenumerate(x)}


def known(x):
    y = np.zeros((2, 2))
    for at in np.ndindex(2, 2):
        y[at] = at[0] * x.size
    return y


def one_axis(x):
    total = 0.0
    for (k,), v in np.ndenumerate(x.ravel()):
        total += v * k
    return total


def no_axis(x):
    return [(at, v) for at, v in np.ndenumerate(np.sum(x) * np.ones(()))]


@pytest.mark.parametrize(
    "f", [indices, items, apart, chosen, largest, taken, keys, known, one_axis, no_axis]
)
@pytest.mark.parametrize("rows", [3, 1, 0])
def test_as_numpy(f, rows):
    x = X[:rows]
    found, wanted = jit(f)(x.copy()), f(x.copy())
    if isinstance(wanted, np.ndarray | float):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    else:
        assert found == wanted or np.allclose(found[0][1], wanted[0][1])


def test_loops_stay_loops():
    text = grad(indices).source(X)
    assert text.count("for ") <= 2
    assert len(jit(items).source(np.ones((9, 9)))) == len(jit(items).source(X))


def test_derivatives():
    i, j = np.indices(X.shape)
    np.testing.assert_allclose(grad(indices)(X), i - 2 * X * j)
    np.testing.assert_allclose(jit(grad(indices))(X), i - 2 * X * j)
