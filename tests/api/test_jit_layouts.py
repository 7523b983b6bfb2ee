"""jit over layouts and dtypes: the values of NumPy, and no stores to other places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeless import jit

DTYPES = ("f8", "f4", "i8", "u1", "?")


def c_order(x):
    return x.copy()


def f_order(x):
    return np.asfortranarray(x)


def strided(x):
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype) if x.ndim else x
    if x.ndim:
        wide[..., ::2] = x
    return wide[..., ::2] if x.ndim else x


def backwards(x):
    return x[(slice(None, None, -1),) * x.ndim].copy()[(slice(None, None, -1),) * x.ndim]


def broadcast(x):
    return np.broadcast_to(x[:1], x.shape) if x.ndim else x


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    made = np.ndarray(x.shape, x.dtype, memory, 1)
    made[...] = x
    return made


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = (c_order, f_order, strided, backwards, broadcast, unaligned, read_only)


def elementwise(x, y):
    return np.exp(x * 0.25) + y, np.maximum(x, y)


def sums(x, y):
    return np.sum(x, axis=0), np.sum(x * y), np.all(x == y)


def rows(x, y):
    return x[::-1] * 2 + y[:1], x.T


def gathered(x, y):
    return x[np.arange(len(x)) // 2] - 1.5 * y


@st.composite
def pairs(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(st.sampled_from([(4, 3), (5, 1), (0, 3), (3, 0), (1, 1), (7, 9)]))
    numbers = np.random.default_rng(draw(st.integers(0, 9))).integers(0, 4, size=(2, *shape))
    return [draw(st.sampled_from(LAYOUTS))(x.astype(dtype)) for x in numbers]


def same(got, want):
    for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if np.asarray(b).dtype == "f4" else 1e-12)


COMPILED = {f: jit(f) for f in (elementwise, sums, rows, gathered)}


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(pairs())
def test_layouts_and_dtypes(function, args):
    before = [x.copy() for x in args]
    same(COMPILED[function](*args), function(*args))
    for x, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(x, old)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
def test_numbers_without_axes(layout):
    x = layout(np.array(2.5))
    assert COMPILED[elementwise](x, x) == elementwise(x, x)


def overwriting(x, y):
    x *= 2
    x[0] = y[-1]


STORED = jit(overwriting)


@pytest.mark.parametrize("layout", [f for f in LAYOUTS if f not in (broadcast, read_only)])
def test_stores_keep_to_the_view(layout):
    numbers, y = np.arange(12.0).reshape(4, 3), np.ones((2, 3))
    x, want = layout(numbers), numbers.copy()
    owner = x if x.base is None else x.base
    kept = owner.copy()
    overwriting(want, y)
    STORED(x, y)
    np.testing.assert_array_equal(x, want)
    x[...] = numbers
    np.testing.assert_array_equal(owner, kept)


@pytest.mark.parametrize("layout", [broadcast, read_only])
def test_stores_to_what_is_read_only_are_refused(layout):
    x = layout(np.ones((4, 3)))
    with pytest.raises(ValueError, match="read-only"):
        STORED(x, np.ones((2, 3)))
    np.testing.assert_array_equal(x, 1)
