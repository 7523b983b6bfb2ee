"""Python functions that are called when a program runs, inside all transformations."""

import threading

import numpy as np
import pytest

import tapeless
from tapeless import (
    ShapeDtypeStruct,
    grad,
    io_callback,
    jit,
    jvp,
    pmap,
    pure_callback,
    stop_gradient,
    vjp,
    vmap,
)
from tapeless.transforms.errors import (
    ArgumentError,
    NotDifferentiableError,
    ShapeError,
    StructureError,
    UnsupportedError,
)

FLOAT = ShapeDtypeStruct((), float)
WAYS = {"plain": lambda f: f, "jit": jit, "vmap": lambda f: lambda x: vmap(f)(x[None])[0]}


def outside_sine(x):
    """NumPy code that is called, not staged."""
    assert isinstance(x, (float, np.ndarray))
    return np.sin(x)


@tapeless.custom_vjp
def sine(x):
    return pure_callback(outside_sine, x, x, vmap_method="expand_dims")


sine.defvjp(lambda x: (sine(x), x), lambda x, ct: (ct * pure_callback(np.cos, x, x),))


@pytest.mark.parametrize("way", WAYS)
def test_a_callback_gives_values(way):
    x = np.linspace(0.0, 1.0, 5)
    made = WAYS[way](lambda x: 2 * pure_callback(outside_sine, x, x) + x)(x)
    np.testing.assert_allclose(made, 2 * np.sin(x) + x, rtol=1e-15)


def test_results_are_trees():
    def both(pair, *, scale):
        return {"sum": pair[0] + pair[1], "rows": (scale * pair[1], len(pair[1]))}

    @jit
    def f(x):
        like = {"sum": x, "rows": (x, ShapeDtypeStruct((), int))}
        made = pure_callback(both, like, (x, x + 1), scale=3.0)
        return made["sum"] * made["rows"][1] + made["rows"][0]

    for x in (np.arange(3.0), np.arange(5.0)):  # one program
        np.testing.assert_array_equal(f(x), (2 * x + 1) * len(x) + 3 * (x + 1))
    assert "shape=(" in f.source()


def test_what_is_passed_on_as_it_is():
    def named(x, name, table):
        return table[name] * x

    f = jit(lambda x: pure_callback(named, x, x, "b", {"a": 1.0, "b": 4.0}))
    assert f(2.0) == 8.0


@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_go_through_rules_that_call(compiled, rng):
    x = rng.standard_normal(4)

    def loss(x):
        for _ in range(3):
            x = 1.5 * sine(x)
        return np.sum(x)

    def reference(x):
        for _ in range(3):
            x = 1.5 * np.sin(x)
        return np.sum(x)

    slope = jit(grad(loss)) if compiled else grad(loss)
    np.testing.assert_allclose(slope(x), grad(reference)(x), rtol=1e-14)
    value, pull = vjp(sine, x)
    np.testing.assert_array_equal(value, np.sin(x))
    np.testing.assert_array_equal(pull(np.ones(4))[0], np.cos(x))
    np.testing.assert_array_equal(vmap(grad(sine))(x), np.cos(x))


def test_derivatives_that_call_are_called_in_transformed_functions():
    x = np.linspace(0.0, 1.0, 3)
    _, pull = vjp(sine, x)
    np.testing.assert_array_equal(jit(lambda ct: 2 * pull(ct)[0])(np.ones(3)), 2 * np.cos(x))


def test_functions_that_the_transformed_function_makes():
    scale = 10.0

    @jit
    def f(x, n):
        factor, steps = 3.0, [1.0, 2.0]

        def inner(v):
            return v * factor + scale

        for _ in range(n):
            x = pure_callback(lambda v: inner(v) - steps[1], FLOAT, x)
        return x

    assert f(1.0, 2) == (1.0 * 3 + 10 - 2) * 3 + 10 - 2


def test_several_functions_on_a_line():
    @jit
    def f(x):
        p, q, r = (lambda v: v + 1.0), (lambda v: v * 10.0), (lambda v: 5.0)
        return [pure_callback(g, FLOAT, x) for g in (p, q, r)]

    assert f(2.0) == [3.0, 20.0, 5.0]


def test_a_loop_calls_one_function():
    f = jit(lambda x, n: [x := pure_callback(lambda v: v + 1, FLOAT, x) for _ in range(n)][-1])
    assert f(1.0, 5) == 6.0

    def rolled(x, n):
        for _ in range(n):
            x = pure_callback(lambda v: v + 1, FLOAT, x)
        return x

    g = jit(rolled)
    assert g(1.0, 5) == 6.0
    assert "def rolled(x, n, function):" in g.source()


def test_callbacks_see_copies():
    seen = []

    def overwrite(x):
        for _ in range(3):
            x += 1
            io_callback(seen.append, None, x)
        return x

    jit(overwrite)(np.zeros(2))
    np.testing.assert_array_equal(seen, [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_callbacks_cannot_change_the_program():
    def spoil(x):
        made = x
        x[:] = 7.0
        return made

    f = jit(lambda x: pure_callback(spoil, x, x) + x)
    np.testing.assert_array_equal(f(np.ones(2)), [8.0, 8.0])


# -- vmap


def shapes_of(method):
    seen = []

    def add(x, y):
        seen.append((np.shape(x), np.shape(y)))
        return x + y

    def f(x, y):
        return pure_callback(add, FLOAT, x, y, vmap_method=method)

    made = vmap(f, in_axes=(0, None))(np.arange(4.0), 1.0)
    np.testing.assert_array_equal(made, [1.0, 2.0, 3.0, 4.0])
    return seen


@pytest.mark.parametrize(
    ("method", "seen"),
    [
        (None, [((), ())] * 4),
        ("sequential", [((), ())] * 4),
        ("sequential_unrolled", [((), ())] * 4),
        ("expand_dims", [((4,), (1,))]),
        ("broadcast_all", [((4,), (4,))]),
    ],
)
def test_methods_of_vmap(method, seen):
    assert shapes_of(method) == seen


def test_axes_and_nesting():
    def f(x, y):
        return pure_callback(np.multiply, x, x, y, vmap_method="expand_dims")

    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(6.0).reshape(2, 3)
    made = vmap(vmap(f, in_axes=(1, None), out_axes=1), in_axes=(0, 0))(x, np.ones((2, 3)))
    np.testing.assert_array_equal(made, x)

    def g(x, y):
        return pure_callback(lambda a, b: a.sum(-1) * b, FLOAT, x, y, vmap_method="broadcast_all")

    made = vmap(vmap(g))(x, y)
    np.testing.assert_array_equal(made, x.sum(-1) * y)


def test_only_the_elements_that_get_there_call():
    seen = []

    def f(x):
        y = 0.0
        if x > 0:
            y = io_callback(lambda v: (seen.append(float(v)), v)[1], FLOAT, x)
        return y

    np.testing.assert_array_equal(vmap(f)(np.array([1.0, -1.0, 2.0])), [1.0, 0.0, 2.0])
    assert seen == [1.0, 2.0]
    with pytest.raises(UnsupportedError, match="depends on the elements of two batches"):
        vmap(vmap(f))(np.ones((2, 2)))


def test_loops_that_end_by_what_callbacks_give():
    def f(x):
        while x < 100:
            x = pure_callback(lambda v: v * 2, FLOAT, x)
        return x

    np.testing.assert_array_equal(vmap(f)(np.array([1.0, 3.0, 200.0])), [128.0, 192.0, 200.0])


def test_shards_call_in_their_threads():
    threads = set()

    def note(x):
        threads.add(threading.get_ident())
        return np.sin(x)

    device = tapeless.devices()[0]
    shards = pmap(lambda x: pure_callback(note, x, x), devices=[device, device])
    np.testing.assert_array_equal(shards(np.arange(4.0)), np.sin(np.arange(4.0)))
    assert len(threads) == 2


# -- io_callback


@pytest.mark.parametrize("transform", [jit, grad, lambda f: jit(grad(f))])
def test_each_call_is_made_once_and_in_order(transform):
    seen = []

    def f(x):
        io_callback(seen.append, None, x, ordered=True)
        y = x * x
        held = stop_gradient(y)
        io_callback(lambda v: (seen.append(v), v)[1], FLOAT, held)
        io_callback(lambda v: (seen.append(v), v)[1], FLOAT, held)
        return y

    transform(f)(3.0)
    assert seen == [3.0, 9.0, 9.0]


def test_outside_of_transformations_they_call():
    assert pure_callback(lambda v: v + 1, FLOAT, 1.0) == 2.0
    assert io_callback(lambda v: None, None, 1.0) is None
    made = pure_callback(lambda v: (v, v.sum()), (np.ones(2), FLOAT), np.ones(2))
    np.testing.assert_array_equal(made[0], np.ones(2))
    assert made[1] == 2.0


# -- what is refused


@pytest.mark.parametrize(
    ("gives", "error", "message"),
    [
        (lambda v: np.zeros(3), ShapeError, r"returned an array of shape \(3,\), where .* \(\)"),
        (lambda v: np.float32(v), StructureError, "returned float32, where .* says float64"),
        (lambda v: (v, v), StructureError, r"returned \(\*, \*\), where .* says \*"),
        (lambda v: 1j, StructureError, "returned complex128"),
    ],
)
@pytest.mark.parametrize("way", [jit, lambda f: f])
def test_results_other_than_declared(gives, error, message, way):
    with pytest.raises(error, match=message):
        way(lambda x: pure_callback(gives, FLOAT, x))(1.0)


def test_no_derivative_without_a_rule():
    f = lambda x: pure_callback(np.sin, FLOAT, x)  # noqa: E731
    for derivative in (lambda: grad(f)(1.0), lambda: jvp(f, (1.0,), (1.0,))):
        with pytest.raises(NotDifferentiableError) as e:
            derivative()
        assert e.value.problem == "sin is called from outside the program, and has no derivative"
        assert "custom_jvp" in e.value.hint
    assert grad(lambda x: x * f(stop_gradient(x)))(2.0) == np.sin(2.0)


def test_functions_that_hold_values_of_the_program():
    def f(x):
        y = x + 1
        return pure_callback(lambda v: v + y, FLOAT, x)

    with pytest.raises(UnsupportedError) as e:
        jit(f)(1.0)
    assert "reads 'y', which is known only there" in e.value.problem
    assert e.value.hint == "pass y as an argument of the call"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: pure_callback(np.sin, 1.0, x, vmap_method="all"), "vmap_method is 'all'"),
        (lambda x: pure_callback(np.sin, 1.0, x, sharding="cpu"), "sharding is 'cpu'"),
        (lambda x: pure_callback(np.sin, ("float",), x), "result_shape_dtypes has str 'float'"),
        (lambda x: pure_callback(3, FLOAT, x), "pure_callback needs a function"),
    ],
)
@pytest.mark.parametrize("way", [jit, lambda f: f])
def test_bad_arguments(call, message, way):
    with pytest.raises(ArgumentError, match=message):
        way(call)(1.0)


def test_errors_of_the_function_are_its_own():
    def fail(x):
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        jit(lambda x: pure_callback(fail, FLOAT, x))(1.0)
