"""Stages comprehensions and generator expressions: rolled like loops, or run through as Python
does.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Block, has_effect, statements
from tapeless.transforms.errors import Signal, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch, choose, for_each_option
from tapeless.transforms.frontend.control_flow.known_items import in_arrays
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence, lists_of
from tapeless.transforms.frontend.control_flow.loops import for_loop
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.effects.effects import in_generator
from tapeless.transforms.frontend.heap.frames import Frame
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.lists import SMALL, StagedList
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import has_identity
from tapeless.transforms.frontend.values.structure import MISSING
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList


def must_roll(x: Any) -> bool:
    """Whether x must be run over as a rolled sequence."""
    return isinstance(x, (Symbol, Sequence)) or (isinstance(x, StagedList) and x.tail is not None)


class Lazy(Advancing):
    """A generator expression: run through as Python does, unless `sum` can roll it."""

    def __init__(self, generators: Any) -> None:
        self.met: list[Any] = []
        super().__init__(run_through(generators, self.met))
        self.made, self.started = generators, False
        sources = [x.taken_from for x in lists_of(generators[0]) if x.taken_from is not None]
        self.kept_still = [(source, _amount(source)) for source, _ in sources]

    @property
    def pushes(self) -> bool:
        key = _key(self.made)
        began = self.started or self.left
        return not began and rolls(self.made[0]) and key not in trace().decisions.unroll

    def push(self, leaves: bool, emit: Any) -> None:
        self.spent(leaves)
        frame: Any = trace().born(Frame())
        frame.ended = False

        def take(item: Any) -> None:
            ended = emit.__staged_call__(item)
            if leaves:
                frame.ended = ended

        each_item(self.made, take, frame, "ended" if leaves else None)

    def __next__(self) -> Any:
        self.started = True
        try:
            return super().__next__()
        except Undecided:
            raise UnsupportedError(
                "which item of a generator expression comes next depends on data",
                "make a list of it, or write a loop with if",
            ) from None

    def ask(self) -> None:
        if self.left:  # then its items are made one by one
            why = "its generator expression is used after its first item was taken"
            trace().decisions.unroll_all({_key(self.made): why})
        if any(_amount(source) is not before for source, before in self.kept_still):
            raise UnsupportedError(
                "a list, dictionary or set of data changes before the generator expression over it"
                " is used",
                "make a list of it: [... for ...]",
            )
        super().ask()

    def spent(self, leaves: bool = False) -> bool:
        """Whether items were taken before; all are now, or as many as run-time values say."""
        self.ask()
        started, self.started = self.started, True
        if not started:
            self.source, self.left = iter(()), leaves
        return started

    def rolls(self) -> bool:
        """Whether its items are made by a rolled loop."""
        return rolls(self.made[0])

    def must_roll(self) -> bool:
        """Whether they are, also where one is asked for."""
        return must_roll(self.made[0]) and _key(self.made) not in trace().decisions.unroll

    def to_list(self, exhaust: bool = False) -> Any:
        """The elements as a list that may be rolled."""
        return list(self) if self.spent(exhaust) else comprehension("ListComp", self.made)

    def from_the_first(self) -> Any:
        """Its loops, to be run over where no item of it was given."""
        return with_items_met(self.made, self.met)

    def sum(self, hooks: Any, start: Any) -> Any:
        if self.spent():
            return hooks.call(sum, list(self), start)
        frame = hooks.frame("sum")
        frame.total = start

        def add(item: Any) -> None:
            frame.total = special_methods.binary("Add", frame.total, item)

        each_item(self.made, add, frame)
        return frame.total


def each_item(
    generators: Any, take: Callable[[Any], None], frame: Any, stop: str | None = None
) -> None:
    """Loops over a comprehension that give each item that passes its tests to a function, until a
    variable of the frame is true if it names one."""
    iterable, function, nested = generators

    def body(item: Any) -> None:
        test, inner = function(item)

        def run_pass() -> None:
            if nested:
                each_item(inner(), take, frame, stop)
            else:
                take(inner())

        branch(test(), run_pass, lambda: None)

    code = function.__code__
    body.__code__ = body.__code__.replace(
        co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
    )
    for_loop(iterable, body, frame, stop, "")


def _amount(source: Any) -> Any:
    """What tells whether rows, or the keys of a dictionary or set, are still as many."""
    source = vars(source).get("rows", source)
    count_location = vars(source)["counts" if "last" in vars(source) else "count"]
    tail = own_attribute(count_location, "tail")
    if tail is not None:
        return tail.stacks[0].present()
    return count_location.present() if isinstance(count_location, Symbol) else count_location


def comprehension(kind: str, generators: Any) -> Any:
    iterable, *rest = generators
    generators = (in_arrays(iterable), *rest)
    if kind == "GeneratorExp":
        return Lazy(_as_generator(generators))
    of_filtered = own_attribute(generators[0], "filtered") is not None
    if of_filtered and not _needs_lengths(_key(generators)):
        return filtered_list(generators)
    result_list = _roll_into_list(generators) if rolls(generators[0]) else None
    return _as_list(generators) if result_list is None else result_list


def rolls(iterable: Any) -> bool:
    """Whether a comprehension over this is a loop of the program."""
    if isinstance(iterable, Advancing) and iterable.pushes:
        return True  # a generator whose loops may be rolled
    return must_roll(iterable) or (isinstance(iterable, range) and len(iterable) > SMALL)


def _as_list(generators: Any) -> Any:
    met: list[Any] = []
    try:
        with undone_if_undecided(generators[0]):
            return trace().born(StagedList(known_items(generators, met)))
    except Undecided:
        generators = with_items_met(generators, met)
        if trace().identities and not _needs_lengths(_key(generators)):
            return filtered_list(generators)
        return _roll_into_list(generators)


def _needs_lengths(key: Any) -> bool:
    return key in trace().decisions.lengthened or key in trace().decisions.unroll


def filtered_list(generators: Any) -> FilteredList:
    """The items of a comprehension, which are objects, with whether they pass the test."""
    iterable, function, nested = generators
    key = _key(generators)
    source = own_attribute(iterable, "filtered")
    items = source.items if source is not None else tuple(iterable)
    before = source.flags if source is not None else (True,) * len(items)
    if nested or not all(map(has_identity, items)):
        trace().decisions.as_lengths(key)

    def passes(item: Any) -> Any:
        test, inner = function(item)
        decided = truth(test())
        require_same_item = functools.partial(_require_item, item, inner, key)
        branch(decided, require_same_item, lambda: None)
        return decided

    flags = [
        choose(flag, functools.partial(passes, item), lambda: False)
        for item, flag in zip(items, before, strict=True)
    ]
    filtered: FilteredList = trace().born(FilteredList(key, items, tuple(flags)))
    return filtered


def _require_item(item: Any, inner: Callable[[], Any], key: Any) -> None:
    if inner() is not item:
        trace().decisions.as_lengths(key)


def with_items_met(generators: Any, met: list[Any]) -> Any:
    """Loops of which the first has given some items; an iterator does not give them again."""
    iterable, function, nested = generators
    if isinstance(iterable, Iterator) and met:
        iterable = Advancing(itertools.chain(met, iterable))
    return iterable, function, nested


class Undecided(Signal):
    """Whether an item passes the filter is known only when the program runs."""


@contextmanager
def undone_if_undecided(iterable: Any) -> Iterator[None]:
    """What tests inside have done until one is undecided is undone, for a loop does it again."""
    run = trace()
    first = len(run.blocks[-1])
    with run.watching() as journal:
        try:
            yield
        except Undecided:
            acted = any(map(has_effect, statements(Block((), tuple(run.blocks[-1][first:]), ()))))
            is_iterator = isinstance(iterable, Iterator)  # and what gives items is not asked again
            if acted or (
                is_iterator and any(old is not MISSING for _, old in journal.changed_locations())
            ):
                raise UnsupportedError(
                    "a test on data of a comprehension, or what makes its items, prints, draws"
                    " random numbers or changes what is outside of it",
                    "write a loop with if",
                ) from None
            if not is_iterator:
                run.rollback(journal)
            raise


def long_by_data(items: Any) -> bool:
    """Whether run-time values say how many items there are."""
    if isinstance(items, Sequence):
        n = items.count
        return not isinstance(n, int) and not can_be_known(atom_of_size(n))
    length = items.length() if own_attribute(items, "tail") is not None else None
    return isinstance(length, Symbol) and not can_be_known(length.value())


def run_through(generators: Any, met: list[Any]) -> Iterator[Any]:
    """Gives what Python does, and keeps the items of the first loop in `met`."""
    iterable, function, nested = generators
    _require_known_length(iterable)
    for item in iterable:
        met.append(item)
        if (inner := _make_item(function, item)) is None:
            continue
        if nested:
            yield from run_through(inner(), [])
        else:
            yield inner()


def known_items(generators: Any, met: list[Any]) -> list[Any]:
    """What `run_through` gives, for a list: StopIteration inside is no error of a generator."""
    iterable, function, nested = generators
    _require_known_length(iterable)
    items: list[Any] = []
    for item in iterable:
        met.append(item)
        if (inner := _make_item(function, item)) is not None:
            items += known_items(inner(), []) if nested else [inner()]
    return items


def _require_known_length(iterable: Any) -> None:
    if any(map(long_by_data, lists_of(getattr(iterable, "source", iterable)))):
        raise Undecided


def _make_item(function: Callable[[Any], Any], item: Any) -> Any:
    """What computes the item of a comprehension from that of its loop; None if the test fails."""
    test, inner = function(item)
    decided = truth(test())
    if isinstance(decided, Symbol):
        if not can_be_known(decided.value()):
            raise Undecided
        decided = bool(decided)
    return inner if decided else None


class GeneratorBody:
    """What the loop of a generator expression does with an item: StopIteration that leaves it
    becomes a RuntimeError.
    """

    def __init__(self, function: Any, nested: bool) -> None:
        self.function, self.nested = function, nested
        self.__code__ = function.__code__

    def __call__(self, item: Any) -> Any:
        test, inner = in_generator(self.function, item)
        return functools.partial(in_generator, test), functools.partial(self.compute, inner)

    def compute(self, inner: Callable[[], Any]) -> Any:
        value = in_generator(inner)
        return _as_generator(value) if self.nested else value


def _as_generator(generators: Any) -> Any:
    iterable, function, nested = generators
    return iterable, GeneratorBody(function, nested), nested


def _roll_into_list(generators: Any) -> Any:
    """The comprehension as loops that append to a list; None if the loop must be unrolled."""
    if _key(generators) in trace().decisions.unroll:
        return None
    out = trace().born(StagedList())

    def append_to(items: Any, item: Any) -> None:
        trace().touch(ContentsLocation(items))
        items.append(item)

    def keep(item: Any) -> None:
        for_each_option(lambda items: append_to(items, item), out)

    each_item(generators, keep, SimpleNamespace())
    return out


def _key(clause: Any) -> tuple[str, int, str]:
    """A comprehension, by its place in the source."""
    code = clause[1].__code__
    return code.co_filename, code.co_firstlineno, code.co_name


def filter_items(iterable: Any, test: Callable[[Any], Any], place: Any) -> Lazy:
    """(item for item in iterable if test(item)); `place` is the code that is named as its place."""

    def clause(item: Any) -> Any:
        return (lambda: test(item)), (lambda: item)

    if place is not None:
        clause.__code__ = clause.__code__.replace(
            co_filename=place.co_filename,
            co_firstlineno=place.co_firstlineno,
            co_name=f"filter by {place.co_name}",
        )
    return Lazy((iterable, clause, False))
