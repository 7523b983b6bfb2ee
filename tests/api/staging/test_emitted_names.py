"""Names of functions, arguments and leaves."""

import ast
import functools
import re
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from tapeless import checkpoint, custom_jvp, grad, jit, transforms, vjp, vmap
from tapeless.staging.emitted_names import (
    argument_names,
    base_name,
    global_name,
    leaf_names,
    leaf_paths,
    place,
)
from tapeless.transforms.core.user_names import CALLED
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


def helpers():
    """The names of functions that stand as text in our modules, to be emitted."""
    for path in (Path(transforms.__file__).parent).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            text = getattr(node, "value", None)
            if isinstance(text, str) and text.lstrip().startswith(("def ", "@njit")):
                yield from re.findall(r"^def (\w+)\(", text, re.MULTILINE)


def test_names_of_helpers_are_not_given_to_functions_of_the_user():
    found = set(helpers())
    assert "in_parallel" in found
    assert found <= CALLED


def matmul(a, b):
    c = np.zeros((len(a), len(b)))
    for i in range(len(a)):
        c[i] = a[i] - b
    return c


def test_functions_may_be_called_as_ours():
    a, b = np.arange(3.0), np.arange(4.0)
    np.testing.assert_array_equal(jit(matmul)(a, b), matmul(a, b))
    assert "def matmul_(a, b)" in jit(matmul).source(a, b)


def copied(x, zeros, full):
    y = x.copy()
    y[0] = zeros[1]
    copied = np.zeros(len(x))
    copied[2:] = full[2:]
    return np.sort(y), np.sort(copied), np.sort(np.full(len(x), 2.5) - zeros)


def test_names_of_arrays_that_drivers_make():
    x = np.random.default_rng(0).normal(size=(3, 5))
    for a, b in zip(jit(copied)(*x), copied(*x), strict=True):
        np.testing.assert_array_equal(a, b)


def test_keys_may_be_words_of_python():
    def f(p, **options):
        return np.sum(np.tanh(p["in"] @ p["class"])) * p["lambda"] * options["is"]

    p = {"in": np.ones((2, 2)), "class": np.full((2, 2), 0.3), "lambda": 2.0}
    slopes = grad(f)(p, **{"is": 3.0})
    assert slopes["lambda"] == pytest.approx(3 * 4 * np.tanh(0.6))
    assert jit(f)(p, **{"is": 3.0}) == pytest.approx(f(p, **{"is": 3.0}))
    axes = ({"in": 0, "class": None, "lambda": None},)
    many = vmap(lambda p: f(p, **{"is": 3.0}), axes)({**p, "in": np.ones((4, 2, 2))})
    np.testing.assert_allclose(many, np.full(4, f(p, **{"is": 3.0})))


# -- parameters that are called like a function of the module


def shrinking(x):  # to a depth that depends on x: a function of the module
    return x if x < 0.2 else np.sin(x) + shrinking(x / 2) * x


ROWS = types.SimpleNamespace(shrinking=shrinking)
row_order = np.array([1.0, 2.0])


def of_a_function(shrinking, y):
    return ROWS.shrinking(y) * shrinking


def of_a_helper(row_order, b):
    return np.sum(scipy.linalg.lu_solve(scipy.linalg.lu_factor(row_order), b))


def from_outside(a, b):
    return np.sum(scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b * row_order))


def of_forward_and_backward(shrinking_fwd, shrinking_bwd):
    return ROWS.shrinking(shrinking_bwd) * shrinking_fwd


MATRIX = np.array([[0.2, 0.1], [1.5, 0.2]])


@pytest.mark.parametrize(
    ("f", "args", "slope"),
    [
        (of_a_function, (2.0, 1.0), shrinking(1.0)),
        (of_forward_and_backward, (2.0, 1.0), shrinking(1.0)),
        (of_a_helper, (MATRIX, np.array([1.0, 2.0])), None),
        (from_outside, (MATRIX, np.array([1.0, 1.0])), None),
    ],
)
def test_no_parameter_hides_a_function_of_the_module(f, args, slope):
    if slope is None:  # of the sum of a^-1 b by a
        slope = -np.outer(np.linalg.solve(MATRIX.T, np.ones(2)), np.linalg.solve(MATRIX, row_order))
    for value in (grad(f)(*args), jit(grad(f))(*args), vjp(f, *args)[1](1.0)[0]):
        np.testing.assert_allclose(value, slope, rtol=1e-12, atol=1e-12)
