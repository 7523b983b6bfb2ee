"""ravel_pytree."""

import numpy as np
import pytest

from tapeless import grad, jvp, ravel_pytree
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

TREE = {"w": np.arange(6.0).reshape(2, 3), "b": 7.0, "more": [np.array(8.0), None, np.zeros(0)]}


def test_there_and_back():
    vector, unravel = ravel_pytree(TREE)
    np.testing.assert_array_equal(vector, [7.0, 8.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    again = unravel(vector + 1)
    assert again["b"] == 8.0
    assert again["more"][1] is None
    assert again["more"][2].shape == (0,)
    np.testing.assert_array_equal(again["w"], TREE["w"] + 1)


def test_dtypes():
    vector, unravel = ravel_pytree([np.float32(1.5), np.arange(2, dtype=np.int32)])
    assert vector.dtype == np.float64
    first, second = unravel(vector)
    assert np.asarray(first).dtype == np.float32
    assert second.dtype == np.int32
    assert ravel_pytree([np.ones(2, np.float32)])[0].dtype == np.float32
    assert ravel_pytree([])[0].shape == (0,)


def test_in_transformed_functions():
    params = {"a": 2.0, "b": np.array([3.0, 4.0])}
    vector, unravel = ravel_pytree(params)

    def loss(params):
        return params["a"] * np.sum(params["b"] ** 2)

    np.testing.assert_allclose(grad(lambda v: loss(unravel(v)))(vector), [25.0, 12.0, 16.0])
    found = grad(lambda p: np.sum(ravel_pytree(p)[0] ** 2))(params)
    assert found["a"] == 4.0
    np.testing.assert_array_equal(found["b"], [6.0, 8.0])
    value, dot = jvp(lambda v: unravel(v)["a"] * 3, (vector,), (np.ones(3),))
    assert (value, dot) == (6.0, 3.0)


def test_errors():
    with pytest.raises(ArgumentTypeError) as e:
        ravel_pytree({"a": "text"})
    assert e.value.problem == "ravel_pytree: str 'text' is not a number or an array"
    with pytest.raises(ArgumentError) as e:
        ravel_pytree([1.0, 2.0])[1](np.ones(3))
    assert e.value.problem == "unravel: a vector of length 2 is needed, not one of shape (3,)"
    with pytest.raises(ArgumentError, match=r"not one of shape \(1, 2\)"):
        ravel_pytree([1.0, 2.0])[1](np.ones((1, 2)))
