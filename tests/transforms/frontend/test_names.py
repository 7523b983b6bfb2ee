"""Programs may call their variables whatever they like."""

import inspect
import sys

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.operation import Op
from tapeless.transforms.frontend.hooks.hooks import Hooks


def frames(v0, t1):
    """v0, t1 ...: what a rewriter may call its own variables."""
    item_1, then_1, else_2, body_3 = v0 * 2, t1, v0 * t1, t1 + 1.0
    for t2 in range(2):
        item_1 = item_1 + sum([v1 * t2 for v1 in (v0, t1)])
    v2 = lambda v1, v0=t1: v0 * v1  # noqa: E731 (the name is what is tested)
    return np.sum(item_1 * then_1 + else_2 * body_3 + v2(v0))


def flags(x, n):
    """stop_1, left_1, done_1: what leaves loops early."""
    stop_1, left_1, done_1, going_3, return_value = 2.0, 3.0, 5.0, 7.0, x
    for _ in range(n):
        if x > 50.0:
            break
        if x > 20.0:
            return x * stop_1
        x = x * x + left_1
        while x > 9.0:
            x = x - done_1
            if x < 1.0:
                return x * going_3
    return x * stop_1 * left_1 * done_1 * return_value


def nested(x):
    """Functions and classes inside with such names."""

    def v0(t1):
        return t1 * x

    def factory(lambda_):
        return v0(lambda_) + lambda_

    return factory(x) * v0(x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (frames, (1.5, 0.7)),
        (flags, (0.4, 0)),
        (flags, (0.4, 4)),
        (flags, (3.0, 1)),
        (flags, (4.5, 3)),
        (flags, (8.0, 2)),
        (nested, (1.3,)),
    ],
)
def test_no_name_of_a_variable_is_taken(function, args):
    value, slope = tapeless.value_and_grad(function)(*args)
    assert value == function(*args)
    step, rest = 1e-6, args[1:]
    up, down = function(args[0] + step, *rest), function(args[0] - step, *rest)
    assert slope == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_no_global_of_a_module_is_hidden():
    def f(x):
        a, b = x, 2 * x
        return a * t1 + (b * v0 if x > 0 else b) * then_1

    assert tapeless.grad(f)(1.0) == 10.0 + 2 * 3.0 * 5.0


t1, v0, then_1 = 10.0, 3.0, 5.0


def underscore(x, _, y):
    for _i in range(3):
        _ = _ * x + np.sin(y)
        if _ > 1.0:
            _ = _ / 2
    return np.sum(np.exp(x) * _)


def test_an_underscore_that_is_read_is_a_variable():
    x = np.array([0.7, 0.3])
    got = tapeless.vmap(underscore, in_axes=(0, None, None))(x, 0.4, 1.1)
    np.testing.assert_allclose(got, [underscore(v, 0.4, 1.1) for v in x])


# -- keyword arguments

#: Names of parameters in our own code.
OURS = """
    self cls this f fun func function hooks args kwargs named params rule op call x value name
    owner static method found given leaves structure instance target items frame key obj how
"""


def keyed(scale, **named):
    return scale * sum(k * v for k, v in enumerate(named.values(), 1))


def twice(f, x):
    return f(f(x))


def taken(x):
    named = dict.fromkeys(OURS.split(), x)
    return keyed(x, **named) + twice(x=x, f=lambda value: value * x)


class Scaled:
    def __init__(self, f=np.sin, *, function=1.0):
        self.f, self.function = f, function

    def __call__(self, x, instance=1.0, **named):
        return self.function * self.f(x) * instance * named["method"]


def made_and_called(x):
    return Scaled(f=np.cos, function=x)(x=x, instance=2.0, method=x)


@pytest.mark.parametrize("function", [taken, made_and_called])
@pytest.mark.parametrize("around", [lambda f: f, tapeless.jit, tapeless.checkpoint])
def test_keyword_arguments_may_have_any_name(function, around):
    value, slope = tapeless.value_and_grad(lambda x: around(function)(x))(0.7)
    np.testing.assert_allclose(value, function(0.7))
    h = 1e-5
    np.testing.assert_allclose(slope, (function(0.7 + h) - function(0.7 - h)) / (2 * h), rtol=1e-8)


@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.grad, tapeless.vmap])
def test_callers_may_use_any_keyword(transform):
    named = dict.fromkeys(OURS.split(), 0.5 if transform is not tapeless.vmap else np.ones(2))
    x = 2.0 if transform is not tapeless.vmap else np.full(2, 2.0)
    want = keyed(x, **named) if transform is not tapeless.grad else keyed(1.0, **named)
    np.testing.assert_allclose(transform(keyed)(x, **named), want)


def _takes_any_keyword(f):
    """The parameters of ours that a keyword argument of the user's could meet."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        return []
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def test_what_passes_keywords_on_takes_its_own_arguments_by_position():
    """Of all hooks, of all callables that transformations make, and of what stands for functions
    that call functions of the user."""
    met = {}
    found = {f"Hooks.{k}": v for k, v in inspect.getmembers(Hooks, inspect.isfunction)}
    for module in [m for name, m in sys.modules.items() if name.startswith("tapeless.")]:
        for cls in [v for v in vars(module).values() if inspect.isclass(v)]:
            if cls.__module__ != module.__name__ or issubclass(cls, Op):
                continue  # an operation gets params of ours only
            for name in ("__call__", "__staged_call__"):
                method = inspect.getattr_static(cls, name, None)
                if inspect.isfunction(method):
                    found[f"{cls.__qualname__}.{name}"] = method
    for name, f in found.items():
        if names := _takes_any_keyword(f):
            met[name] = names
    assert {"Hooks.call", "Jit.__call__", "Grad.__call__"} <= found.keys()
    assert met == {}
