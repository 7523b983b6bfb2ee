"""Shapes and dtypes without values."""

import dataclasses

import numpy as np
import pytest

from tapeless import ShapeDtypeStruct, eval_shape, grad, jit, tree, typeof, vmap
from tapeless.transforms.errors import ArgumentTypeError, NeedStaticError


@dataclasses.dataclass
class Pair:
    first: object
    second: object


def test_a_struct():
    s = ShapeDtypeStruct((2, 3), np.float32)
    assert (s.shape, s.dtype, s.ndim, s.size, len(s)) == ((2, 3), np.float32, 2, 6, 2)
    assert s == ShapeDtypeStruct([2, 3], "float32")
    assert hash(s) == hash(ShapeDtypeStruct((2, 3), "f4"))
    assert s != ShapeDtypeStruct((2, 3), float)
    assert s.update(shape=(1,)) == ShapeDtypeStruct((1,), np.float32)
    assert repr(s) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"


@pytest.mark.parametrize(
    ("args", "kwargs"), [((3, float), {}), (((3,), None), {}), (((3,), float), {"sharding": "x"})]
)
def test_what_is_no_struct(args, kwargs):
    with pytest.raises(ArgumentTypeError):
        ShapeDtypeStruct(*args, **kwargs)


FUNCTIONS = {
    "elementwise": lambda x, y: np.sin(x) + y,
    "product": lambda x, y: x @ y.T,
    "tree": lambda x, y: {"a": (x[1:], y.sum()), "b": [x > 0, len(x)]},
    "dataclass": lambda x, y: Pair(x.mean(axis=0), y.reshape(-1)),
    "joined": lambda x, y: np.concatenate([x, y, y]),
    "gradient": lambda x, y: grad(lambda x: np.sum(x * y))(x),
    "batch": lambda x, y: vmap(lambda x: np.outer(x, x))(x),
    "compiled": jit(lambda x, y: x * 2 + y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_are_those_of_the_values(name):
    f = FUNCTIONS[name]
    x, y = np.ones((4, 3), np.float32), np.ones((4, 3))
    struct = ShapeDtypeStruct((4, 3), np.float32), ShapeDtypeStruct((4, 3), float)
    shapes = tree.leaves(eval_shape(f, *struct))
    values = tree.leaves(f(x, y))
    assert [(s.shape, s.dtype) for s in shapes] == [
        (np.shape(v), np.asarray(v).dtype) for v in values
    ]


def test_nothing_is_computed():
    huge = ShapeDtypeStruct((10**6, 10**6), float)
    assert eval_shape(lambda x: x @ x, huge) == huge


def test_trees_numbers_and_keywords():
    made = eval_shape(
        lambda p, n, *, scale: p["w"][:n] * scale, {"w": np.ones(5)}, 2, scale=np.float32(1)
    )
    assert made == ShapeDtypeStruct((2,), float)


def test_arrays_from_outside():
    w = np.ones((7, 2))
    assert eval_shape(lambda x: w @ x, ShapeDtypeStruct((2,), float)).shape == (7,)


def test_shapes_that_depend_on_values():
    with pytest.raises(NeedStaticError, match="depends on what arrays contain"):
        eval_shape(lambda x: x[x > 0], ShapeDtypeStruct((3,), float))


def test_typeof():
    assert typeof(np.ones((2, 1), np.int32)) == ShapeDtypeStruct((2, 1), np.int32)
    assert typeof(True).dtype == bool
    with pytest.raises(ArgumentTypeError, match="str is no array"):
        typeof("x")


def total_by_shape(x):
    like = eval_shape(lambda y: {"row": y.sum(axis=0), "square": y @ y.T}, x)
    return np.sum(np.zeros(like["square"].shape) + x[0, 0] ** 2) + like["row"].shape[0]


def test_shapes_inside_functions_that_are_transformed():
    x = np.array([[3.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    assert total_by_shape(x) == jit(total_by_shape)(x) == 39.0
    np.testing.assert_array_equal(grad(total_by_shape)(x), [[24.0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(vmap(total_by_shape)(np.stack([x, -x])), [39.0, 39.0])


def test_what_shapes_are_found_of_is_not_run():
    def erased(x):
        x[:] = 0.0
        return x

    def f(x):
        assert eval_shape(erased, ShapeDtypeStruct(x.shape, x.dtype)) is not None
        for _ in range(3):
            assert eval_shape(erased, x).ndim == 1
            x = x * 2
        return x

    np.testing.assert_array_equal(jit(f)(np.ones(4)), np.full(4, 8.0))
    np.testing.assert_array_equal(eval_shape(erased, np.ones(3)).shape, [3])


def test_shapes_that_depend_on_data_inside():
    with pytest.raises(TypeError, match="depends on what arrays contain"):
        jit(lambda x: x * eval_shape(lambda y: y[y > 0], x).shape[0])(np.ones(3))
    assert jit(lambda x: eval_shape(lambda y: y * 2, x[x > 0]).shape[0])(np.arange(3.0)) == 2
