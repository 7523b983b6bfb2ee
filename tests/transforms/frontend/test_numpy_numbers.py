"""Python's numbers through functions of NumPy are NumPy's, which decides other dtypes."""

import warnings

import numpy as np
import pytest

import tapeless

SINGLE = np.ones(3, np.float32)
CASES = {
    "abs": lambda x: np.abs(x),
    "abs of Python": lambda x: abs(x),
    "add": lambda x: np.add(x, x),
    "clip": lambda x: np.clip(x, 0.0, 1.0),
    "constant": lambda x: np.where(x > 1, np.float64(2.0), x),
    "copy": lambda x: np.copy(x),
    "count": lambda x: np.add(3, np.size(x)) * x,
    "divide": lambda x: np.divide(x, 3),
    "divmod": lambda x: np.divmod(x, 0.5)[1],
    "dot": lambda x: np.dot(x, x),
    "float64": lambda x: np.float64(x),
    "maximum": lambda x: np.maximum(x, 0.0),
    "mod": lambda x: np.mod(x, 1.0),
    "multiply": lambda x: np.multiply(x, 2.0),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "negative": lambda x: np.negative(x),
    "operators": lambda x: (x + x) / 3 - x**2,
    "power": lambda x: np.power(x, 2),
    "real": lambda x: np.real(x),
    "round": lambda x: np.round(x, 1),
    "round of Python": lambda x: round(x, 1),
    "select": lambda x: np.select([x > 0], [x], 0.0),
    "sum": lambda x: np.sum(x),
    "where": lambda x: np.where(x > 0, x, 0.0),
}


def ways(f):
    """What the three backends of array form, forward form and loop form give."""
    yield lambda x, w: tapeless.vjp(f, x, w)[0]
    yield lambda x, w: tapeless.jvp(f, (x, w), (1.0, w))[0]
    yield tapeless.jit(f)


@pytest.mark.parametrize("x", [0.7, np.nan])
@pytest.mark.parametrize("name", CASES)
def test_dtype_of_what_a_number_is_multiplied_with(name, x):
    def f(x, w):
        return CASES[name](x) * w

    expected = f(x, SINGLE)
    for way in ways(f):
        made = way(x, SINGLE)
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(made, expected, rtol=1e-6)


@pytest.mark.parametrize("divide", [np.divide, np.mod, np.floor_divide])
def test_functions_of_numpy_divide_by_zero(divide):
    for way in ways(lambda x, y: divide(x, y)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_equal(way(2.0, 0.0), divide(np.float64(2.0), 0.0))


def test_operators_on_pythons_numbers_do_not():
    for way in ways(lambda x, y: x / y):
        with pytest.raises(ZeroDivisionError):
            way(2.0, 0.0)


def test_what_decides_nothing_is_not_written():
    def f(x, w):
        return np.where(x > 0, np.abs(x), 0.0) + np.add(x, 1) * np.sum(w)

    assert "float64" not in tapeless.grad(f).source(0.7, np.ones(3))
    assert "np.float64(x)" in tapeless.value_and_grad(f).source(0.7, SINGLE)
