"""np.frompyfunc: called on arrays and numbers, with several results, and its methods."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError
from tests.corpus.differences import gradient

X = np.array([1.3, -0.7, 2.1, 0.4])


def leaky(a):
    return a if a > 0 else 0.1 * a


LEAKY = np.frompyfunc(leaky, 1, 1)


def accumulated(x):
    f = np.frompyfunc(lambda a, b: 0.5 * a + b * b, 2, 1)
    return np.sum(f.accumulate(x, dtype=object).astype(float) * x)


def several(x):
    squares, sums = np.frompyfunc(lambda a: (a * a, a + 1), 1, 2)(x)
    return np.sum(squares * sums)


PROGRAMS = {
    "sums": lambda x: np.sum(np.frompyfunc(lambda a: a * a + 1, 1, 1)(x)),
    "as floats": lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(float) @ x,
    "made outside": lambda x: np.sum(LEAKY(x).astype(float) * x),
    "numbers": lambda x: np.frompyfunc(lambda a, b: a * b if a > b else a, 2, 1)(x[0], x[1]),
    "broadcast": lambda x: np.sum(
        np.frompyfunc(lambda a, n: a**n, 2, 1)(x[:, None], np.array([1, 2])).astype(float) ** 2
    ),
    "integers on one side": lambda x: np.sum(
        np.frompyfunc(lambda a: a * a if a > 1 else 0, 1, 1)(x).astype(float)
    ),
    "several results": several,
    "accumulate": accumulated,
    "reduce": lambda x: np.frompyfunc(lambda a, b: a * 0.3 + b * b, 2, 1).reduce(x),
    "rows reduced": lambda x: np.sum(
        np.frompyfunc(lambda a, b: a * 0.3 + b * b, 2, 1).reduce(x.reshape(2, 2), axis=1) ** 2
    ),
    "outer": lambda x: np.sum(np.frompyfunc(lambda a, b: a * b * b, 2, 1).outer(x, x[:2])),
    "of Python": lambda x: np.sum(np.frompyfunc(max, 2, 1)(x, 0.5).astype(float) * x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy_does(name):
    f = PROGRAMS[name]
    expected = gradient(f, X)
    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(grad(f))(X), expected, rtol=1e-5, atol=1e-7)
    batch = np.stack([X, X[::-1] * 1.5])
    np.testing.assert_allclose(vmap(f)(batch), [f(x) for x in batch], rtol=1e-12)


def test_elements_are_numbers_of_python():
    def f(x):
        return np.frompyfunc(lambda a: a / 3, 1, 1)(x).astype(float)

    x = np.array([0.1, 0.2], np.float32)
    assert jit(f)(x).dtype == np.float64
    np.testing.assert_array_equal(jit(f)(x), f(x))
    np.testing.assert_array_equal(jit(f)(np.arange(3)), f(np.arange(3)))
    assert jit(f)(x[:0]).shape == (0,)


def test_what_changes_the_result_is_refused():
    def f(x):
        return np.frompyfunc(lambda a: a * a, 1, 1)(x, out=x)

    with pytest.raises(UnsupportedError, match="out= of a function that np"):
        grad(f)(X)
