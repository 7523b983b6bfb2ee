"""Functions of NumPy on single numbers, where Python's operators would mean something else."""

import numpy as np
import pytest

import tapeless

TESTS = (np.logical_and, np.logical_or, np.logical_xor)
REDUCTIONS = (np.sum, np.prod, np.max, np.min, np.any, np.all, np.argmax, np.argmin)


@pytest.mark.parametrize("wrap", [lambda f: f, tapeless.jit], ids=["array form", "jit"])
@pytest.mark.parametrize("test", TESTS, ids=lambda f: f.__name__)
def test_a_logical_function_of_numbers_is_a_truth_not_one_of_them(test, wrap):
    for x, y in ((2.5, 3), (3, 2.5), (0.0, 2.5), (2, 0), (0, 0.0), (np.float32(2), 7.0)):
        made = wrap(tapeless.vmap(lambda x, y: test(x, y), in_axes=None, axis_size=1))(x, y)
        assert made.dtype == bool
        assert made[0] == test(x, y)
        slope, value = tapeless.grad(wrap(lambda z, x, y: (z * test(x, y),) * 2), has_aux=True)(
            4.0, x, y
        )
        assert slope == test(x, y)
        assert value == 4.0 * test(x, y)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("f", [*REDUCTIONS, np.cumsum, np.cumprod], ids=lambda f: f.__name__)
def test_a_reduction_of_one_number_takes_an_axis(f, axis):
    def both(x):
        made = f(x, axis=axis)
        return x * np.sum(made), made

    for x in (3.0, np.array(3.0), 3.0 * np.ones(())):
        (_, made), _ = tapeless.value_and_grad(both, has_aux=True)(x)
        assert np.shape(made) == np.shape(f(x, axis=axis))
        assert made == f(x, axis=axis)


@pytest.mark.parametrize("f", [np.mean, np.std, np.median], ids=lambda f: f.__name__)
def test_those_that_take_none_in_numpy_take_none(f):
    with pytest.raises(np.exceptions.AxisError):
        f(3.0, axis=0)
    with pytest.raises(np.exceptions.AxisError):
        tapeless.grad(lambda x: f(x, axis=0))(3.0)


def test_the_spread_of_equal_numbers_has_slope_zero():
    x = np.array([2.0, np.nan, 2.0])
    assert tapeless.grad(np.nanstd)(np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert tapeless.jvp(np.nanstd, (x,), (np.array([1.0, 5.0, -1.0]),)) == (0.0, 0.0)


@pytest.mark.parametrize("f", [np.dot, np.inner, lambda a, b: a.dot(b)])
def test_a_number_in_a_product_of_arrays_is_an_array_of_double_precision(f):
    a = np.ones(2, np.float32)
    (_, made), _ = tapeless.value_and_grad(lambda x, a: (x, f(a, 2.0)), has_aux=True)(1.0, a)
    assert made.dtype == f(a, 2.0).dtype == np.float64
    assert made.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("array", "number"), [("f4", 1.0), ("f4", 1), ("i2", 1), ("i2", 1.5), ("f4", np.float64(1))]
)
def test_numbers_in_r_adapt_to_the_arrays(array, number):
    def f(x, a, b):
        made = np.r_[a, b]
        return x * np.sum(made), made

    a = np.arange(3).astype(array)
    (_, made), _ = tapeless.value_and_grad(f, has_aux=True)(1.0, a, number)
    assert made.dtype == np.r_[a, number].dtype
    assert made.tolist() == np.r_[a, number].tolist()


def test_the_mean_of_nothing_has_an_empty_gradient():
    assert tapeless.grad(lambda x: np.sum(np.mean(x, axis=1)))(np.zeros((3, 0))).shape == (3, 0)
    assert tapeless.grad(lambda x: np.mean(x**2))(np.zeros(0)).shape == (0,)
