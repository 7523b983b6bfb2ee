"""Stages iterators over what a rolled loop runs over: zip, map, enumerate, reversed and iter of
arrays.

As Python's they are run over once: each keeps how far it is, and gives the rest.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, size_of
from tapeless.transforms.errors import TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms, wrap
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.control_flow.comprehensions import must_roll
from tapeless.transforms.frontend.control_flow.iteration import zip_
from tapeless.transforms.frontend.control_flow.loop_ranges import (
    Sequence,
    indexed_sequence,
    lists_of,
    sequence,
)
from tapeless.transforms.frontend.control_flow.loops import (
    for_loop,
    from_line,
    loop_key,
    while_loop,
)
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.iterators import (
    CHANGED,
    MAKE_A_LIST,
    Advancing,
    Once,
)
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import AttributeLocation
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import require_current

RANGE_ITERATOR = type(iter(range(0)))
INDICES = "run over the range by a variable, and compute the further items of it"


def _length(items: StagedList) -> Any:
    """What tells whether a list is as long as it was."""
    tail = items.tail
    if tail is None:
        return len(items)
    return tail.stacks[0].present() if tail.length is None else tail.length


class Through(Once):
    """An iterator over a sequence.

    position  how many items were taken
    left      something ran over it that Python ends or goes on with later: how far it is, is not
              known
    loop      the loop over it that is being staged
    """

    def __init__(self, items: Sequence) -> None:
        self.items, self.position, self.left = items, 0, False
        self.loop: Any = None
        self.lengths = [(x, _length(x)) for x in lists_of(items)]
        trace().born(self)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        """For functions of Python's library, which take items one by one while staging."""
        if not _has_more(operator.index(_number(self.items.count)), operator.index(self.ask())):
            raise StopIteration
        return self.item()

    def rest(self, whole: bool = False) -> Sequence:
        """The items that were not taken before; `whole`: all are taken at once."""
        first, items = self.ask(), self.items
        self.move(_number(items.count))
        self.left = not whole
        if isinstance(first, int) and first == 0:
            return items
        return replace(items, span=(atom(atoms(self.place(first))), *items.span[1:]))

    def one_by_one(self) -> Sequence:
        """The rest, for a loop that run-time values may end: each pass takes an item."""
        first = self.ask()

        def take(k: Any) -> Any:
            self.move(k + 1)
            return self.items.item(self.place(k))

        return Sequence((atom(atoms(first)), atom_of_size(self.items.count), atom(1)), take)

    def has_more(self) -> Any:
        """Whether there are more items."""
        return _has_more(self.items.count, self.ask())

    def take(self) -> Any:
        """The next item; there is one."""
        k = self.ask()
        self.move(k + 1)
        return self.items.item(self.place(k))

    def item(self, *default: Any) -> Any:
        """next(self, *default)"""
        is_more = self.has_more()

        def end() -> Any:
            return default[0] if default else raise_(StopIteration())

        if isinstance(is_more, Symbol):
            return choose(is_more, self.take, end)
        if is_more:
            return self.take()
        if default:
            return default[0]
        raise StopIteration

    def groups(self, n: int) -> Sequence:
        """zip(self, self, ...), with n times the same iterator."""
        k, items = self.ask(), self.items
        self.left = True
        count = dims.maximum(items.count - size_of(atoms(k)), 0) // n
        return indexed_sequence(
            count, lambda g: tuple(items.item(self.place(k + g * n + j)) for j in range(n))
        )

    def ask(self) -> Any:
        """How far it is."""
        if self.loop is not None:
            trace().decisions.follow(self.loop)  # its body takes items too of what it runs over
        if self.left:
            raise UnsupportedError(
                "an iterator (of zip, map, enumerate, reversed or iter) is used after something "
                "else that ran over it, which may have left it half-way",
                "make a list of it first",
            )
        for x, _ in self.lengths:
            require_current(x)
        if any(_length(x) is not n and _length(x) != n for x, n in self.lengths):
            raise UnsupportedError(CHANGED, MAKE_A_LIST)
        return self.position

    def move(self, position: Any) -> None:
        trace().touch(AttributeLocation(self, "position"))
        self.position = position

    def place(self, k: Any) -> Any:
        """The index of the k-th item in what is run over."""
        start, _, step = map(wrap, self.items.span)
        return start + k * step


Through.__name__ = "iterator"  # as errors of Python say it


def as_iterator(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes something to run over, as Python's: it is run over once."""

    @functools.wraps(make)
    def run(*args: Any, **kwargs: Any) -> Any:
        result = make(*args, **kwargs)
        return Through(result) if isinstance(result, Sequence) else result

    return run


def for_each(
    iterable: Any, body: Callable[[Any], Any], frame: Any, stop: str | None, name: str
) -> None:
    """A for statement."""
    is_variable = any(v is iterable for v in vars(frame).values())
    of_range = isinstance(iterable, Advancing) and isinstance(iterable.source, RANGE_ITERATOR)
    if of_range and stop is None and not is_variable:
        _for_rest_of_range(iterable, body, frame, name)
        return
    if not isinstance(iterable, Through):
        for_loop(special_methods.iterable_of(iterable), body, frame, stop, name)
        return
    key = loop_key(body)
    if key in trace().decisions.following:
        while_loop(iterable.has_more, from_line(key, lambda: body(iterable.take())), frame, stop)
        return
    items = iterable.one_by_one() if is_variable and stop else iterable.rest(whole=stop is None)
    iterable.loop = key
    try:
        for_loop(items, body, frame, stop, name)
    except Exception as e:
        iterable.left |= not isinstance(e, TapelessError)  # an error of the program's own
        raise
    finally:
        iterable.loop = None


def _for_rest_of_range(
    iterator: Advancing, body: Callable[[Any], Any], frame: Any, name: str
) -> None:
    """A loop without an early end over an iterator of a range, such as `reversed(range(9))`: as one
    over the range, which may be rolled. The iterator has no more items then."""
    iterator.ask()
    trace().note_advanced(iterator)
    before = iterator.source.__reduce__()
    _, (numbers,), *taken = before
    for_loop(numbers[taken[0] or 0 :] if taken else numbers, body, frame, None, name)
    if iterator.source.__reduce__() != before:
        raise UnsupportedError("a loop takes more items of the iterator that it runs over", INDICES)
    deque(iterator.source, maxlen=0)


def zip_items(hooks: Any, *parts: Any, strict: bool = False) -> Any:
    first, n = (parts or [None])[0], len(parts)
    if isinstance(first, Through) and n > 1 and all(p is first for p in parts) and not strict:
        return first.groups(n)
    return zip_(hooks, *map(special_methods.iterable_of, parts), strict=strict)


def iter_(hooks: Any, x: Any, *more: Any) -> Any:
    if more or isinstance(x, Through):
        return iter(x, *more) if more else x
    x = special_methods.iterable_of(x)
    sequence_found = sequence(x) if must_roll(x) else None
    return iter(x) if sequence_found is None else Through(sequence_found)


def _number(count: dims.Size) -> Any:
    return count if isinstance(count, int) else wrap(atom_of_size(count))


def _has_more(count: dims.Size, k: Any) -> Any:
    """Whether there are more than k items; known where the number of items can be guarded."""
    if not isinstance(k, int):
        return k < _number(count)
    if isinstance(count, int) or dims.at_least(count, k + 1):
        return dims.at_least(count, k + 1)
    length = trace().value(count)
    if length is None:
        return wrap(atom_of_size(count)) > k
    trace().guard(*((">=", count, k + 1) if length > k else (">=", k, count)))
    return length > k
