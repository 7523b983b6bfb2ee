"""The quick way into a specialisation: taken for calls of the same signature, and for no others."""

import copy
import threading
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import optree
import pytest

from tapeless import grad, tree, value_and_grad
from tapeless.dispatch import specialisation
from tapeless.dispatch.python_entry import entry
from tapeless.dispatch.specialisation import MISSED, always_miss, call_key
from tapeless.tree import register_dataclass

Point = namedtuple("Point", "x y")


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    monkeypatch.setattr(specialisation, "_caches", OrderedDict())


def quick(fun, *args, **kwargs):
    """The transformed function after two calls, and the entry that the second one made."""
    fun(*args, **kwargs)
    assert fun.last.enter is always_miss
    fun(*args, **kwargs)
    assert fun.last.enter is not always_miss
    return fun.last.enter


def taken(enter, *args, **kwargs):
    return enter(args, kwargs) is not MISSED


def test_made_at_the_second_call():
    slope = grad(lambda x, y: x * y)
    enter = quick(slope, 1.0, 2.0)
    assert enter((3.0, 5.0), {}) == 5.0
    assert slope(3.0, 7.0) == 7.0
    assert slope.last.enter is enter


@pytest.mark.parametrize(
    "other",
    [
        (1.0,),
        (1.0, 2.0, 3.0),
        (1, 2.0),
        (np.float32(1), 2.0),
        (np.ones(3), 2.0),
        ([1.0], 2.0),
        (True, 2.0),
        ("a", 2.0),
        (None, 2.0),
    ],
)
def test_other_numbers_and_counts_are_not_taken(other):
    enter = quick(grad(lambda x, y: x * y), 1.0, 2.0)
    assert taken(enter, 3.0, 4.0)
    assert not taken(enter, *other)
    assert not taken(enter, 3.0, y=4.0)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (np.ones((7, 9)), True),
        (np.ones((7, 9)).T, True),
        (np.ones((4, 4), np.float64)[::2], True),
        (np.ones((2, 1)), False),
        (np.ones((0, 2)), False),
        (np.ones((2, 2), "f4"), False),
        (np.ones((2, 2), ">f8"), False),
        (np.ones((2, 2), int), False),
        (np.ones(2), False),
        (np.ones((2, 2, 2)), False),
        (np.array(1.0), False),
        (1.0, False),
        (np.ma.masked_array(np.ones((2, 2))), False),
    ],
)
def test_arrays(other, same):
    enter = quick(grad(lambda x: np.sum(x * x)), np.ones((3, 2)))
    assert taken(enter, other) is same


def test_arrays_with_axes_of_length_one():
    enter = quick(grad(lambda x: np.sum(x * x)), np.ones((1, 5)))
    assert taken(enter, np.ones((1, 2)))
    assert not taken(enter, np.ones((2, 2)))


def test_flags_strings_and_objects():
    class Config:
        power = 2

    config = Config()
    enter = quick(grad(lambda x, mode, c: x**c.power if mode == "a" else x), 3.0, "a", config)
    assert enter((3.0, "a", config), {}) == 6.0
    assert not taken(enter, 3.0, "b", config)
    assert not taken(enter, 3.0, "a", Config())
    assert not taken(enter, 3.0, True, config)
    flag = quick(grad(lambda x, on: x * 2 if on else x), 1.0, True)
    assert taken(flag, 1.0, True)
    assert not taken(flag, 1.0, False)
    assert not taken(flag, 1.0, 1)


def test_what_is_read_from_outside(monkeypatch):
    scale = [2.0]
    slope = grad(lambda x: x * scale[0] * FACTOR)
    enter = quick(slope, 1.0)
    assert taken(enter, 5.0)
    monkeypatch.setitem(globals(), "FACTOR", 7.0)
    assert not taken(enter, 5.0)
    assert slope(5.0) == 14.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    scale[0] = 10.0
    assert not taken(enter, 5.0)
    assert slope(5.0) == 30.0
    monkeypatch.delitem(globals(), "FACTOR")
    assert not taken(enter, 5.0)


FACTOR = 3.0
WEIGHTS = np.array([1.0, 2.0])


def test_arrays_from_outside_are_read_anew(monkeypatch):
    slope = grad(lambda x: np.sum(x * WEIGHTS))
    enter = quick(slope, np.ones(2))
    np.testing.assert_array_equal(enter((np.ones(2),), {}), [1.0, 2.0])
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([5.0, 6.0]))
    np.testing.assert_array_equal(enter((np.ones(2),), {}), [5.0, 6.0])
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([5.0]))
    assert not taken(enter, np.ones(2))
    np.testing.assert_array_equal(slope(np.ones(2)), [5.0, 5.0])


TABLE = np.ones((2, 3))


def test_lengths_of_arrays_from_outside(monkeypatch):
    slope = grad(lambda x: np.sum((TABLE @ x)[: TABLE.shape[1] - 1]))
    enter = quick(slope, np.ones(3))
    with monkeypatch.context() as only_here:
        only_here.setattr(slope.last, "sizes_hold", None)  # which takes ten times as long
        assert taken(enter, np.ones(3))
        assert not taken(enter, np.ones(4))
    monkeypatch.setitem(globals(), "TABLE", np.ones((2, 4)))
    assert not taken(enter, np.ones(3))
    assert taken(quick(slope, np.ones(4)), np.ones(4))


class Doubling:
    def __init__(self, x):
        self.x = x

    def value(self):
        return 2 * self.x


def test_methods_of_objects_that_the_function_makes(monkeypatch):
    slope = grad(lambda x: Doubling(x).value() ** 2)
    enter = quick(slope, 3.0)
    assert enter((3.0,), {}) == 24.0
    monkeypatch.setattr(Doubling, "value", lambda self: self.x)
    assert not taken(enter, 3.0)
    assert slope(3.0) == 6.0


def test_numbers_that_the_program_knows():
    slope = grad(lambda x, k, n: np.sum(np.moveaxis(x, k, 0)[n]))
    enter = quick(slope, np.ones((2, 3)), 1, 0)
    assert taken(enter, np.ones((2, 3)), 1, 2)
    assert not taken(enter, np.ones((2, 3)), 0, 0)
    want = np.zeros((2, 3))
    want[1] = 1
    np.testing.assert_array_equal(slope(np.ones((2, 3)), 0, 1), want)


def test_lengths_that_the_program_knows():
    slope = grad(lambda x: np.sum(np.stack([r * k for k, r in enumerate([*x])])))
    enter = quick(slope, np.ones((3, 2)))
    if slope.last.axes:
        assert not taken(enter, np.ones((4, 2)))
    np.testing.assert_array_equal(slope(np.ones((4, 2)))[:, 0], range(4))


def test_relations_of_sizes():
    slope = grad(lambda x, y: np.sum(x * y))
    enter = quick(slope, np.ones(3), np.ones(3))
    assert taken(enter, np.ones(4), np.ones(4))
    assert not taken(enter, np.ones(4), np.ones(3))
    with pytest.raises(ValueError, match="shape"):
        slope(np.ones(4), np.ones(3))
    windows = grad(lambda x, n: np.sum(x[: 2 * n] * x[n : 3 * n]))
    x = np.arange(12.0)
    first = quick(windows, x, 3)
    for n in (2, 3, 4, 7):
        got = windows(x, n) if 3 * n <= 12 else None
        if got is not None:
            want = np.zeros(12)
            want[: 2 * n] += x[n : 3 * n]
            want[n : 3 * n] += x[: 2 * n]
            np.testing.assert_array_equal(got, want)
    assert first is not always_miss


@register_dataclass
@dataclass
class Layer:
    w: float
    b: float


@pytest.mark.parametrize(
    ("tree", "others"),
    [
        ([1.0, 2.0], [[1.0], (1.0, 2.0), [1.0, 2], [1.0, [2.0]]]),
        ({"a": 1.0, "b": 2.0}, [{"b": 2.0, "a": 1.0}, {"a": 1.0, "c": 2.0}, {"a": 1.0}]),
        ({1: 1.0, (2, "x"): {"k": 2.0, "l": 1.0}}, [{1: 1.0, (2, "x"): {"l": 2.0, "k": 1.0}}]),
        ([{"a": 1.0, "b": 2.0}], [[{"b": 1.0, "a": 2.0}], [{"a": 1.0, "b": 2}]]),
        (OrderedDict(a=1.0, b=2.0), [OrderedDict(b=2.0, a=1.0), {"a": 1.0, "b": 2.0}]),
        (Point(1.0, 2.0), [(1.0, 2.0), Point(1.0, 2)]),
        (Layer(1.0, 2.0), [Layer(1.0, 2), (1.0, 2.0)]),
        ((1.0, None), [(1.0, 2.0), (None, 1.0)]),
    ],
)
def test_containers(tree, others):
    def total(t, k):
        return k * t[0] if isinstance(t, list) and t and not isinstance(t[0], dict) else k * 3.0

    enter = quick(grad(total, 1), tree, 2.0)
    assert taken(enter, tree, 5.0)
    for other in others:
        assert not taken(enter, other, 5.0), other
    assert not taken(enter, tree, k=5.0)


def test_containers_of_python_are_taken_apart_without_the_library(monkeypatch):
    slope = grad(lambda t, k: t[0]["a"][1].w * k, 1)
    args = ([{"a": (None, Layer(1.0, 2.0))}, []], 3.0)
    enter = quick(slope, *args)

    def refuse(*args):
        raise AssertionError

    monkeypatch.setattr(optree, "tree_flatten", refuse)
    assert enter(args, {}) == 1.0


def test_keywords():
    slope = grad(lambda x, a, b: x * a - b)
    enter = quick(slope, 1.0, a=2.0, b=3.0)
    assert enter((1.0,), {"b": 3.0, "a": 9.0}) == 9.0
    assert not taken(enter, 1.0, a=2.0)
    assert not taken(enter, 1.0, a=2.0, b=3)
    assert not taken(enter, 1.0, a=2.0, c=3.0)
    assert slope(1.0, b=3.0, a=4.0) == 4.0


def test_results_and_writes_to_objects():
    class Seen:
        last = 0.0

    seen = Seen()

    def f(x):
        seen.last = x * 2
        return {"value": x * x, "pair": (x, [x])}

    both = value_and_grad(lambda x: (x * 3, f(x)), has_aux=True)
    enter = quick(both, 2.0)
    (value, aux), slope = enter((5.0,), {})
    assert (value, aux, slope) == (15.0, {"value": 25.0, "pair": (5.0, [5.0])}, 3.0)
    assert seen.last == 10.0


def test_errors_name_the_line_of_the_user():
    def pick(x, k):
        return x[k] * 2

    slope = grad(pick)
    quick(slope, np.ones(2), 0)
    with pytest.raises(IndexError) as e:
        slope(np.ones(2), 5)
    assert "while running the grad of pick" in e.value.__notes__[0]


def test_nested_transformations_are_staged_not_entered():
    inner = grad(lambda x: x**3)
    quick(inner, 2.0)
    assert grad(inner)(2.0) == 12.0
    assert inner(2.0) == 12.0


def test_an_entry_of_a_given_specialisation():
    slope = grad(lambda x: x * 4.0)
    slope(1.0)
    assert entry(slope.last, (1.0,), {})((2.0,), {}) == 4.0


def test_many_threads():
    slope = grad(lambda x, k: np.sum(x**2) * k)
    failed = []

    def call(k):
        for n in range(200):
            x = np.ones(2 + n % 3, "f4" if (n + k) % 2 else "f8")
            got = slope(x, float(k))
            if got.dtype != x.dtype or (got != 2 * k).any():
                failed.append(got)

    workers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(timeout=60)
    assert failed == []


def stored(x, y):
    x[0] = 2 * y[1]
    return np.sum(x * y)


CALLS = {
    "numbers": (lambda x, n: x * n, [(1.0, 2), (2.0, 3), (np.float64(1), 2), (1, 2), (1.0, True)]),
    "known numbers": (
        lambda x, k: np.sum(np.sum(x, axis=k) ** 2),
        [(np.ones((2, 3)), k) for k in (0, 1, -1)] + [(np.ones((3, 3)), 0), (np.ones((1, 3)), 0)],
    ),
    "sizes": (
        lambda x, y: np.sum(np.concatenate([x, y])[1:] * np.concatenate([y, x])[:-1]),
        [(np.ones(n), np.ones(m)) for n in range(1, 4) for m in range(1, 4)],
    ),
    "views": (lambda x: np.sum(x.reshape(-1)[:4] ** 2), [(np.ones((4, 4)),), (np.ones((4, 4)).T,)]),
    "stores": (stored, [(np.ones(4), np.ones(4)), (np.ones(5), np.ones(5)), (np.ones(4),) * 2]),
    "trees": (
        lambda t, k: t["a"] * t.get("b", 1.0) * k,
        [({"a": 2.0}, 1.0), ({"a": 2.0, "b": 3.0}, 1.0), ({"b": 2.0, "a": 3.0}, 1.0)],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_entry_takes_what_the_specialisation_accepts(name):
    """Each call against the entry that each other call has made."""
    fun, calls = CALLS[name]
    slope = value_and_grad(fun)
    made = {}
    for call in calls:
        args = _copied(call)
        try:
            slope(*_copied(call))
            slope(*_copied(call))
        except (ValueError, IndexError, TypeError):
            continue
        made[id(slope.last)] = (slope.last, call_key(args, {})[1])
    assert made
    for found, key in made.values():
        for call in calls:
            args = _copied(call)
            same = call_key(args, {})[1] == key and found.accepts(tree.leaves((args, {})))
            if same and found.staged.overwritten and call[0] is call[-1]:
                with pytest.raises(ValueError, match="share memory"):
                    found.enter(args, {})
            else:
                assert taken(found.enter, *args) is same, call


def _copied(call):
    """The arguments of a call, where arrays that are one remain one."""
    return copy.deepcopy(call)
