"""Plots of functions of one number: the curves are the function and its derivatives."""

import builtins

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import tapeless


def bent(t):
    if t > 0.5:
        return np.sin(t)
    return t**3


class Model:
    def __init__(self, k):
        self.k = k

    @tapeless.jit
    def cost(self, x):
        return self.k * x**2


@pytest.fixture(autouse=True)
def _figures(monkeypatch):
    monkeypatch.setattr(mpl, "rcParams", mpl.rcParams.copy())
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def curves(axes):
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in axes.get_lines()}


@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.value_and_grad])
def test_value_and_derivatives(transform):
    if transform is tapeless.value_and_grad:
        with pytest.raises(TypeError, match="return one real number"):
            transform(bent).plot(0, 1)
        return
    drawn = curves(transform(bent).plot(0.0, 1.0, order=3, points=11))
    x = np.linspace(0.0, 1.0, 11)
    right = x > 0.5
    exact = {
        "bent": np.where(right, np.sin(x), x**3),
        "d bent / d t": np.where(right, np.cos(x), 3 * x**2),
        "d² bent / d t²": np.where(right, -np.sin(x), 6 * x),
        "d³ bent / d t³": np.where(right, -np.cos(x), 6.0),
    }
    assert list(drawn) == list(exact)
    for label, values in exact.items():
        np.testing.assert_array_equal(drawn[label][0], x)
        np.testing.assert_allclose(drawn[label][1], values, rtol=1e-12, atol=1e-15)


def test_a_derivative_is_drawn_with_its_own():
    axes = tapeless.grad(bent).plot(0, 0.4, points=2)
    assert list(curves(axes)) == ["d bent / d t", "d bent_grad / d t"]
    assert axes.get_xlabel() == "t"
    np.testing.assert_allclose(curves(axes)["d bent_grad / d t"][1], [0.0, 2.4])


def test_the_function_alone_into_axes_of_the_caller():
    axes = Figure().subplots()
    assert tapeless.jit(bent).plot(-1, 1, order=0, ax=axes) is axes
    assert list(curves(axes)) == ["bent"]
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("xs", [np.array([3, 1, 2]), [0.25, 0.75], np.geomspace(0.1, 10, 5)])
def test_numbers_of_the_caller(xs):
    drawn = curves(tapeless.jit(bent).plot(xs))
    np.testing.assert_array_equal(drawn["bent"][0], xs)
    np.testing.assert_allclose(drawn["bent"][1], [bent(float(x)) for x in xs])


def test_a_method_of_an_object():
    drawn = curves(Model(2.0).cost.plot(0, 1, points=3))
    np.testing.assert_allclose(drawn["d cost / d x"][1], [0.0, 2.0, 4.0])


def test_values_that_are_not_finite_are_gaps():
    with np.errstate(all="ignore"):
        drawn = curves(tapeless.jit(lambda x: np.log(x)).plot(-1, 1, order=0, points=3))
    np.testing.assert_array_equal(drawn["function"][1], [np.nan, -np.inf, 0.0])


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((0, 0), {}, "no interval from 0 to 0"),
        ((0, np.inf), {}, "no interval from 0 to inf"),
        ((1.0,), {}, r"no interval in array\(1\.\)"),
        ((np.array([0.0, np.nan]),), {}, "no interval in array"),
        ((np.eye(2),), {}, "no interval in array"),
        ((0, 1), {"order": -1}, "order is -1"),
        ((0, 1), {"order": 1.5}, "order is 1.5"),
        ((0, 1), {"points": 1}, "points is 1"),
        ((0, 1), {"points": True}, "points is True"),
    ],
)
def test_bad_arguments(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        tapeless.jit(bent).plot(*arguments, **options)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: np.array([x, x]), r"function returns float64\[2\]"),
        (lambda x: (x, x), "returns a tuple"),
        (lambda x: 1j * x, "returns a complex"),
        (lambda x: x > 0, "returns a bool"),
    ],
)
def test_functions_that_return_no_real_number(function, words):
    with pytest.raises(TypeError, match=words):
        tapeless.jit(function).plot(0, 1, order=0)
    assert pyplot.get_fignums() == []


def test_without_matplotlib(monkeypatch):
    def refusing(name, *args, **kwargs):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError) as met:
        tapeless.jit(bent).plot(0, 1)
    assert isinstance(met.value, tapeless.TapelessError)
    assert str(met.value) == (
        "plot needs matplotlib, which is not installed\n  pip install matplotlib"
    )
