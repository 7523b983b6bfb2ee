"""What a function reads from outside: arrays are inputs, the rest is watched."""

import importlib.util
import math
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import Type
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.objects.capture import Guard, input_type
from tests.corpus.differences import gradient
from tests.transforms.staging import staged

W = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
SETTINGS = {"power": 2, "weights": [W, W + 1]}


class Turns(NamedTuple):
    """A tuple that means something else by its items and its length."""

    angles: object

    def __getitem__(self, k):
        return Turns(self.angles[k])

    def __len__(self):
        return len(self.angles)

    def total(self):
        return np.sum(self.angles)


class Model:
    rate = 0.5

    def __init__(self):
        self.w = np.array([1.0, 1.0])
        self.training = True
        self.layers = [np.ones(2), np.ones(2)]

    def __call__(self, x):
        out = np.sum(self.w * x) * self.rate
        for layer in self.layers:
            out = out + np.sum(layer * x)
        return out if self.training else -out


def names(function, *args):
    run = staged(function, *args)
    return [c.name for c in run.captured], [g.name for g in run.guards]


def reads_globals(x):
    return np.sum(W * x) * SCALE ** SETTINGS["power"]


def test_arrays_are_inputs_and_the_rest_is_guarded():
    arrays, guards = names(reads_globals, np.ones(3))
    assert arrays[0] == "W"
    assert {"SCALE", "the keys of SETTINGS", "SETTINGS['power']"} <= set(guards)
    assert not {"np", "math"} & set(guards)


def test_an_array_that_is_read_under_two_names_is_one_input():
    a = b = np.ones(2)
    arrays, _ = names(lambda x: np.sum(a * x + b), np.ones(2))
    assert arrays == ["a"]


def test_contents_of_captured_arrays_are_read_at_each_call():
    w = np.array([1.0, 2.0])
    grad = tapeless.grad(lambda x: np.sum(w * x))
    np.testing.assert_array_equal(grad(np.ones(2)), [1, 2])
    w[0] = 5.0
    np.testing.assert_array_equal(grad(np.ones(2)), [5, 2])
    assert len(grad.cache) == 1


def model_changes():
    def rate(m):
        m.rate = 3.0

    def weights(m):
        m.w = np.array([4.0, 5.0])

    def shorter(m):
        m.layers.pop()

    def longer(m):
        m.layers.append(np.full(2, 7.0))

    def layer(m):
        m.layers[1] = np.full(2, -1.0)

    def flag(m):
        m.training = False

    def dtype(m):
        m.w = m.w.astype("f4")

    def element(m):
        m.layers[0][1] = 9.0

    return [rate, weights, shorter, longer, layer, flag, dtype, element]


@pytest.mark.parametrize("change", model_changes(), ids=lambda f: f.__name__)
def test_a_stale_specialisation_is_never_run(change):
    model, x = Model(), np.array([0.5, 2.0])
    grad = tapeless.grad(model)
    grad(x)
    change(model)
    expected = model.rate * model.w + sum(model.layers)
    np.testing.assert_allclose(grad(x), expected if model.training else -expected)


def test_closures_see_the_current_value():
    k = 1.0

    def f(x):
        return x * k

    grad = tapeless.grad(f)
    found = [grad(2.0)]
    for new in (3.0, 1, np.float64(2.5), 1.0):
        k = new
        found.append(grad(2.0))
    assert found == [1.0, 3.0, 1.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("before", "now", "holds"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        ("a", "a", True),
        (None, 0, False),
        (math.nan, math.nan, True),
        (float("nan"), float("nan"), True),
        ((1, 2), (1, 2), True),
        ([1], [1], False),  # another list: its elements are watched one by one
        (np.float32(1), np.float64(1), False),
    ],
)
def test_when_a_guard_holds(before, now, holds):
    assert Guard("g", lambda: now, before).holds() is holds


@pytest.mark.parametrize("error", [AttributeError, KeyError, IndexError, NameError, ValueError])
def test_a_guard_of_something_gone_does_not_hold(error):
    def gone():
        raise error("gone")

    assert not Guard("g", gone, 1).holds()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2,), (3, 1, 0, 5)])
def test_axes_of_length_zero_and_one_are_known(shape):
    kind, symbols = input_type(np.zeros(shape, "f4"), "x")
    assert kind.dtype == np.float32
    for k, (n, size, symbol) in enumerate(zip(shape, kind.shape, symbols, strict=True)):
        assert (size == n) is (n < 2)
        assert (symbol is None) is (n < 2)
        assert n < 2 or str(size) == f"x.shape[{k}]"
    assert isinstance(kind, Type)


def test_small_constants_are_written_out_and_large_ones_are_inputs():
    def f(v):
        return np.sum(v[:3] * np.array([1.0, 2.0, 3.0])) + np.sum(np.linspace(0, 1, 50) * v)

    arrays, _ = names(f, np.ones(50))
    source = tapeless.grad(f).source(np.ones(50))
    assert len(source) < 1500
    np.testing.assert_allclose(
        tapeless.grad(f)(np.ones(50))[:3], np.linspace(0, 1, 50)[:3] + np.arange(1, 4)
    )
    assert "W" not in arrays


DIRECTIONS = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


def by_a_table(f):
    right = [i for i in range(4) if DIRECTIONS[i, 0] == 1]
    back = [DIRECTIONS.tolist().index((-c).tolist()) for c in DIRECTIONS]
    return sum(f[i] * f[back[i]] ** 2 for i in right) + f[DIRECTIONS[1, 1]]


class Wired:
    def __init__(self):
        self.order = np.array([1, 0, 2])

    def __call__(self, x):
        parts = [x, x**2, x**3]
        return np.sum(parts[self.order[0]] * parts[self.order[1]])


@pytest.mark.parametrize("transform", [tapeless.grad, lambda f: tapeless.jit(tapeless.grad(f))])
def test_tables_of_integers_are_known_and_compared_at_each_call(transform, monkeypatch):
    f = np.array([0.3, 0.7, 1.1, 0.2])
    slope = transform(by_a_table)
    for table in (DIRECTIONS, DIRECTIONS[::-1].copy()):
        monkeypatch.setitem(globals(), "DIRECTIONS", table)
        np.testing.assert_allclose(slope(f), gradient(by_a_table, f, 1e-6), atol=1e-7)
    wired = Wired()
    slope = transform(wired)
    np.testing.assert_allclose(slope(f), 3 * f**2, rtol=1e-12)
    wired.order[0] = 2  # in place
    np.testing.assert_allclose(slope(f), 4 * f**3, rtol=1e-12)


PARTS = np.array([np.ones(2), np.ones(3)], dtype=object)


def test_arrays_of_objects_from_outside_are_refused():
    with pytest.raises(ArgumentTypeError, match="PARTS is an array of Python objects") as e:
        tapeless.grad(lambda x: np.sum(x * PARTS[0]))(np.ones(2))
    assert "list" in str(e.value)


settings = types.ModuleType("settings_of_the_user")


class Layer:
    """An object whose attributes and methods come and go."""

    scale = 2.0

    def method(self, x):
        return self.scale * x

    @property
    def offset(self):
        return 1.0

    def __call__(self, x):
        return 3 * x

    def __mul__(self, x):
        return 4 * x


class Steeper(Layer):
    def method(self, x):
        return 5 * super().method(x)


outer_layer = Layer()


def of_two_alike(x):
    return (x if outer_layer.first.on else 2 * x) + (x if outer_layer.second.on else 3 * x)


CHANGES = {
    "number of a module": (lambda x: settings.K * x, (settings, "K"), (2.0, 3.0)),
    "function of a module": (lambda x: settings.f(x), (settings, "f"), (np.sin, np.cos)),
    "array of a module": (lambda x: np.sum(settings.w * x), (settings, "w"), (W, W[:2] + 1)),
    "ufunc": (lambda x: outer_layer.act(x), (outer_layer, "act"), (np.sin, np.cos)),
    "builtin": (lambda x: outer_layer.act(x), (outer_layer, "act"), (math.sin, math.cos)),
    "lambda": (
        lambda x: outer_layer.act(x),
        (outer_layer, "act"),
        (lambda v: 2 * v, lambda v: 3 * v),
    ),
    "shadowed": (lambda x: outer_layer.method(x), (outer_layer, "method"), (None, np.sin)),
    "class": (lambda x: outer_layer.method(x), (outer_layer, "__class__"), (Layer, Steeper)),
    "method": (
        lambda x: outer_layer.method(x),
        (Layer, "method"),
        (Layer.method, lambda self, x: 7 * x),
    ),
    "of an object made inside": (
        lambda x: Layer().method(x),
        (Layer, "method"),
        (Layer.method, lambda self, x: 7 * x),
    ),
    "number of a class": (lambda x: Layer().scale * x, (Layer, "scale"), (2.0, 3.0)),
    "super": (
        lambda x: Steeper().method(x),
        (Layer, "method"),
        (Layer.method, lambda self, x: 7 * x),
    ),
    "property": (
        lambda x: outer_layer.offset * x,
        (Layer, "offset"),
        (Layer.offset, property(lambda self: 9.0)),
    ),
    "call": (lambda x: outer_layer(x), (Layer, "__call__"), (Layer.__call__, lambda s, x: x)),
    "operator": (lambda x: outer_layer * x, (Layer, "__mul__"), (Layer.__mul__, lambda s, x: x)),
    "getattr": (lambda x: getattr(outer_layer, "k", 1.0) * x, (outer_layer, "k"), (None, 2.0)),
    "hasattr": (
        lambda x: 3 * x if hasattr(outer_layer, "k") else x,
        (outer_layer, "k"),
        (None, 2.0),
    ),
    "one of two alike": (
        of_two_alike,
        (outer_layer, "second"),
        (types.SimpleNamespace(on=True), types.SimpleNamespace(on=False)),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_attributes_are_those_of_the_call(what, monkeypatch):
    f, (owner, name), values = CHANGES[what]
    monkeypatch.setattr(outer_layer, "first", types.SimpleNamespace(on=True), raising=False)
    slope = tapeless.grad(f)
    for value in (*values, values[0]):
        with monkeypatch.context() as changed:
            if value is not None:
                changed.setattr(owner, name, value, raising=False)
            check_slope(slope, f)


def check_slope(slope, f):
    (expected,) = gradient(lambda v: f(v[0]), np.array([0.3]))
    assert slope(0.3) == pytest.approx(expected, abs=1e-8)


def test_what_the_program_itself_sets_is_not_watched():
    def f(x):
        outer_layer.act = np.cos
        return outer_layer.act(x)

    run = tapeless.jit(f)
    for before in (np.sin, np.tan, np.cos):
        outer_layer.act = before
        assert run(0.3) == pytest.approx(math.cos(0.3))
    assert sum(map(len, run.cache.values())) == 1
    del outer_layer.act


def test_a_class_made_inside_is_not_watched():
    def f(x):
        class Inner:
            k = 3.0

            def __init__(self, v):
                self.v = v

            def __call__(self):
                return self.k * self.v

        return Inner(x)()

    _, guards = names(f, 2.0)
    assert guards == ["the code of f"]


def test_tuples_with_items_of_their_own():
    turns = Turns(np.array([1.0, 2.0, 3.0]))

    def f(x):
        return turns[1:].total() * x + len(turns)

    assert (f(2.0), tapeless.grad(f)(2.0), tapeless.jit(f)(2.0)) == (13.0, 5.0, 13.0)
    turns = Turns(np.array([1.0, 2.0]))
    assert (tapeless.grad(f)(2.0), tapeless.jit(f)(2.0)) == (2.0, 6.0)


def test_a_module_of_the_user_with_the_name_of_a_standard_one(tmp_path, monkeypatch):
    (tmp_path / "wave.py").write_text(
        "SPEED = 2.0\n\ndef far(t):\n    return SPEED * t if t > 0 else t\n"
    )
    spec = importlib.util.spec_from_file_location("wave", tmp_path / "wave.py")
    wave = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "wave", wave)
    spec.loader.exec_module(wave)
    slope = tapeless.grad(wave.far)
    assert (slope(1.0), slope(-1.0)) == (2.0, 1.0)
    wave.SPEED = 3.0
    assert slope(1.0) == 3.0
