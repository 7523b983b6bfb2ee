"""np.lib.stride_tricks.as_strided: views of arrays in order, with exact values and derivatives."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import tapeless
from tests.corpus.differences import gradient

X = np.arange(1.0, 11.0) ** 1.1
M = X[:9].reshape(3, 3).copy()


def frames(x):
    """Overlapping frames, each two elements after the one before."""
    return as_strided(x, shape=((len(x) - 4) // 2 + 1, 4), strides=(2 * x.itemsize, x.itemsize))


def windows(x):
    return as_strided(x, (len(x) - 2, 3), (x.strides[0], x.strides[0])) * np.arange(3.0)


def patches(m):
    h, w = m.shape
    return as_strided(m, (h - 1, w - 1, 2, 2), m.strides + m.strides) * 2


def diagonal(m):
    return as_strided(m, (min(m.shape),), (m.strides[0] + m.strides[1],)) * 2


def of_a_part(x):
    return as_strided(x[1:], (3, 2), (x.itemsize * 2, x.itemsize))


def of_every_second(x):
    return as_strided(x[::2], (2, 2), (x.itemsize * 2, x.itemsize * 4))


def repeated(x):
    return as_strided(x, shape=(3, len(x)), strides=(0, x.strides[0])) * np.arange(3.0)[:, None]


def transposed_shape(m):
    return as_strided(m.reshape(-1), (2, 3), (m.itemsize * 3, m.itemsize))


PROGRAMS = [
    (frames, X),
    (windows, X),
    (patches, M),
    (diagonal, M),
    (of_a_part, X),
    (of_every_second, X),
    (repeated, X),
    (transposed_shape, M),
]


@pytest.mark.parametrize(("program", "x"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_values_and_derivatives(program, x):
    for dtype in (np.float64, np.float32):
        a = x.astype(dtype)
        expected, got = program(a), tapeless.jit(program)(a)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(tapeless.jvp(program, (a,), (a,))[1], expected)
        rows = np.stack([a, 2 * a])
        np.testing.assert_array_equal(tapeless.vmap(program)(rows), [program(r) for r in rows])
    weights = np.cos(np.arange(program(x).size)).reshape(program(x).shape)

    def total(line):
        return np.sum(weights * program(np.reshape(line, x.shape)) ** 2)

    slope = gradient(total, x.ravel())
    np.testing.assert_allclose(tapeless.grad(total)(x.ravel()), slope, rtol=1e-6)
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(total))(x.ravel()), slope, rtol=1e-6)


def test_one_compilation_for_all_lengths():
    compiled = tapeless.jit(frames)
    for n in (10, 30, 17):
        np.testing.assert_array_equal(compiled(np.arange(1.0 * n)), frames(np.arange(1.0 * n)))


@pytest.mark.parametrize(
    ("view", "error", "match"),
    [
        (lambda x: as_strided(x, (6, 6), (8, 8)), ValueError, "beyond the array"),
        (lambda x: as_strided(x, (3,), (3,)), ValueError, "multiples"),
        (lambda x: as_strided(x, (3,), (-8,)), ValueError, "negative"),
        (lambda x: as_strided(x[::-1], (3,), (-8,)), tapeless.TapelessError, "do not lie in order"),
        (lambda x: as_strided(x.reshape(2, 5).T, (3,), (8,)), tapeless.TapelessError, "in order"),
    ],
)
def test_refusals(view, error, match):
    with pytest.raises(error, match=match):
        tapeless.jit(view)(X)


def store_to_the_array(x):
    view = as_strided(x, (3,), (8,))
    x[0] = 5.0
    return view


def store_to_the_view(x):
    view = as_strided(x, (3,), (8,))
    view[0] = 5.0
    return view


@pytest.mark.parametrize("program", [store_to_the_array, store_to_the_view])
def test_a_store_is_not_lost_in_silence(program):
    with pytest.raises(tapeless.TapelessError):
        tapeless.jit(program)(X.copy())


@pytest.mark.parametrize("x", [X, M, M.T, M[:, 1:], X[::3], X[::-1], M[1]])
def test_strides(x):
    def scaled(x):
        return x * x.strides[0] + x.strides[-1] * x.itemsize

    np.testing.assert_array_equal(tapeless.jit(scaled)(x), scaled(x))


@pytest.mark.parametrize("shape", [(2, 3), (2,), (2, 2, 3), (), None, (12, 1)])
def test_a_new_shape_without_strides(shape):
    """NumPy gives the strides of the new shape where the elements of the array lie in order."""
    x = np.arange(12.0).reshape(3, 4)

    def view(x):
        return as_strided(x, shape) * 2

    np.testing.assert_array_equal(tapeless.jit(view).plain(x), view(x))
    slopes = tapeless.grad(lambda x: np.sum(view(x) ** 2))(x)
    expected = np.zeros((3, 4))
    as_strided(expected, shape)[...] = 4 * view(x)
    np.testing.assert_array_equal(slopes, expected)
