"""Complex numbers in kernels, compiled without Numba: Python's arithmetic, NumPy's functions."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.backends.cpu import load
from tapeless.transforms.lowering.kernels import scratch
from tests.backends.cpu.test_direct import agrees, alone, as_python, listed, module

__all__ = ["alone"]  # a fixture

Z = np.array([0.5 - 2j, -1.5 + 0.25j, 3j, -2.0 + 0j, 1e-3 + 1e3j])
EXPRESSIONS = """
    a + b | a - b | a * b | a / b | -a | +a | a.real + 0j | a.imag * 1j | a.conjugate()
    2 * a - 1.5 | complex(a.real, b.imag) | np.complex128(a.real) | np.complex64(a) | complex(a)
    a if a == b else b | a * True | (a != b) + 0j | (2 + 1j).imag * a | -(1 - 2j) * a
    a - 1j if a.real < b.real else b.real | 1.5.real + b | (3).imag + a
    a.real.conjugate() * b | bool(a) * b | (a != 0) * b | a + np.float32(2)
"""


@pytest.mark.parametrize("e", listed(EXPRESSIONS))
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_expressions(e, dtype, alone):
    text = module(
        "x, out",
        f"""
        for i in range(x.shape[0]):
            for j in range(x.shape[0]):
                a = x[i]
                b = x[j]
                out[i, j] = {e}  # float32
        """,
    )
    agrees(alone, text, Z.astype(dtype), np.zeros((5, 5), dtype))


def test_variables_that_are_real_at_first(alone):
    body = """
        s = 0.0
        k = 0
        while k < n and abs(s.real) < 1e3:
            s = s * s + x[k] if k % 2 else s + x[k]
            k += 1
        return s, s.real, k
    """
    agrees(alone, module("x, n", body), Z, 5)


def test_functions_of_complex_numbers_with_several_results(alone):
    more = """
@njit
def turned(z, n):
    return z * 1j, n + 1, z.imag

"""
    body = """
        s = 0j
        n = 0
        for i in range(x.shape[0]):
            z, n, y = turned(x[i], n)
            s += z * y
        return s, n
    """
    agrees(alone, module("x", body, more), Z)


def test_scratch_strides_and_reversed_arrays(alone):
    body = """
        t = scratch((x.shape[0],), np.complex64)
        for i in range(x.shape[0]):
            t[i] = x[i] * x[-1 - i]
        for i in range(x.shape[0]):
            out[i] += t[i] - x[i]
    """
    text = module("x, out", body)
    assert scratch.SCRATCH in text
    matrix = np.arange(10).reshape(5, 2) * (1 + 2j)
    agrees(alone, text, matrix[::-1, 1], np.ones(5, np.complex128))


def test_division_by_zero_is_an_error(alone):
    text = module("a, b", "return a / b")
    f = load("f", text)
    assert f(1 + 2j, 2j) == (1 + 2j) / 2j
    with pytest.raises(ZeroDivisionError) as pythons:
        as_python(text)(1 + 2j, 0j)
    with pytest.raises(ZeroDivisionError) as ours:
        f(1 + 2j, 0j)
    assert str(ours.value) == str(pythons.value)
    assert [made is None for made in alone] == [False]


# -- functions


def exp(z):
    return np.exp(z)


def log(z):
    return np.log(z)


def sqrt(z):
    return np.sqrt(z)


def sin(z):
    return np.sin(z)


def quotient(z):
    return (1 - 2j) / z


def _numbers():
    """Parts of all kinds, and of all sizes."""
    parts = [0.0, 1.0, -3.0, 0.6, -0.8, 700.5, -745.0, 800.0, 1e-320, 1.7e308, 1e-200]
    ends = [-0.0, np.inf, -np.inf, np.nan]
    pairs = itertools.product([*parts, *ends], repeat=2)
    rng = np.random.default_rng(0)
    some = rng.normal(size=(2, 500)) * 10.0 ** rng.uniform(-3, 3, (2, 500))
    return np.array([complex(a, b) for a, b in pairs] + list(some[0] + 1j * some[1]))


@pytest.mark.parametrize("function", [exp, log, sqrt, sin, quotient])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_values_are_numpys(function, dtype, alone):
    with np.errstate(all="ignore"):
        z = _numbers().astype(dtype)
        if function is sin:  # whose kernels are not scaled
            z = z[np.abs(z.imag) < 80]
        got, wanted = tapeless.jit(function)(z), function(z)
    assert got.dtype == wanted.dtype
    rounding = 4 * np.finfo(dtype).eps
    for name in ("real", "imag"):
        np.testing.assert_allclose(
            getattr(got, name), getattr(wanted, name), rtol=rounding, atol=rounding / 8
        )
    if function in (sqrt, log):  # signs of zero, which say on which side of a cut a number is
        assert np.array_equal(
            np.signbit(got.imag[~np.isnan(z)]), np.signbit(wanted.imag[~np.isnan(z)])
        )
    assert [made is None for made in alone] == [False]


def test_operands_of_quotients_are_named_once():
    """A quotient says its operands twice: what is longer than a name gets one."""

    def f(z, w):
        return (z + 1) / (w * w)

    z, w = np.array([1 + 2j, -1, 0.5j]), np.array([2 - 1j, 0, 1 + 1j])
    text = tapeless.jit(f).source(z, w)
    assert text.count("w[i] * w[i]") == text.count("z[i] + ") == 1
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(tapeless.jit(f)(z, w), f(z, w))
