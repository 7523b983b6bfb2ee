"""Which calls return before they are done, and that they give what others give."""

import contextvars
import dataclasses
import threading
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, io_callback, jit, pure_callback, vmap
from tapeless.dispatch.asynchronous import worker
from tapeless.staging.jax_arrays import Array
from tapeless.transforms.errors import ArgumentError
from tests.api.dispatch.asynchronous.gate import SQUARE, N, is_pending, matrix, want

Pair = namedtuple("Pair", "first second")


@pytest.fixture(scope="module")
def second():
    """A large program, for which nothing is staged any more."""
    program = jit(lambda x: x @ x + 1.0)
    for _ in range(2):
        program(matrix()).block_until_ready()
    return program


def test_a_call_returns_before_it_is_done(gate):
    x = matrix()
    y = gate.program(x)
    assert not y.is_ready()
    assert (y.shape, y.dtype, y.ndim, y.size, len(y)) == ((N, N), np.float64, 2, N * N, N)
    assert isinstance(y, tapeless.Array)
    assert isinstance(y, np.ndarray)
    assert not y.is_ready()
    gate.open_soon()
    assert y.block_until_ready() is y
    assert y.is_ready()
    np.testing.assert_array_equal(y, want(x))
    assert gate.threads == ["tapeless-calls"]


def test_results_are_passed_on_without_waiting(gate, second):
    x = matrix()
    y = gate.program(x)
    z = second(second(y))
    assert not z.is_ready()
    assert not y.is_ready()
    gate.open_soon()
    np.testing.assert_array_equal(z, want(want(want(x))))


def test_tree_functions_pass_pending_arrays_on(gate, second):
    results = tapeless.tree.map(gate.program, {"a": matrix(), "b": (matrix(1),)})
    assert not any(x.is_ready() for x in tapeless.tree.leaves(results))
    gate.open_soon()
    results = tapeless.block_until_ready(results)
    assert all(x.is_ready() for x in tapeless.tree.leaves(results))
    np.testing.assert_array_equal(results["b"][0], want(matrix(1)))


# -- what is written to afterwards


def test_arguments_may_be_overwritten_after_the_call(gate):
    memory = np.array(matrix())
    x, view = jnp.asarray(memory), memory[:]
    right = want(memory)
    y = gate.program(x)
    memory[:100] = 0
    view[100:200] = 0
    x[200:] = 0
    gate.open_soon()
    np.testing.assert_array_equal(y, right)


def test_what_is_read_from_outside_may_be_overwritten_after_the_call(gate):
    weights = np.ones((N, N))
    program = jit(lambda x: (pure_callback(gate.pass_on, SQUARE, x) + weights) @ x)
    gate.open()
    x = matrix()
    right = np.array(program(x))
    gate.close()
    y = program(x)
    assert not y.is_ready()
    weights[...] = 5
    gate.open_soon()
    np.testing.assert_array_equal(y, right)
    np.testing.assert_array_equal(program(x), (np.asarray(x) + 5) @ np.asarray(x))


def test_containers_may_be_changed_after_the_call(gate):
    program = jit(lambda d: pure_callback(gate.pass_on, SQUARE, d["x"][0]) @ d["x"][0])
    gate.open()
    x = matrix()
    program({"x": [x]}).block_until_ready()
    gate.close()
    arguments = {"x": [x]}
    y = program(arguments)
    arguments["x"][0] = None
    gate.open_soon()
    np.testing.assert_array_equal(y, np.asarray(x) @ np.asarray(x))


WRITES = {
    "element": lambda y: y.__setitem__((0, 0), 7.0),
    "asarray": lambda y: np.asarray(y).fill(7.0),
    "view": lambda y: y[1:].fill(7.0),
    "transpose": lambda y: y.T.fill(7.0),
    "ravel": lambda y: np.ravel(y).fill(7.0),
    "rows": lambda y: [row.fill(7.0) for row in y],
    "out": lambda y: np.add(1.0, 2.0, out=y),
    "copyto": lambda y: np.copyto(y, 7.0),
    "dlpack": lambda y: np.from_dlpack(y).fill(7.0),
    "view of a class": lambda y: y.view(np.ndarray).fill(7.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_who_writes_to_a_result_waits_for_the_calls_that_read_it(gate, second, write):
    x = matrix()
    gate.open()
    y = second(x)
    gate.close()
    blocked = gate.program(matrix(1))
    z = second(y)  # is done after the call that waits
    gate.open_soon()
    write(y)
    assert blocked.is_ready()
    np.testing.assert_array_equal(z, want(want(x)))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_who_has_seen_the_memory_writes_to_it_without_harm(gate, second, write):
    x = matrix()
    y = second(x)
    memory = np.asarray(y)
    blocked = gate.program(matrix(1))
    z = second(y)
    memory[...] = 3.0
    write(y)
    assert not blocked.is_ready()
    gate.open_soon()
    np.testing.assert_array_equal(z, want(want(x)))


def test_donated_arrays_are_gone(gate):
    step = jit(lambda x: (x @ x + 1.0) * 2.0 + x, donate_argnums=0)
    for _ in range(2):
        step(jnp.array(matrix())).block_until_ready()
    x = matrix()
    y = step(jnp.array(x))
    z = step(y)
    assert is_pending(y)
    assert y.is_deleted()
    with pytest.raises(ArgumentError, match="donated to the jit of"):
        np.asarray(y)
    with pytest.raises(ArgumentError, match="donated"):
        step(y)

    def after(x):
        return want(x) * 2.0 + np.asarray(x)

    np.testing.assert_allclose(z, after(after(x)), rtol=1e-12)


# -- what is done at once


def printing(x):
    print("here")  # noqa: T201 (what is tested)
    return x @ x


def counting(x):
    io_callback(lambda: None, None)
    return x @ x


def drawing(x):
    return x @ x + np.random.random()


def number(x):
    return x @ x, 2.0 * float(len(x)) + 1.0


def storing(x):
    x[0] = 1.0
    return x @ x


def summing(x):
    return jnp.sum(x)


LINES = []


def appending(x):
    LINES.append(1.0)
    return x @ x


@pytest.mark.parametrize("function", [printing, counting, drawing, storing, summing, appending])
def test_what_does_something_else_or_is_small_is_done_at_once(function):
    program = jit(function)
    for _ in range(3):
        assert type(program(jnp.array(matrix()))) in (Array, tuple)


def test_plain_arrays_are_computed_at_once():
    program = jit(lambda x: x @ x + 1.0)
    for _ in range(3):
        assert type(program(np.array(matrix()))) is np.ndarray


def test_functions_without_jit_are_done_at_once():
    slope = grad(lambda x: jnp.sum(x @ x))
    for _ in range(3):
        assert type(slope(matrix())) is Array


def test_integers_that_are_too_wide_are_refused_by_name():
    program = jit(lambda x, number: x @ x + number)
    program(matrix(), 1)
    with pytest.raises(OverflowError, match="number takes 72 bits"):
        program(matrix(), 2**70)


def test_the_setting(second):
    assert tapeless.config.jax_cpu_enable_async_dispatch
    tapeless.config.update("jax_cpu_enable_async_dispatch", False)
    try:
        assert type(second(matrix())) is Array
    finally:
        tapeless.config.update("jax_cpu_enable_async_dispatch", True)
    assert is_pending(second(matrix()))


def test_a_pending_argument_of_what_is_done_at_once(gate):
    small, plain = jit(lambda x: x[0] + 1.0), vmap(lambda x: x * 2.0)
    x = matrix()
    for _ in range(3):
        gate.close()
        y = gate.program(x)
        gate.open_soon()
        np.testing.assert_array_equal(small(y), want(x)[0] + 1.0)
        gate.close()
        y = gate.program(x)
        gate.open_soon()
        np.testing.assert_array_equal(plain(y), want(x) * 2.0)
    assert len(small.cache) == len(plain.cache) == 1


def test_a_program_that_stores_to_a_pending_array_waits_for_its_readers(gate, second):
    store = jit(storing)
    store(jnp.array(matrix()))
    x = matrix()
    y = second(x)
    blocked = gate.program(matrix(1))
    z = second(y)
    gate.open_soon()
    store(y)
    assert blocked.is_ready()
    np.testing.assert_array_equal(y[0], np.ones(N))
    np.testing.assert_array_equal(z, want(want(x)))


# -- results


@pytest.mark.parametrize(
    "build",
    [
        lambda x: (x, x + 1.0),
        lambda x: [x, {"b": x + 1.0, "a": x * 2.0}],
        lambda x: {"z": x, "a": (x + 1.0, None, "text", 3)},
        lambda x: Pair(x + 1.0, x),
        lambda x: x[0, 0],
        lambda x: (x, x),
    ],
)
def test_results_in_containers(gate, build):
    program = jit(lambda x: build(pure_callback(gate.pass_on, SQUARE, x) @ x))
    gate.open()
    x = matrix()
    program(x)
    gate.close()
    result = program(x)
    right = build(np.asarray(x) @ np.asarray(x))
    assert tapeless.tree.structure(result) == tapeless.tree.structure(right)
    leaves = tapeless.tree.leaves(result)
    assert is_pending(leaves[0])
    gate.open_soon()
    for a, b in zip(leaves, tapeless.tree.leaves(right), strict=True):
        if isinstance(b, (str, int)):
            assert a == b
        else:
            np.testing.assert_allclose(a, b, rtol=1e-12)


@dataclasses.dataclass(frozen=True)
class State:
    weights: object
    bias: object


@tapeless.tree_util.register_pytree_node_class
class Layer:
    def __init__(self, weights):
        self.weights = weights

    def tree_flatten(self):
        return (self.weights,), None

    @classmethod
    def tree_unflatten(cls, static, children):
        return cls(*children)


def test_dataclasses_and_registered_classes(gate):
    wait = partial(pure_callback, gate.pass_on, SQUARE)
    step = jit(lambda s: State(wait(s.weights) @ s.weights, s.bias + 1.0))
    layer = jit(lambda x: Layer(wait(x.weights) @ x.weights))
    gate.open()
    for _ in range(2):
        step(State(matrix(), jnp.ones(N)))
        layer(Layer(matrix()))
    gate.close()
    state, result = step(State(matrix(), jnp.ones(N))), layer(Layer(matrix()))
    assert type(state) is State
    assert type(result) is Layer
    assert all(map(is_pending, (state.weights, state.bias, result.weights)))
    gate.open_soon()
    np.testing.assert_array_equal(state.bias, np.full(N, 2.0))
    for weights in (state.weights, result.weights):
        np.testing.assert_allclose(weights, want(matrix()) - 1.0, atol=1e-12)


def test_a_number_that_a_branch_passes_on_is_an_array():
    program = jit(lambda x, y, n: jnp.sum(x @ x) if n > 0 else y)
    for n in (1, 0, 1, 0):
        z = program(matrix(), 2.0, jnp.array(n))
        assert z.shape == ()
        np.testing.assert_allclose(z, np.sum(want(matrix()) - 1.0) if n else 2.0, rtol=1e-9)


def test_shapes_that_elements_decide_are_waited_for(gate):
    program = jit(lambda x: (lambda y: y[y > 0])(pure_callback(gate.pass_on, SQUARE, x) @ x))
    gate.open()
    x = matrix()
    program(x)
    gate.close()
    y = program(x)
    assert not y.is_ready()
    gate.open_soon()
    assert y.shape == (np.sum(np.asarray(x) @ np.asarray(x) > 0),)


def test_lengths_that_integers_decide_are_known(gate):
    program = jit(lambda x, n: jnp.zeros((n, N)) + (pure_callback(gate.pass_on, SQUARE, x) @ x)[0])
    gate.open()
    x = matrix()
    for n in (2, 3, 4):
        program(x, n)
    gate.close()
    assert program(x, 5).shape == (5, N)
    assert program(x, 7).shape == (7, N)


def test_lengths_of_what_is_read_from_outside_may_change():
    program = jit(lambda x: x @ BIAS)
    global BIAS
    for n in (3, 3, 5, 400, 200):
        BIAS = np.ones((1024, n))
        y = program(jnp.ones((1024, 1024)))
        assert y.shape == (1024, n)
        assert np.asarray(y).shape == (1024, n)


BIAS = np.ones((1024, 3))


# -- errors


def picking(x, k):
    product = x @ x
    return product[k]


def test_errors_are_raised_where_a_result_is_looked_at_with_the_line():
    program = jit(picking)
    x = matrix()
    for k in range(3):
        np.testing.assert_array_equal(program(x, k), (np.asarray(x) @ np.asarray(x))[k])
    y = program(x, 10_000)
    assert is_pending(y)
    for look in (np.asarray, repr, lambda y: y + 1, tapeless.block_until_ready):
        with pytest.raises(IndexError, match="out of bounds") as info:
            look(y)
        (note,) = info.value.__notes__
        assert note.startswith("while running the jit of picking")
        assert note.endswith("return product[k]")


def test_errors_reach_the_results_of_later_calls(second):
    program = jit(lambda x, k: x @ x * (x @ x)[k])
    for k in range(3):
        program(matrix(), k)
    z = second(program(matrix(), 10_000))
    with pytest.raises(IndexError, match="out of bounds") as info:
        z.block_until_ready()
    assert len(info.value.__notes__) == 1
    np.testing.assert_array_equal(second(matrix()), want(matrix()))


def test_nans_are_refused_at_the_call(second):
    x = jnp.array(matrix()).at[0, 0].set(np.nan)
    with tapeless.debug_nans(True), pytest.raises(FloatingPointError, match="NaN"):
        second(x)


# -- the context of the caller


def test_the_context_of_the_caller_holds():
    variable = contextvars.ContextVar("variable", default="outside")
    seen = []

    def look(x):
        seen.append((variable.get(), np.geterr()["over"], threading.current_thread().name))
        return x

    program = jit(lambda x: pure_callback(look, SQUARE, x) @ x)
    program(matrix()).block_until_ready()
    token = variable.set("inside")
    with np.errstate(over="raise"):
        y = program(matrix())
    variable.reset(token)
    y.block_until_ready()
    assert seen == [("outside", "warn", "tapeless-calls"), ("inside", "raise", "tapeless-calls")]


def test_calls_inside_of_a_call_are_done_there_and_then(second):
    kinds = []

    def inner(x):
        y = second(jnp.asarray(x))
        kinds.append(type(y))
        return np.asarray(y)

    program = jit(lambda x: pure_callback(inner, SQUARE, x) @ x)
    np.testing.assert_allclose(program(matrix()), want(matrix()) @ np.asarray(matrix()), rtol=1e-12)
    assert kinds == [Array]


def test_a_callback_may_stage_while_others_stage(gate):
    def inner(x):
        return np.asarray(jit(lambda x: x * 2.0)(x))

    waits = partial(pure_callback, gate.pass_on, SQUARE)
    program = jit(lambda x: pure_callback(inner, SQUARE, waits(x)) @ x)
    gate.open()
    program(matrix()).block_until_ready()
    gate.close()
    y = program(matrix())
    gate.open_soon()
    np.testing.assert_allclose(jit(lambda x: x + 1.0)(y), 2.0 * want(matrix()) - 1.0, rtol=1e-12)


def test_transformations_under_jit(gate):
    x = matrix()
    slope = jit(grad(lambda x: jnp.sum(jnp.sin(x @ x))))
    for _ in range(3):
        y = slope(x)
    assert is_pending(y)
    product = np.asarray(x) @ np.asarray(x)
    right = np.cos(product) @ np.asarray(x).T + np.asarray(x).T @ np.cos(product)
    np.testing.assert_allclose(y, right, rtol=1e-10)
    batched = jit(vmap(partial(jnp.matmul, x)))
    z = batched(jnp.stack([x, y]))
    assert is_pending(z)
    np.testing.assert_allclose(z[1], np.asarray(x) @ right, rtol=1e-10)


def test_many_calls_wait_for_the_first(gate, second):
    results = [gate.program(matrix())]
    results += [second(results[-1]) for _ in range(worker.MOST - 1)]
    assert not results[0].is_ready()
    gate.open_soon()
    results.append(second(results[-1]))
    assert results[0].is_ready()
