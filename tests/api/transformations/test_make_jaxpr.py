"""make_jaxpr and clear_caches."""

import numpy as np
import pytest

import tapeless
from tapeless import ShapeDtypeStruct, clear_caches, grad, jit, make_jaxpr
from tapeless.transforms.core.language import Program
from tapeless.transforms.errors import ArgumentError


def walk(x, n):
    for _ in range(n):
        x = np.sin(x)
    return x


def test_programs_are_shown():
    made = make_jaxpr(walk)(ShapeDtypeStruct((5,), np.float32), 3)
    assert isinstance(made.program, Program)
    text = str(made)
    assert text.startswith("program walk(x_2: f4[x.shape[0]], n: pyi8):")
    assert "for _ in range(0, n, 1)" in text
    assert f"# line {walk.__code__.co_firstlineno + 2}" in text
    assert str(make_jaxpr(grad(walk))(1.0, 3)).count("cos(") == 1


def test_static_arguments_and_shapes():
    made, shape = make_jaxpr(walk, static_argnums=1, return_shape=True)(np.ones(2), 0)
    assert "n" not in str(made).splitlines()[0].partition("(")[2]
    assert shape == ShapeDtypeStruct((2,), float)
    with pytest.raises(ArgumentError, match="axis_env"):
        make_jaxpr(walk, axis_env=[("i", 2)])


def test_caches_are_cleared():
    runs = []

    def f(x):
        runs.append(1)
        return x + 1

    slope = jit(f)
    staged = jit(lambda x: x * 2)
    assert staged(1.0) == 2.0
    found = staged.last
    clear_caches()
    assert staged.last is None
    assert staged(1.0) == 2.0
    assert staged.last is not found
    assert slope(1.0) == 2.0
    assert tapeless.grad(lambda x: x * x)(3.0) == 6.0


def test_the_cache_of_one_function_is_cleared():
    f, g = jit(lambda x: x * 2.0), jit(lambda x: x + 1.0)
    for _ in range(3):
        assert (f(1.0), g(1.0)) == (2.0, 2.0)
    before = f.pick((1.0,), {}), g.pick((1.0,), {})
    f.clear_cache()
    assert f(1.0) == 2.0
    assert f.pick((1.0,), {}) is not before[0]
    assert g.pick((1.0,), {}) is before[1]
