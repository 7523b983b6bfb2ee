"""Constants of NumPy's types decide dtypes in emitted code as they do in the user's."""

import numpy as np
import pytest

import tapeless

WIDE = np.float64(3.0)
INDEX = np.int64(2)


FUNCTIONS = {
    "from outside": lambda x: WIDE * x,
    "made inside": lambda x: x + np.pi * np.sqrt(2.0),
    "selected": lambda x: np.where(x > 0, x, np.float64(0.1)),
    "compared": lambda x: np.where(x > np.float64(0.1), x, x),
    "of integers": lambda x: (x + INDEX) * np.int64(3),
    "summed": lambda x: np.sum(WIDE * x),
    "complex": lambda x: x * np.complex128(2j),
    "of Python": lambda x: 2.0 * x + 1,
}


@pytest.mark.parametrize("what", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "c8"])
def test_dtypes_and_values_are_those_of_numpy(what, dtype):
    f = FUNCTIONS[what]
    if what in ("compared", "selected") and dtype == "c8":
        f = FUNCTIONS["made inside"]  # complex numbers have no order
    for x in (np.array([0.1, 3.0, -1.0]).astype(dtype), np.array(0.1).astype(dtype)[()]):
        found, expected = tapeless.vmap(f, in_axes=None, axis_size=1)(x)[0], f(x)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_the_derivative_keeps_the_dtype_of_the_argument():
    value, slope = tapeless.value_and_grad(lambda x: np.sum(WIDE * x))(np.ones(2, "f4"))
    assert (value.dtype, slope.dtype) == (np.dtype("f8"), np.dtype("f4"))


def test_a_dtype_is_written_only_where_it_decides():
    wide = tapeless.grad(lambda x: np.sum((WIDE * x) ** 3))
    assert "float64" not in wide.source(np.ones(2))
    assert "np.float64(3.0) * x" in wide.source(np.ones(2, "f4"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "c8"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, s: (WIDE * s) * x,
        lambda x, s: ((1 - WIDE * s) / 2 + s) * x,
        lambda x, s: x * -(s - INDEX * 2),
        lambda x, s: x * (s * s),
        lambda x, s: np.where(x.real > 0, WIDE * s, x),
    ],
)
def test_what_is_computed_of_constants_and_python_scalars_has_their_dtype(f, dtype):
    x = np.array([0.1, 3.0, -1.0]).astype(dtype)
    for s in (0.7, 2):
        found, expected = tapeless.vmap(f, in_axes=(None, None), axis_size=1)(x, s)[0], f(x, s)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    source = tapeless.vmap(f, in_axes=(None, None), axis_size=1).source(np.ones(2), 0.7)
    assert "float64" not in source


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.mean, np.max, np.median, np.ptp])
@pytest.mark.parametrize("number", [3.0, 3])
def test_reductions_of_python_numbers_are_numbers_of_numpy(reduce, number):
    def f(x):
        return reduce(x) * np.ones(2, "f4")

    assert f(number).dtype == np.dtype("f8")
    for found in (tapeless.jit(f)(number), tapeless.vmap(f)(np.ones(1, type(number)))[0]):
        assert found.dtype == np.dtype("f8")
