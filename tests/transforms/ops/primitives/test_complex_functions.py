"""Functions of complex numbers in kernels: NumPy's values at infinities, NaN and large numbers."""

import itertools

import numpy as np
import pytest

from tapeless import jit

INF, NAN = np.inf, np.nan
REAL = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 800.0, -800.0, 0.3, 25.0, -300.0)
IMAGINARY = (0.0, -0.0, 1.0, -2.0, INF, -INF, NAN, 5.0, 800.0)
Z = np.array([complex(x, y) for x, y in itertools.product(REAL, IMAGINARY)])
FUNCTIONS = (np.exp, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_values_are_those_of_numpy(function, dtype):
    z = Z.astype(dtype)
    expected = function(z)
    compiled = jit(lambda z: function(z))(z)
    assert compiled.dtype == dtype
    ulps = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(compiled.real, expected.real, rtol=ulps, atol=0)
    np.testing.assert_allclose(compiled.imag, expected.imag, rtol=ulps, atol=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_zeros_keep_their_signs(function):
    z = Z[np.isfinite(Z.real) & np.isfinite(Z.imag)]
    expected, compiled = function(z), jit(lambda z: function(z))(z)
    for a, b in ((compiled.real, expected.real), (compiled.imag, expected.imag)):
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_powers(dtype):
    bases = np.array([0, 1, -1, 1j, 2 + 3j, -0.5 - 0.2j, NAN, 3, -4, 0.1 + 1.2j], dtype)
    exponents = np.array([0, 1, 2, 3, -1, -2, 5, 30, -30, 0.5, -0.5, 1j, 2 + 1j, -1 - 1j], dtype)
    x, y = np.meshgrid(bases, exponents)
    powers = jit(lambda x, y: x**y)(x, y)
    assert powers.dtype == dtype
    rtol = 1e-4 if dtype == np.complex64 else 1e-13
    np.testing.assert_allclose(powers, x**y, rtol=rtol, atol=rtol)


def test_powers_in_a_loop_are_in_a_kernel():
    def polynomial(z, coefficients):
        total = np.zeros(len(z), complex)
        for k in range(len(coefficients)):
            total += coefficients[k] * np.power(z, k / 2)
        return total

    z, coefficients = np.array([1 + 1j, 2 - 1j, 0.5j]), np.arange(1.0, 5.0)
    compiled = jit(polynomial)
    np.testing.assert_allclose(compiled(z, coefficients), polynomial(z, coefficients), rtol=1e-13)
    assert "run by Python" not in str(compiled.explain(z, coefficients))


def test_elements_of_a_loop():
    def oscillation(z, steps):
        for k in range(steps):
            z[k] = np.cosh(z[k]) * np.exp(1j * k)
        return z

    z = np.array([1 + 1j, 2 - 1j, 0.5j])
    np.testing.assert_allclose(jit(oscillation)(z.copy(), 3), oscillation(z, 3), rtol=1e-14)
