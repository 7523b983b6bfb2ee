"""np.ndarray(shape, dtype): an array to be filled, as np.empty gives."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

X = np.array([0.3, 0.4, 0.5])


def in_a_loop(x):
    out = np.ndarray((len(x),), dtype=float)
    for i in range(len(x)):
        out[i] = x[i] * i
    return out


def by_name(x):
    out = np.ndarray(shape=(2, len(x)), dtype=np.float64)
    out[0] = x
    out[1] = x**2
    return out.sum(axis=0)


def of_a_number(x):
    out = np.ndarray(3)
    out[:] = x[0]
    return out * x


def of_integers(x):
    out = np.ndarray((2, 3), np.int32)
    out.fill(3)
    return out * x


def by_columns(x):
    out = np.ndarray(x.shape, x.dtype, order="F")
    out[...] = x
    return out**2


def sums(x):
    out = np.ndarray(len(x) + 1, dtype=np.float64)
    out[0] = np.sum(x)
    for i in range(len(x)):
        out[i + 1] = out[i] + x[i] ** 2
    return out


PROGRAMS = [in_a_loop, by_name, of_a_number, of_integers, by_columns, sums]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    expected, got = program(X), tapeless.jit(program)(X)
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    assert got.dtype == expected.dtype

    def total(x):
        return np.sum(program(x) ** 2)

    np.testing.assert_allclose(tapeless.grad(total)(X), gradient(total, X), rtol=1e-7, atol=1e-9)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(tapeless.vmap(program)(rows), [program(row) for row in rows])


def test_memory_that_is_there_is_refused():
    with pytest.raises(tapeless.TapelessError, match="memory that is there"):
        tapeless.jit(lambda x: np.ndarray((2,), float, x))(X)


def test_the_class_is_still_a_class():
    assert tapeless.jit(lambda x: x * isinstance(x, np.ndarray))(X).tolist() == X.tolist()
