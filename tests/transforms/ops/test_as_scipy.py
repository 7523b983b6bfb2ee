"""Special functions under jit: dtypes and values are those of SciPy."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sp

from tapeless import jit


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [sp.softmax, sp.log_softmax], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u4", "f2", "f4", "f8", "c16"])
def test_softmax_takes_the_exponential_in_the_dtype_that_numpy_takes(function, dtype):
    x = np.array([[1, 2, 3], [100, 2, 100]], dtype)
    expected, compiled = function(x, axis=1), jit(lambda x: function(x, axis=1))(x)
    assert compiled.dtype == expected.dtype
    ulps = 4 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(compiled, expected, rtol=ulps, atol=0)


def test_differences_of_small_integers_wrap_in_softmax_as_in_scipy():
    x = np.array([100, -100, 99], np.int8)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(jit(lambda x: sp.softmax(x))(x), sp.softmax(x))


@pytest.mark.parametrize("function", [sp.softmax, sp.log_softmax], ids=lambda f: f.__name__)
def test_softmax_of_truth_values_raises_numpys_error(function):
    x = np.array([True, False])
    with pytest.raises(TypeError) as expected:
        function(x)
    with pytest.raises(TypeError, match="numpy boolean subtract") as raised:
        jit(lambda x: function(x))(x)
    assert str(expected.value) in str(raised.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [sp.gammaln, sp.gamma], ids=lambda f: f.__name__)
def test_gamma_functions(function, dtype):
    x = np.array([-np.inf, np.inf, np.nan, 0.0, -0.5, 0.3, 1.0, 2.5, 7.7, 30.1, 170.0], dtype)
    expected, compiled = function(x), jit(lambda x: function(x))(x)
    assert compiled.dtype == dtype
    np.testing.assert_allclose(compiled, expected, rtol=8 * np.finfo(dtype).eps)


def test_factorial_of_single_precision():
    x = np.array([0.5, 1.5, 2.0, 3.3, 7.7, 20.2, 30.1, -1.0], np.float32)
    expected, compiled = sp.factorial(x), jit(lambda x: sp.factorial(x))(x)
    assert compiled.dtype == expected.dtype
    np.testing.assert_allclose(compiled, expected, rtol=np.finfo(np.float32).eps)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_sylvester_equations_keep_single_precision(dtype):
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], dtype)

    def solution(a):
        return sl.solve_sylvester(a, a.T, a)

    expected, compiled = solution(a), jit(solution)(a)
    assert compiled.dtype == expected.dtype
    np.testing.assert_allclose(compiled, expected, rtol=2e-3, atol=2e-3)
