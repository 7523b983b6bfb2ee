"""Arrays of xarray: refused by name as arguments, asked by a compiled program, never misread."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import ArgumentTypeError

pytestmark = pytest.mark.usefixtures("traced")
xr = pytest.importorskip("xarray", reason="pip install 'tapeless[test]' brings it")

ALONG_X = xr.DataArray([1.0, 2.0], dims="x")
ALONG_Y = xr.DataArray([3.0, 4.0], dims="y")
DATA = xr.Dataset({"a": ALONG_X, "b": ALONG_Y})
ARGUMENTS = {
    "floats": (ALONG_X, "DataArray", "np.asarray(x)"),
    "integers": (xr.DataArray([1, 2]), "DataArray", "np.asarray(x)"),
    "a number": (xr.DataArray(2.0), "DataArray", "np.asarray(x)"),
    "variable": (ALONG_X.variable, "Variable", "np.asarray(x)"),
    "dataset": (DATA, "Dataset", "np.asarray(x[key]) for each key of it"),
    "tree": (xr.DataTree(DATA), "DataTree", "np.asarray(x[key]) for each key of it"),
}


def total(x):
    return np.sum(x**2)


@pytest.mark.parametrize("transform", [grad, jit, vmap])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_refused_by_name(transform, name):
    x, kind, way = ARGUMENTS[name]
    with pytest.raises(ArgumentTypeError) as e:
        transform(total)(x)
    assert e.value.problem.endswith(
        f"is of type xarray.{kind}, no array of NumPy, and may change unseen"
    )
    assert e.value.hint.endswith(way.replace("x", e.value.problem.split()[0], 1))


def test_a_dataset_as_a_dict_of_arrays():
    data = {key: np.asarray(DATA[key]) for key in DATA}
    slopes = grad(lambda d: np.sum(d["a"] ** 2) + np.sum(d["b"]))(data)
    np.testing.assert_array_equal(slopes["a"], [2.0, 4.0])
    np.testing.assert_array_equal(slopes["b"], [1.0, 1.0])


BY_NAME = {
    "operators": lambda s: float(np.sum(s * ALONG_X * ALONG_Y)),
    "a ufunc": lambda s: float((np.multiply(ALONG_X, s) * ALONG_Y).sum()),
    "a method": lambda s: float((s + ALONG_X).dot(ALONG_Y).sum()),
    "of a dataset": lambda s: float((s * DATA["a"] * DATA["b"]).sum()),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_axes_are_matched_by_name_as_in_xarray(name):
    assert jit(BY_NAME[name])(2.0) == BY_NAME[name](2.0)


def test_values_are_differentiated_through():
    assert grad(lambda s: np.sum(s * ALONG_X.values))(2.0) == 3.0
    assert grad(lambda s: s * ALONG_X.isel(x=1).item())(2.0) == 2.0
