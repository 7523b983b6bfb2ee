"""np.nditer: plain, with indices, over several arrays, storing, and in the order of memory."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError
from tests.corpus.differences import gradient

X = np.array([[1.3, -0.7, 2.1], [0.4, 0.9, -1.6]])


def squares(x):
    total = 0.0
    for v in np.nditer(x):
        total = total + v * v
    return total


def stores(x):
    y = x.copy()
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v * v
    return np.sum(y * x)


def indices_in_a_while_loop(x):
    total = 0.0
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        i, j = it.multi_index
        total = total + it[0] * (i + 1) * x[i, j] ** (j + 1)
        it.iternext()
    return total


def indices_in_a_for_loop(x):
    total = 0.0
    it = np.nditer(x, flags=["multi_index"])
    for v in it:
        total = total + v * np.sin(x[it.multi_index] * it.multi_index[1])
    return total + float(it.finished)


def numbers_of_elements(x):
    total = 0.0
    by_rows, by_columns = (np.nditer(x, flags=[f]) for f in ("c_index", "f_index"))
    for v in by_rows:
        total = total + v * by_rows.index
    for v in by_columns:
        total = total + v * v * by_columns.index
    return total


def as_one_line(x):
    y = x.copy()
    for line in np.nditer(y, flags=["external_loop"], op_flags=["readwrite"]):
        line[:] = line * line * np.arange(6)
    return np.sum(y)


def over_several(x):
    total = 0.0
    for a, b in np.nditer([x, 2 * x[0]]):
        total = total + a * a * b
    return total


def into_a_new_array(x):
    it = np.nditer([x, None])
    for a, b in it:
        b[...] = a * a
    return np.sum(it.operands[1] * x)


def into_another(x):
    y = np.zeros_like(x)
    it = np.nditer([x, y], flags=["multi_index"], op_flags=[["readonly"], ["writeonly"]])
    while not it.finished:
        it[1] = it[0] ** 2 * (1 + it.multi_index[1])
        it.iternext()
    return np.sum(y * y)


def in_the_order_of_memory(x):
    total, k = 0.0, 1.0
    for order in ("K", "C", "F", "A"):
        for v in np.nditer(x.T, order=order):
            total, k = total + k * v, k + v * v
    return total


def central_differences(x):
    slopes = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        at = it.multi_index
        old = x[at]
        x[at] = old + 1e-3
        above = np.sum(x**3)
        x[at] = old - 1e-3
        below = np.sum(x**3)
        x[at] = old
        slopes[at] = (above - below) / 2e-3
        it.iternext()
    return np.sum(slopes * np.arange(6.0).reshape(2, 3))


PROGRAMS = (
    squares,
    stores,
    indices_in_a_while_loop,
    indices_in_a_for_loop,
    numbers_of_elements,
    as_one_line,
    over_several,
    into_a_new_array,
    into_another,
    in_the_order_of_memory,
    central_differences,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_numpy_does(f):
    expected = gradient(lambda x: f(x.reshape(X.shape)), X.ravel()).reshape(X.shape)
    np.testing.assert_allclose(jit(f)(X.copy()), f(X.copy()), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X.copy()), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(grad(f))(X.copy()), expected, rtol=1e-5, atol=1e-7)
    batch = np.stack([X, X[::-1] * 1.5])
    np.testing.assert_allclose(vmap(f)(batch.copy()), [f(x.copy()) for x in batch], rtol=1e-12)


def test_arrays_of_any_number_of_axes():
    for x in (np.float64(1.5), np.array([0.5, 2.0]), np.arange(8.0).reshape(2, 2, 2)):
        assert jit(squares)(x) == squares(x)
    with pytest.raises(ValueError, match="zero-sized operands is not enabled"):
        jit(squares)(np.zeros((0, 2)))


@pytest.mark.parametrize(
    "options",
    [{"flags": ["buffered"]}, {"op_dtypes": ["f4"], "casting": "same_kind"}, {"order": "K"}],
    ids=["buffered", "dtypes", "in no order"],
)
def test_what_has_no_rule_is_refused(options):
    def f(x):
        total = 0.0
        for v in np.nditer(x[:, ::2], **options):
            total = total + v
        return total

    with pytest.raises(UnsupportedError) as caught:
        grad(f)(X)
    assert "np.nditer" in str(caught.value)
    assert caught.value.hint
