"""linear_transpose, closure_convert, custom_gradient, fwd_and_bwd."""

import numpy as np
import pytest

from tapeless import (
    ShapeDtypeStruct,
    closure_convert,
    custom_gradient,
    custom_vjp,
    fwd_and_bwd,
    grad,
    jit,
    linear_transpose,
    vmap,
)
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def test_transposes(rng):
    a = rng.standard_normal((3, 4))
    y = rng.standard_normal(3)
    like = ShapeDtypeStruct((4,), float)
    np.testing.assert_allclose(linear_transpose(lambda x: a @ x, like)(y)[0], a.T @ y, rtol=1e-14)
    cumulated = linear_transpose(np.cumsum, np.ones(4))
    np.testing.assert_allclose(cumulated(np.arange(4.0))[0], np.arange(4.0)[::-1].cumsum()[::-1])


def test_transposes_in_functions_that_are_transformed():
    """The arguments are shapes only, also where lengths are known when the program runs."""

    def back(a, y):
        like = {"x": ShapeDtypeStruct(y.shape, y.dtype), "k": y, "b": 1.0}
        made = linear_transpose(lambda p: a @ p["x"] + a.T @ p["k"] + p["b"], like)(y)[0]
        return made["x"] + made["k"] * made["b"]

    a, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -2.0])
    want = a.T @ y + a @ y * y.sum()
    np.testing.assert_allclose(back(a, y), want)
    np.testing.assert_allclose(jit(back)(a, y), want)
    np.testing.assert_allclose(vmap(back)(np.stack([a, a]), np.stack([y, y])), [want, want])
    np.testing.assert_allclose(
        grad(lambda y: np.sum(back(a, y)))(y),
        a.sum(axis=1) + y.sum() * a.sum(axis=0) + np.sum(a @ y),
    )


def test_transposes_of_several_arguments_and_results():
    def f(x, y):
        return {"sum": x + 2 * y, "twice": 2 * x}

    bars = linear_transpose(f, 1.0, np.float32(1.0))({"sum": 3.0, "twice": 5.0})
    assert bars == (13.0, 6.0)


def test_transposes_inside_transformations():
    def f(x):
        return linear_transpose(lambda v: 3.0 * v, 1.0)(x)[0] ** 2

    assert grad(f)(2.0) == 36.0


@pytest.mark.parametrize(
    ("f", "why"), [(lambda x: x + 1, "is not 0 at 0"), (lambda x: x * x, "another derivative")]
)
def test_functions_that_are_not_linear(f, why):
    with pytest.raises(ArgumentError, match=why):
        linear_transpose(f, 1.0)(1.0)


def test_what_cannot_be_transposed():
    with pytest.raises(ArgumentTypeError, match="str is no array"):
        linear_transpose(lambda x: x, "x")
    with pytest.raises(ArgumentError, match="reduce_axes"):
        linear_transpose(lambda x: x, 1.0, reduce_axes=("i",))


# -- closure_convert


def minimum_along(objective, x):
    """The derivative goes through what `objective` reads: the use that closure_convert is for."""
    converted, values = closure_convert(objective, x)
    return scaled(converted, x, *values)


def call(fun, x, *values):
    return fun(x, *values)


scaled = custom_vjp(call, nondiff_argnums=(0,))
scaled.defvjp(
    lambda fun, x, *values: (fun(x, *values), (x, values)),
    lambda fun, saved, ct: (10 * ct, *(0 * v + 7 * ct for v in saved[1])),
)


def test_what_a_function_reads_becomes_arguments():
    def f(x, w):
        scale = w * 2
        return minimum_along(lambda v: v * v * scale, x)

    value = f(3.0, 2.0)
    assert value == 36.0
    assert jit(f)(3.0, 2.0) == 36.0
    assert grad(f, argnums=(0, 1))(3.0, 2.0) == (10.0, 14.0)
    np.testing.assert_array_equal(vmap(grad(f, argnums=1))(np.ones(2), np.ones(2)), [14.0, 14.0])


def test_outside_there_is_nothing_to_convert():
    w = np.ones(2)
    converted, values = closure_convert(lambda v: v * w, w)
    assert values == []
    np.testing.assert_array_equal(converted(w), w)


def test_trees_and_constants_pass_through():
    def f(x):
        converted, values = closure_convert(lambda p: {"y": p["a"] * x, "n": 3}, {"a": 1.0})
        made = converted({"a": 5.0}, *values)
        return made["y"] * made["n"]

    assert grad(f)(2.0) == 15.0


# -- custom_gradient


def test_custom_gradient_of_several_arguments():
    @custom_gradient
    def f(x, y):
        product = x * y
        return product, lambda ct: (ct * (y + 1), ct * product)

    assert f(3.0, 2.0) == 6.0
    assert grad(f, argnums=(0, 1))(3.0, 2.0) == (3.0, 6.0)
    assert jit(grad(f))(3.0, 2.0) == 3.0
    np.testing.assert_array_equal(vmap(grad(f))(np.ones(2), np.arange(2.0)), [1.0, 2.0])


def test_derivatives_of_custom_gradients():
    @custom_gradient
    def f(x):
        return x**2, lambda ct: ct * x**3

    assert grad(grad(f))(2.0) == 12.0


# -- fwd_and_bwd


def test_both_halves():
    fwd, bwd = fwd_and_bwd(lambda x, y: (x * y, x), argnums=0, has_aux=True)
    value, residuals, aux = fwd(2.0, 3.0)
    assert (value, aux, bwd(residuals, 1.0)) == (6.0, 2.0, 3.0)
    fwd, bwd = fwd_and_bwd(lambda x, y: x * y, argnums=(1, 0))
    value, residuals = fwd(2.0, 3.0)
    assert bwd(residuals, 1.0) == (2.0, 3.0)
