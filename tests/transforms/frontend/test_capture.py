"""What a function reads from outside: arrays are inputs, the rest is watched."""

import math

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import Type
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.capture import Guard, input_type
from tests.corpus.differences import gradient
from tests.transforms.staging import staged

W = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
SETTINGS = {"power": 2, "weights": [W, W + 1]}


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
    with pytest.raises(UnsupportedError, match="PARTS is an array of Python objects") as e:
        tapeless.grad(lambda x: np.sum(x * PARTS[0]))(np.ones(2))
    assert "list" in str(e.value)
