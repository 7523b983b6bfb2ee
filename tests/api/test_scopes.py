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
