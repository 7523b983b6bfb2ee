"""Transformations of functions of arrays on a GPU run there, and say what runs."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, lax, linearize, vjp
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, UnsupportedError

X = np.linspace(0.1, 1, 30)


def put(x):
    return tapeless.device_put(x, tapeless.devices("gpu")[0])


def powers(x, n):
    y = x
    for _ in range(n):
        y = y * np.sin(y)
    return y, np.sum(y)


def grown(x):
    while np.sum(x) < 100:
        x = x * 1.5 + 1
    return x


def total(x):
    return np.sum(np.sin(x) * x)


def recurring(x):
    return np.sum(x) if np.sum(x) > 100 else recurring(x * 1.7)


def assert_on_gpu(ours, theirs):
    assert all(map(on_gpu, tapeless.tree.leaves(ours)))
    assert_same(ours, theirs)


def assert_same(ours, theirs):
    pairs = zip(*map(tapeless.tree.leaves, (tapeless.device_get(ours), theirs)), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("length", [30, 5])
def test_vjp(length, gpu):
    x = X[:length]
    value, pull = vjp(powers, put(x), 3)
    expected, expected_pull = vjp(powers, x, 3)
    assert_on_gpu(value, expected)
    for cotangent in ((put(x), put(np.array(2.0))), (x, 2.0)):
        assert_same(pull(cotangent), expected_pull((x, 2.0)))
    assert on_gpu(pull((x, 1.0))[0])
    with pytest.raises(ArgumentError, match="the cotangent has shape"):
        pull((put(np.ones(4)), 1.0))


def test_linearize(gpu):
    value, push = linearize(powers, put(X), 3)
    expected, expected_push = linearize(powers, X, 3)
    assert_on_gpu(value, expected)
    assert_on_gpu(push(put(X), 0.0), expected_push(X, 0.0))


def test_vjp_of_a_loop_that_data_ends(gpu):
    assert_on_gpu(vjp(grown, put(X))[1](put(X)), vjp(grown, X)[1](X))


def test_vjp_with_aux_and_integers(gpu):
    def taken(x, places):
        return x[places], {"all": x * 2}

    places = np.array([1, 2, 1])
    value, pull, aux = vjp(taken, put(X), put(places), has_aux=True)
    expected, expected_pull, expected_aux = vjp(taken, X, places, has_aux=True)
    assert_on_gpu((value, aux), (expected, expected_aux))
    assert_on_gpu(pull(put(np.ones(3))), expected_pull(np.ones(3)))


def test_vjp_keeps_what_it_needs(gpu):
    x = gpu.asarray(X)
    _, pull = vjp(np.square, x)
    x[...] = 0
    assert_same(pull(gpu.ones(30)), (2 * X,))


def test_derivatives_at_a_point_in_compiled_functions(gpu):
    _, pull = vjp(powers, put(X), 3)
    _, expected = vjp(powers, X, 3)
    assert_on_gpu(jit(lambda y: pull((y, 1.0))[0])(put(X)), expected((X, 1.0))[0])


def test_vjp_of_a_recursion_is_refused(gpu):
    with pytest.raises(UnsupportedError, match=r"recursion[\s\S]*inside of a compiled function"):
        vjp(recurring, put(X))
    ours = jit(lambda x, y: vjp(recurring, x)[1](y))(put(X), 1.0)
    assert_on_gpu(ours, vjp(recurring, X)[1](1.0))


def test_both_programs_are_shown(gpu):
    _, pull = vjp(total, put(X))
    text = pull.source()
    assert "total_fwd_kernel" in text
    assert "total_bwd_kernel" in text


@pytest.mark.parametrize(
    "function",
    [jit(total), grad(total), jit(grad(total)), tapeless.hessian(total), tapeless.vmap(np.sin)],
    ids=["jit", "grad", "jit-grad", "hessian", "vmap"],
)
def test_what_ran_last_is_shown(function, gpu):
    assert "__global__" in function.source(put(X))
    for x, is_cuda in ((put(X), True), (X, False), (put(X), True)):
        function(x)
        assert ("__global__" in function.source()) is is_cuda
        assert ("__global__" in function.stages()["source"]) is is_cuda
        assert ("__global__" in function.source(x)) is is_cuda


def test_compilation_ahead_of_time(gpu):
    compiled = jit(total).lower(put(X)).compile()
    assert "__global__" in compiled.as_text()
    assert_on_gpu(compiled(put(X)), total(X))


def test_a_profile_by_lines_is_refused(gpu):
    with pytest.raises(UnsupportedError, match="kernels have no lines of Python"):
        jit(total).profile(put(X))


def test_compilations_are_told(gpu):
    function = jit(lambda x: np.sum(np.cos(x)) * 3)
    function(put(X))
    (compilation,) = function.compilations
    assert compilation.signature.startswith("sm_")


LIKE = tapeless.ShapeDtypeStruct((30,), float)


@pytest.mark.parametrize("call", [tapeless.pure_callback, tapeless.io_callback])
def test_functions_that_a_program_calls_get_arrays_of_numpy(call, gpu):
    seen = []

    def outside(x):
        seen.append(type(x))
        return np.sin(x)

    def around(x):
        return call(outside, LIKE, x * 2) + 1

    assert_on_gpu(jit(around)(put(X)), np.sin(2 * X) + 1)
    assert_on_gpu(call(outside, LIKE, put(X)), np.sin(X))
    assert seen == [np.ndarray, np.ndarray]


def test_functions_that_give_several_results_are_called(gpu):
    def around(x):
        likes = LIKE, tapeless.ShapeDtypeStruct((), float)
        a, b = tapeless.pure_callback(lambda v, n: (v * n, float(v.sum())), likes, x * 2, 3)
        return a * b

    assert_on_gpu(jit(around)(put(X)), around(X))


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lax.sin, (X,)),
        (lax.add, (X, X)),
        (lax.lgamma, (X,)),
        (lax.erf_inv, (X[:-1],)),
        (lambda x: tapeless.ravel_pytree([x, x])[0], (X,)),
        (lambda x: tapeless.ravel_pytree([x, x])[1](tapeless.ravel_pytree([x, x])[0]), (X,)),
    ],
)
def test_functions_outside_of_programs(function, args, gpu):
    assert_on_gpu(function(*map(put, args)), function(*args))


def test_shapes_of_arrays_there(gpu):
    assert tapeless.typeof(put(X)) == tapeless.typeof(X)
    assert tapeless.eval_shape(np.sin, put(X)) == tapeless.typeof(X)


class Distance:
    """A method that is compiled."""

    @jit
    def squared(self, x):
        return np.sum(x**2)


def test_what_a_method_ran_last_is_shown(gpu):
    distance = Distance()
    assert_on_gpu(distance.squared(put(X)), np.sum(X**2))
    assert "__global__" in distance.squared.source()
    assert "__global__" in distance.squared.source(put(X))
