"""Values that Python needs, computed by NumPy of what is known while staging."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient

X = np.arange(24.0).reshape(2, 3, 4) / 10


def stored(x):
    order = np.arange(x.ndim)
    order[0], order[2] = 2, 0
    return np.transpose(x, order)


def put_together(x):
    return np.transpose(x, np.concatenate([[x.ndim - 1], np.arange(0, x.ndim - 1)]))


PROGRAMS = {
    "put together": put_together,
    "rolled": lambda x: np.transpose(x, np.roll(np.arange(x.ndim), 1)),
    "reversed": lambda x: x.transpose(np.arange(x.ndim)[::-1]),
    "axes of a sum": lambda x: np.sum(x, axis=tuple(np.arange(1, x.ndim))),
    "two arguments": lambda x: np.swapaxes(x, *np.array([0, 2])),
    "an array as it is": lambda x: np.moveaxis(x, np.arange(2), [1, 0]),
    "left out": lambda x: np.transpose(x, np.append(np.delete(np.arange(3), 1), 1)),
    "new axes": lambda x: np.expand_dims(x, tuple(np.array([0, 2]))),
    "stored": stored,
    "of a list": lambda x: [x[0], x[1]][np.arange(2)[::-1][0]],
    "the length of a loop": lambda x: sum(x[k] for k in range(np.cumsum(np.ones(2, int))[-1])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy_does(name):
    f = PROGRAMS[name]

    def objective(x):
        y = f(x.reshape(X.shape))
        return np.sum(y * y * np.cos(np.arange(1.0 * y.size)).reshape(y.shape))

    np.testing.assert_array_equal(jit(f)(X), f(X))
    slopes = gradient(objective, X.ravel())
    np.testing.assert_allclose(grad(objective)(X.ravel()), slopes, rtol=1e-5, atol=1e-7)
    batch = np.stack([X, X + 1, X * X])
    np.testing.assert_array_equal(vmap(f)(batch), [f(x) for x in batch])
