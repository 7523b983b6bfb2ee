"""When a function is staged again, and when it is not."""

import gc
import weakref
from collections import OrderedDict

import numpy as np
import pytest

from tapeless import grad, jvp, linearize, vjp
from tapeless.dispatch import specialisation
from tapeless.dispatch.specialisation import leaf_key, quick_key
from tapeless.dispatch.transformation import Transformed


@pytest.fixture
def staged(monkeypatch):
    """Counts compilations."""
    count = []
    original = Transformed.compile

    def counting(self, args, kwargs):
        count.append(self)
        return original(self, args, kwargs)

    monkeypatch.setattr(specialisation, "_caches", OrderedDict())
    monkeypatch.setattr(Transformed, "compile", counting)
    return count


def test_new_values_do_not_stage_again(staged):
    slope = grad(lambda x, y: x * y**2)
    for x in (1.0, 2.0, -3.5):
        assert slope(x, 3.0) == 9.0
    assert len(staged) == 1


def test_new_sizes_of_the_same_rank_do_not_stage_again(staged):
    slope = grad(lambda x: np.sum(np.tanh(x) * np.mean(x)))
    for n in (2, 3, 1000):
        assert slope(np.ones(n)).shape == (n,)
    assert len(staged) == 1


def test_new_trip_counts_do_not_stage_again(staged):
    def f(x, n):
        for _ in range(n):
            x = x * 2
        return x

    slope = grad(f)
    assert [slope(1.0, n) for n in (1, 3, 10, 0)] == [2.0, 8.0, 1024.0, 1.0]
    assert len(staged) == 1


@pytest.mark.parametrize(
    "other", [np.ones(3, np.float32), np.ones((3, 3)), np.ones(1), np.ones(0), np.float32(1), 1.0]
)
def test_another_dtype_or_rank_does(staged, other):
    slope = grad(lambda x: np.sum(x * x))
    slope(np.ones(3))
    np.testing.assert_array_equal(slope(other), 2 * other)
    assert len(staged) == 2
    slope(np.ones(4))
    slope(other)
    assert len(staged) == 2


def test_flags_and_strings_are_part_of_the_signature(staged):
    def f(x, mode, twice):
        y = x**2 if mode == "square" else x**3
        return y * 2 if twice else y

    slope = grad(f)
    calls = [("square", True), ("square", False), ("cube", False), ("square", True)]
    assert [slope(2.0, *c) for c in calls] == [8.0, 4.0, 12.0, 8.0]
    assert len(staged) == 3


def test_another_structure_does(staged):
    slope = grad(lambda t: sum(t.values()))
    assert slope({"a": 1.0}) == {"a": 1.0}
    assert slope({"a": 2.0}) == {"a": 1.0}
    assert slope({"a": 1.0, "b": 1.0}) == {"a": 1.0, "b": 1.0}
    assert len(staged) == 2


def test_keywords_in_another_order_are_the_same(staged):
    slope = grad(lambda x, a, b: x * a / b)
    assert slope(1.0, a=6.0, b=2.0) == 3.0
    assert slope(1.0, b=3.0, a=6.0) == 2.0
    assert len(staged) == 1


def test_the_order_of_keywords_counts_for_a_dict_of_them(staged):
    slope = grad(lambda x, **more: x * next(iter(more.values())))
    for _ in range(2):
        assert slope(1.0, a=6.0, b=2.0) == 6.0
        assert slope(1.0, b=3.0, a=6.0) == 3.0
    assert len(staged) == 2


FACTOR, BIAS = 2.0, np.array([1.0, 2.0])


def test_what_is_read_from_outside_is_looked_at_again(staged, monkeypatch):
    slope = grad(lambda x: np.sum(FACTOR * x * BIAS))
    np.testing.assert_array_equal(slope(np.ones(2)), [2.0, 4.0])
    monkeypatch.setitem(globals(), "BIAS", np.array([3.0, 5.0]))
    np.testing.assert_array_equal(slope(np.ones(2)), [6.0, 10.0])
    assert len(staged) == 1
    monkeypatch.setitem(globals(), "FACTOR", 10.0)
    np.testing.assert_array_equal(slope(np.ones(2)), [30.0, 50.0])
    assert len(staged) == 2


def test_transforming_inside_a_loop_stages_once(staged):
    def f(x, y):
        return x**2 * y

    scale = 3.0
    for k in range(1, 4):
        assert grad(f)(float(k), 1.0) == 2.0 * k
        assert grad(lambda x: scale * x**2)(float(k)) == 6.0 * k
        assert jvp(lambda x: scale * x**2, (float(k),), (1.0,))[1] == 6.0 * k
        assert vjp(f, float(k), 1.0)[1](1.0) == (2.0 * k, float(k * k))
        assert linearize(lambda x: scale * x, float(k))[1](2.0) == 6.0
    assert len(staged) == 5


def test_lambdas_that_see_other_variables_are_others():
    slopes = [grad(lambda x, k=k: k * x) for k in (1.0, 2.0)]

    def make(k):
        return grad(lambda x: k * x)

    assert [s(1.0) for s in slopes] == [1.0, 2.0]
    assert [make(k)(1.0) for k in (1.0, 2.0)] == [1.0, 2.0]


def test_the_options_tell_transformations_apart():
    def f(x, y):
        return x**2 * y**3

    assert [grad(f, k)(1.0, 2.0) for k in (0, 1)] == [16.0, 12.0]
    assert grad(f)(1.0, 2.0) == 16.0
    assert grad(grad(f))(1.0, 2.0) == 16.0
    assert grad(grad(f, 1), 1)(1.0, 2.0) == 12.0


def test_objects_are_told_apart_by_identity():
    class Config:
        def __init__(self, power):
            self.power = power

    slope = grad(lambda x, config: x**config.power)
    assert [slope(2.0, Config(p)) for p in (1, 2, 3)] == [1.0, 4.0, 12.0]


def test_attributes_that_change():
    class Config:
        power = 2

    config = Config()
    slope = grad(lambda x: x**config.power)
    assert slope(2.0) == 4.0
    config.power = 3
    assert slope(2.0) == 12.0


def test_the_arrays_of_the_first_call_do_not_live_on():
    x = np.ones(1000)
    slope = grad(lambda x: np.sum(x * x))
    slope(x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_keys():
    assert leaf_key(1.0) is float
    assert leaf_key(np.float32(1)) is np.float32
    assert leaf_key(np.ones((5, 1, 0))) == (np.dtype(float), 2, 1, 0)
    assert leaf_key(True) == (bool, True)
    assert leaf_key("a") == (str, "a")
    assert quick_key((1.0, np.ones(7))) == (float, (np.dtype(float), 2))
    assert quick_key(([1.0],)) is None


def test_an_empty_tuple_from_outside_that_is_another_one_later():
    class Config:
        shape = ()

    config = Config()
    slope = grad(lambda x: np.sum(np.zeros(config.shape) + x))
    assert slope(2.0) == 1.0
    config.shape = (3,)
    assert slope(2.0) == 3.0


def test_a_list_that_was_emptied_since_is_no_error():
    """Whose items a program with stores to arrays from outside had read."""
    seen, totals = [], np.zeros(3)

    def keeps(x):
        seen.append(x[0])
        totals[:] = x
        return np.sum(x**3) * totals[1]

    x = np.array([0.7, -0.4, 1.3])
    slopes = [grad(keeps)(x) for _ in range(4)]
    seen.clear()
    np.testing.assert_array_equal(grad(keeps)(x), slopes[0])
    assert seen == [x[0]]
