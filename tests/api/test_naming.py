"""Names of functions, arguments and leaves."""

import functools

import numpy as np
import pytest

from tapeless import checkpoint, custom_jvp, grad
from tapeless.naming import argument_names, base_name, global_name, leaf_names, leaf_paths, place
from tests.api import importable
from tests.api.importable import Spring, square


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (square, "square"),
        (lambda x: x, "function"),
        (functools.partial(functools.partial(square)), "square"),
        (Spring(1.0), "spring"),
        (Spring(1.0).energy, "energy"),
        (grad(square), "square_grad"),
        (grad(grad(square)), "square_grad_grad"),
        (checkpoint(square), "square"),
        (custom_jvp(lambda x: x), "function"),
        (functools.lru_cache(square), "square"),
        (np.sin, "sin"),
    ],
)
def test_base_name(function, name):
    assert base_name(function) == name


@pytest.mark.parametrize(
    "function",
    [square, functools.partial(square), grad(square), checkpoint(square), grad(checkpoint(square))],
)
def test_place(function):
    assert place(function) == (importable.__file__, square.__code__.co_firstlineno)


def test_place_of_what_users_did_not_write():
    assert place(np.sin) is None
    assert place(np.sum) is None
    assert place(Spring(1.0)) == (importable.__file__, Spring.__call__.__code__.co_firstlineno)


def test_global_name():
    assert global_name(importable.square_slope) == "square_slope"
    assert global_name(Spring.pull) == "Spring.pull"
    assert global_name(grad(square)) == ""
    assert global_name(object()) == ""


def general(x, *rest, scale=1.0, **more):
    return x


def test_argument_names():
    assert argument_names(general, (1, 2, 3), {"scale": 4, "z": 5}) == [
        "x",
        "rest0",
        "rest1",
        "scale",
        "z",
    ]
    assert argument_names(general, (1,), {"x": 2}) == ["x", "x_"]


def test_leaf_paths_are_expressions_in_the_order_of_the_leaves():
    args, kwargs = ({"b": 1, "a": [2, (3,)]},), {"z": 4, "k": (5, 6)}
    names = argument_names(general, args, kwargs)
    paths = leaf_paths(args, kwargs, names)
    assert paths == ["x['a'][0]", "x['a'][1][0]", "x['b']", "k[0]", "k[1]", "z"]
    values = {"x": args[0], **kwargs}
    assert [eval(p, values) for p in paths] == [2, 3, 1, 5, 6, 4]
    assert leaf_names(args, kwargs, names) == ["x0", "x1", "x2", "k0", "k1", "z"]
