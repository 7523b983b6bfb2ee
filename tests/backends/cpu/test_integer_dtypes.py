"""Loops over integers of all dtypes give NumPy's numbers and dtypes, compiled without Numba."""

import warnings

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.llvm import compile as direct

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.fixture(autouse=True)
def without_numba(monkeypatch):
    """Kernels that only Numba could compile fail."""
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    compiled = direct.compile_kernel

    def alone(*args):
        code = compiled(*args)
        assert code is not None, f"{args[0]} takes Numba"
        return code

    monkeypatch.setattr(direct, "compile_kernel", alone)


def elementwise(x):
    return np.where(x > 2, x, -x), np.abs(x), np.maximum(x, x[::-1]), x - x[::-1], ~x, x >> 1


def running_extremes(x):
    low = high = x[0]
    for v in x:
        low, high = min(low, v), max(high, v)
    return low, high


def farthest(x):
    best, where = x[0], 0
    for i in range(len(x)):
        if abs(x[i]) > best:
            best, where = abs(x[i]), i
    return best, where


def bounded(x):
    out = np.zeros((3, len(x)), x.dtype)
    for i in range(3):
        for j in range(len(x)):
            out[i, j] = min(x[j], i) + max(i, x[j])
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [elementwise, running_extremes, farthest, bounded])
def test_values(function, dtype):
    x = np.random.default_rng(0).integers(0, 120, 9).astype(dtype)
    x[3], x[5] = np.iinfo(dtype).min, np.iinfo(dtype).max
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of what wraps around
        want = function(x.copy())
    got = jit(function)(x.copy())
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, want)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)


def test_booleans():
    x = np.array([True, False, True])
    assert jit(farthest)(x) == farthest(x) == (True, 0)


def rows(starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        part = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[part]
    return y


def parts_that_end_before_they_begin(starts, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        y[i] = np.sum(x[starts[i + 1] : starts[i]])
    return y


def tails_and_heads(columns, x):
    total = 0.0
    for i in range(len(columns)):
        k = columns[i] + 1
        total += np.sum(x[k:]) + np.sum(x[:k] * 2)
    return total


def stores(columns, x):
    y = np.zeros(10)
    for i in range(len(columns)):
        y[columns[i]] += x[i]
        y[columns[i] :] += 1.0
    return y


@pytest.mark.parametrize("dtype", DTYPES)
def test_indices(dtype, rng):
    starts = np.array([0, 2, 5, 5, 7], dtype)
    columns = rng.integers(0, 6, 7).astype(dtype)
    values, x = rng.normal(size=7), rng.normal(size=9)
    for function, args in (
        (rows, (starts, columns, values, x)),
        (parts_that_end_before_they_begin, (starts, values)),
        (tails_and_heads, (columns, x)),
        (stores, (columns, x)),
    ):
        np.testing.assert_allclose(jit(function)(*args), function(*args), rtol=1e-12)


def signed(columns, x):
    total = 0.0
    for i in range(len(columns)):
        total += x[columns[i]] + np.sum(x[columns[i] : columns[i] + 3])
    return total


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_indices_from_the_end(dtype, rng):
    columns, x = np.array([-1, 3, -9, -2], dtype), rng.normal(size=9)
    np.testing.assert_allclose(jit(signed)(columns, x), signed(columns, x), rtol=1e-12)


def powers(base, n):
    result = 1
    for _ in range(n):
        result = result * base
    return result


def sums(first, n):
    a, b = first, first
    for _ in range(n):
        a, b = b, a + b
    return b


def differences(step, n):
    a = 0
    for _ in range(n):
        a = a - step
    return a


LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("function", "x", "fitting"),
    [(powers, 7, 22), (powers, -3, 39), (sums, 1, 90), (differences, LARGEST // 3, 3)],
)
def test_overflow(function, x, fitting):
    assert abs(function(x, fitting)) <= LARGEST < abs(function(x, fitting + 2))
    compiled = jit(function)
    assert compiled(x, fitting) == function(x, fitting)
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(x, fitting + 2)


def test_overflow_at_the_very_end():
    assert jit(differences)(LARGEST, 1) == -LARGEST
    assert jit(powers)(-(2**21), 3) == -(2**63)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i4", "i8"])
@pytest.mark.parametrize("source", ["f4", "f8"])
def test_floats_beyond_an_integer_dtype_are_numpys(dtype, source):
    x = np.array([-1.5, -200.7, 7e4, -7e4, 5e9, -5e9, 9.3e18, -1e19, 1.9e19, np.nan, np.inf])

    def cast_one_by_one(x):
        return np.array([e.astype(dtype) for e in x])

    x = x.astype(source)
    np.testing.assert_array_equal(jit(cast_one_by_one)(x), cast_one_by_one(x))
