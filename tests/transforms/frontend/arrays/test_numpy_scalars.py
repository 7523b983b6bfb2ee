"""Python's numbers through functions of NumPy are NumPy's, which decides other dtypes; those of
`math` give Python's."""

import math
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


OF_MATH = {
    "atan2": lambda x: math.atan2(x, 2.0),
    "carried": lambda x: carried(x),
    "cos of NumPy's": lambda x: math.cos(np.sin(x)),
    "dist": lambda x: math.dist([x, 1.0], [0.0, 2.0]),
    "erf": lambda x: math.erf(x),
    "gcd": lambda x: math.gcd(int(8 * x * x + 4), 6) * x if x < 2 else x,
    "hypot": lambda x: math.hypot(x, 2.0),
    "log": lambda x: math.log(2 + x, 3.0),
    "modf": lambda x: math.modf(x)[0],
    "multiplied": lambda x: np.sin(x) * math.sin(x),
    "of an element": lambda x: math.exp(SINGLE[0] * x),
    "pow": lambda x: math.pow(x, 2),
    "quotient": lambda x: 1 / math.sqrt(x),
    "sqrt": lambda x: math.sqrt(x),
    "to NumPy's": lambda x: np.float64(math.sqrt(x)),
}


def carried(x):
    s = math.sin(x)
    while s > 0.3:
        for _ in range(2):
            s = s / 2 + math.cos(s) * x / 9
        s = s - 0.1
    return s


@pytest.mark.parametrize("x", [0.7, np.nan])
@pytest.mark.parametrize("name", [*CASES, *OF_MATH])
def test_dtype_of_what_a_number_is_multiplied_with(name, x):
    def f(x, w):
        return (CASES | OF_MATH)[name](x) * w

    if name == "gcd" and np.isnan(x):
        x = 1.5
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


@pytest.mark.parametrize("name", sorted({*CASES, *OF_MATH} - {"count"}))  # of a constant
def test_what_is_given_is_a_number_of_the_same_kind(name):
    f = (CASES | OF_MATH)[name]
    expected = f(0.7)
    found = [tapeless.jit(f)(0.7), tapeless.vjp(f, 0.7)[0], tapeless.jvp(f, (0.7,), (1.0,))[0]]
    kinds = [isinstance(y, np.generic) for y in found]
    assert kinds == [isinstance(expected, (np.generic, np.ndarray))] * 3


def test_numbers_of_math_divide_as_pythons_do_and_those_of_a_batch_as_arrays():
    def f(x):
        return 1 / math.sqrt(x)

    def g(x):
        while x > 1:
            x = x / 2
        return 1 / math.sqrt(x)

    for way in (tapeless.jit(f), tapeless.grad(f), tapeless.jit(tapeless.grad(f))):
        with pytest.raises(ZeroDivisionError):
            way(0.0)
    for h in (f, g, tapeless.grad(f), tapeless.grad(g)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = tapeless.vmap(h)(np.array([0.0, 2.0]))
            assert np.isinf(made[0])
            np.testing.assert_array_equal(
                tapeless.jit(tapeless.vmap(h))(np.array([0.0, 2.0])), made
            )


@pytest.mark.parametrize("shape", [(1,), (3,)])
def test_functions_of_math_take_no_arrays(shape):
    for way in (tapeless.jit, lambda f: lambda x: tapeless.vjp(f, x)):
        with pytest.raises(TypeError, match="only 0-dimensional arrays"):
            way(lambda x: math.sqrt(x))(np.ones(shape))


def test_what_math_gives_is_converted_where_it_decides():
    assert "float(" not in tapeless.grad(lambda x: math.sin(x) * x).source(0.7)
    source = tapeless.value_and_grad(lambda x, w: np.sum(math.sin(x) * w)).source(0.7, SINGLE)
    assert "float(np.sin(x))" in source


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_complex_numbers_of_python_are_no_real_ones(kind):
    def f(z):
        return kind(z) * 2

    for form in (f, tapeless.jit(f)):
        with pytest.raises(TypeError, match="not 'complex'"):
            form(0.3 + 0.2j)
    x = np.ones(3, kind)

    def inserted(z):
        total = 0.0
        for _ in range(3):
            total = total + np.sum(np.insert(x, 0, z))
        return total

    for g in (inserted, lambda z: np.array([z, 1.0], dtype=kind)):
        with pytest.raises(TypeError, match="not 'complex'"):
            tapeless.jit(g)(0.3 + 0.2j)
    assert tapeless.jit(lambda z: np.complex64(z) * 2)(0.3 + 0.2j).dtype == np.complex64
    assert tapeless.jit(lambda z: np.bool_(z))(0.2j)


def test_weights_of_float32():
    """NumPy adds weights up in the dtype of the result."""
    weights = np.array([0.1, 0.7, 0.9, 1.1], np.float32)
    for values in (np.arange(4), np.arange(4.0), np.arange(4.0) * 1j):
        expected = np.average(values, weights=weights)
        actual = tapeless.jit(np.average)(values, weights=weights)
        np.testing.assert_allclose(actual, expected, rtol=1e-14)
