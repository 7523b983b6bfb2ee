"""Powers: of halves and small numbers by roots and products, others by SIMD functions."""

import mpmath
import numpy as np
import pytest

from tapeless import jit
from tests.backends.cpu.test_maths import HAS_SIMD, SIMD, load, module, newest_code

EXPONENTS = [-0.5, -1.5, 0.5, 1.5, 2.5, -1.0, -2.0, -2, 3.0, 4.0, 6, -6, 8.0, 1.7, -3.2, 1 / 3]
WORST = 2.0  # units of the last place: a product of a root is as exact but for one unit
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, -2.5, 5e-324, 1e-310, 2.3e-308, 1.7e308]
EDGES = [1e-160, 1e-103, 1e160, 1e205, 3e-206, 1.7e-206, 1e-155, 1e155, 1e154]


def powers(e):
    """x ** e in a kernel: a single operation would stay NumPy's."""
    compiled = jit(lambda x, one: x**e * one)
    return lambda x: compiled(x, np.ones_like(x))


def units_off(got, x, e):
    with mpmath.workdps(40):
        exact = [mpmath.mpf(float(v)) ** mpmath.mpf(float(e)) for v in x]
        steps = np.spacing(np.abs(np.array([float(v) for v in exact], got.dtype)))
        pairs = zip(got, exact, steps, strict=True)
        return max(abs(float((mpmath.mpf(float(a)) - b) / float(s))) for a, b, s in pairs)


@pytest.mark.parametrize("e", EXPONENTS)
def test_as_exact_as_powers_of_libraries(e, rng):
    x = np.exp(rng.uniform(-30, 30, 300))
    assert units_off(powers(e)(x), x, e) < (WORST if abs(e) <= 4 else 3.0)


@pytest.mark.parametrize("e", [e for e in EXPONENTS if e != int(e)])
def test_single_precision(e, rng):
    x = np.exp(rng.uniform(-8, 8, 300)).astype(np.float32)
    got = powers(e)(x)
    assert got.dtype == np.float32
    assert units_off(got, x, np.float32(e)) < WORST


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("e", [*EXPONENTS, np.inf, np.nan, 0.0])
def test_odd_numbers(e, dtype):
    with np.errstate(all="ignore"):
        x = np.array([*ODD, *EDGES]).astype(dtype)
        want, got = x**e, powers(e)(x)
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def roots_by_number(x):
    total = 0.0
    for v in x:
        total = total / 2 + v**0.5
    return total


@pytest.mark.parametrize("last", [4.0, 0.0, -0.0, -1.0, np.inf, -np.inf])
def test_numbers_are_not_arrays(last):
    """NumPy takes square roots of arrays, and powers of numbers: of -inf they differ."""
    x = np.array([1.0, last])
    with np.errstate(all="ignore"):
        want = roots_by_number(x)
    np.testing.assert_array_equal(jit(roots_by_number)(x), want)


@HAS_SIMD
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_simd_versions_are_called(dtype):
    body = "for i in range(x.shape[0]):\n        out[i] = x[i] ** y[i]"
    f = load(
        "f", module(f'@njit(nogil=True, error_model="numpy")\ndef f(x, y, out):\n    {body}\n')
    )
    x, y, out = (np.full(100, 0.5, dtype) for _ in range(3))
    f(x, y, out)
    np.testing.assert_allclose(out, np.sqrt(x), rtol=1e-6)
    assert SIMD.search(newest_code())
