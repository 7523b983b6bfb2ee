"""Objects of Python's library that are made outside do not keep values of a staged run."""

import concurrent.futures
import contextlib
import contextvars
import queue
import types
import weakref
from collections import ChainMap, Counter, UserDict, UserList

import pytest

import tapeless
from tapeless.transforms.errors import EscapeError


def listening(heard):
    while True:
        heard.append((yield))


def started():
    made = listening([])
    next(made)
    return made


def store(kept, x):
    kept["x"] = x


KEEPERS = {
    "Queue": (queue.Queue, lambda kept, x: kept.put(x)),
    "SimpleQueue": (queue.SimpleQueue, lambda kept, x: kept.put(x)),
    "ContextVar": (lambda: contextvars.ContextVar("x"), lambda kept, x: kept.set(x)),
    "ChainMap": (lambda: ChainMap({}), lambda kept, x: kept.update(x=x)),
    "UserDict": (UserDict, store),
    "UserList": (UserList, lambda kept, x: kept.append(x)),
    "WeakValueDictionary": (weakref.WeakValueDictionary, store),
    "Future": (concurrent.futures.Future, lambda kept, x: kept.set_result(x)),
    "generator": (started, lambda kept, x: kept.send(x)),
}


@pytest.mark.parametrize("name", KEEPERS)
def test_what_keeps_a_value_unseen_is_refused(name):
    make, keep = KEEPERS[name]
    kept = make()

    def f(x):
        keep(kept, x)
        return x * x

    with pytest.raises(EscapeError, match="made outside"):
        tapeless.grad(f)(3.0)


def test_numbers_stored_to_such_an_object_are_not_kept_while_staging_only():
    kept = UserDict()

    def f(x):
        kept["calls"] = kept.get("calls", 0) + 1
        return x * x

    with pytest.raises(EscapeError, match=r"collections\.UserDict, which is made outside"):
        tapeless.grad(f)(3.0)
    assert not kept


def test_a_counter_from_outside_changes_at_each_call():
    kept, python = Counter(a=1.0), Counter(a=1.0)

    def f(x, counter):
        counter.update({"q": x})
        counter.subtract({"a": 2 * x})
        return counter["q"] * counter["a"]

    slope = tapeless.value_and_grad(lambda x: f(x, kept))
    for derivative in (-11.0, -23.0):  # (q + x) (a - 2 x) by x, where q and a are those before
        value = f(3.0, python)
        assert slope(3.0) == (value, derivative)
        assert kept == python


def test_objects_made_inside_keep_what_they_are_given():
    constant = types.MappingProxyType({})

    def f(x):
        waiting, mapping, items = queue.Queue(), UserDict(), UserList([x])
        waiting.put(x * x)
        mapping["square"] = waiting.get()
        items.append(constant.get("missing", x))
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.nullcontext(x))
        return mapping["square"] * items[1]

    assert tapeless.grad(f)(2.0) == 12.0
