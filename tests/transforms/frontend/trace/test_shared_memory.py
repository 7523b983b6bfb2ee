"""Stores make out of date what may be in the same memory, and nothing else."""

from types import SimpleNamespace

import pytest

from tapeless.transforms.frontend.trace.shared_memory import MemoryOrders, SharedMemory


class Cell:
    """An array of a run, by its name."""

    def __init__(self, name):
        self.atom = SimpleNamespace(name=name)


@pytest.fixture
def sides():
    """The tests that are open, and which side of each."""
    return []


@pytest.fixture
def memory(sides):
    return SharedMemory(MemoryOrders(), lambda: sides, lambda: SimpleNamespace(line=7))


def cells(names):
    return [Cell(name) for name in names]


def test_an_array_of_its_own(memory):
    a, b = cells("ab")
    assert memory.memories_of(a) == {a}
    assert memory.are_apart(a, b)
    memory.stored_to(a)
    assert memory.stale == {}
    assert memory.overwritten == {a}


def test_a_choice_of_two(memory):
    a, b, c, either = cells("abce")
    memory.share(either, {a, b})
    assert not memory.are_apart(either, a)
    assert not memory.are_apart(b, either)
    assert memory.are_apart(either, c)
    memory.stored_to(a)
    assert memory.stale.keys() == {either}
    assert memory.stale[either] == "may share memory with 'a', which line 7 overwrites"


def test_a_store_to_the_choice(memory):
    a, b, c, either = cells("abce")
    memory.share(either, {a, b})
    memory.stored_to(either)
    assert memory.stale.keys() == {a, b}
    assert memory.overwritten >= {a, b}
    assert c not in memory.stale


def test_choices_of_one_array(memory):
    a, b, first, second = cells("abxy")
    memory.share(first, {a})
    memory.share(second, {a, b})
    assert not memory.are_apart(first, second)
    memory.stored_to(first)
    assert memory.stale.keys() == {a, second}


def test_arrays_that_are_known_to_be_apart(memory):
    a, b, first, second = cells("abxy")
    memory.share(first, {a, b})
    memory.share(second, {a, b})
    memory.keep_apart(first, second)
    assert memory.are_apart(second, first)
    memory.stored_to(first)
    assert memory.stale.keys() == {a, b}


def test_what_a_name_may_be(memory):
    a, b, result = cells("abr")
    memory.share(b, {a})
    memory.link(result, b)
    memory.link(a, a)
    assert memory.memories_of(result) >= {a, b}
    assert memory.memories_of(a) == {a}


def test_a_list_shows_what_is_stored_to_its_elements(memory):
    a, b, items = Cell("a"), Cell("b"), Cell("items")
    memory.hold(items, {a})
    assert memory.holding(items) == {items, a}
    memory.stored_to(a)
    assert memory.stale.keys() == {items}
    memory.changed_inside(items)
    assert memory.stale.keys() == {items, a}
    assert b not in memory.stale


def test_what_may_be_one_of_several_lists(memory):
    first, second, picked = Cell("first"), Cell("second"), Cell("picked")
    memory.may_be(picked, {first, second})
    memory.changed_list(second)
    assert memory.stale.keys() == {picked}


def test_elements_of_the_other_side_of_a_test(memory, sides):
    a, items = Cell("a"), Cell("items")
    sides.append((3, 0))
    memory.hold(items, {a})
    assert not memory.apart_by_tests(items, a)
    sides[:] = [(3, 1)]
    assert memory.apart_by_tests(items, a)
    sides.clear()
    assert not memory.apart_by_tests(items, a)


def test_orders_are_relied_on_when_a_store_comes(memory):
    a, view = cells("av")
    memory.share(view, {a})
    memory.rely({"order of a"}, {a})
    assert memory.orders.relied_on == set()
    memory.stored_to(view)
    assert memory.orders.relied_on == {"order of a"}
