"""Scopes, and context managers of JAX that have little to do here."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, named_call, named_scope, no_tracing, profiler, vmap
from tapeless.transforms.errors import ArgumentTypeError
from tests.api.profiler.test_trace import spans


def layer(x):
    with named_scope("layer"):
        return np.tanh(x)


@pytest.mark.parametrize("way", [lambda f: f, jit, grad, lambda f: vmap(f, axis_size=1)])
def test_scopes_change_nothing(way):
    x = 0.5 if way is not vmap else np.ones(1)
    if "batch" in repr(way(layer)):
        x = np.ones(1)
    np.testing.assert_array_equal(way(layer)(x), way(np.tanh)(x))


def test_scopes_are_spans(tmp_path):
    with profiler.trace(tmp_path):
        layer(0.5)
        named_call(lambda x: x, name="identity")(1.0)
    assert [e["name"] for e in spans(tmp_path)] == ["layer", "identity"]


def test_named_functions():
    class Model:
        w = 3.0

        @named_call
        def apply(self, x):
            return self.w * x if x > 0 else x

    assert grad(Model().apply)(2.0) == 3.0
    assert Model.apply.__name__ == "apply"
    assert jit(named_call(layer, name="other"))(0.5) == np.tanh(0.5)
    with pytest.raises(ArgumentTypeError, match="needs a name"):
        named_scope(3)


def test_no_tracing():
    f = jit(lambda x: x + 1)
    f(1.0)
    with no_tracing():
        assert f(2.0) == 3.0
        with pytest.raises(RuntimeError, match="is staged anew"):
            f(np.ones(2))
    np.testing.assert_array_equal(f(np.ones(2)), [2.0, 2.0])


def test_what_has_nothing_to_do():
    x = np.ones(2)
    assert tapeless.copy_to_host_async(x) is x
    assert tapeless.effects_barrier() is None

    def f(x):
        with tapeless.ensure_compile_time_eval():
            n = int(np.sum(np.arange(4)))
        return x * n

    assert grad(f)(1.0) == 6.0


def network(x):
    with named_scope("layer"):
        y = np.tanh(x)
        with named_scope("norm\nof rows"):
            y = y / np.sqrt(np.sum(y * y))
    for _ in range(3):
        with named_scope("step"):
            y = np.sin(y)
    return np.sum(y)


@pytest.mark.parametrize("transform", [lambda f: f, tapeless.jit, tapeless.vmap])
def test_comments_of_emitted_code_name_scopes(transform):
    x = np.arange(1.0, 4.0) if transform is not tapeless.vmap else np.ones((2, 3))
    text = transform(tapeless.grad(network)).source(x)
    lines = [line for line in text.splitlines() if "# line" in line]
    notes = {line.partition("# line ")[2].partition(", ")[2] for line in lines}
    assert {"layer", "layer/norm of rows", "step"} <= notes
    plain = transform(tapeless.grad(lambda x: np.sum(np.sin(x)))).source(x)
    assert ", " not in plain.partition("# line")[2].partition("\n")[0]


def test_one_line_in_two_scopes():
    def twice(x):
        for name in ("first", "second"):
            with named_scope(name):
                x = np.tanh(x) * 2.0
        return x

    text = tapeless.jit(twice).source(np.ones(3))
    assert [text.count(f", {name}\n") for name in ("first", "second")] == [1, 1]


def test_errors_in_scopes_name_the_line():
    def fails(x):
        with named_scope("solve"):
            return np.linalg.solve(x, np.ones(2))

    with pytest.raises(np.linalg.LinAlgError) as e:
        tapeless.vmap(fails)(np.zeros((1, 2, 2)))
    assert "return np.linalg.solve(x, np.ones(2))" in "".join(e.value.__notes__)
