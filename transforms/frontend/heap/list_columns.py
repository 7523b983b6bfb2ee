"""Stores what rolled loops append to lists in stacks, one for each leaf of an element."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.errors import AliasError, StructureError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.coded_constants import (
    differ_in_constants,
    has_codes,
    note_alone,
    with_codes,
)
from tapeless.transforms.frontend.heap.reachability import refuse_iterators
from tapeless.transforms.frontend.trace.cells import CellLocation, named_like
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import is_same
from tapeless.transforms.frontend.values.join import join_types
from tapeless.transforms.frontend.values.list_elements import register_element
from tapeless.transforms.frontend.values.structure import flatten, has_rows, require_defined
from tapeless.transforms.ops.primitives import stacks
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import cast

if TYPE_CHECKING:
    from tapeless.transforms.frontend.heap.lists import StagedList


def leaf_columns(spec: Any) -> list[Atom]:
    """What stacks hold of an element: its leaves, or of one that has none a flag, to be counted."""
    if has_rows(spec):
        raise UnsupportedError(
            "a list of tuples, as long as run-time values say, is put into another list",
            "keep its length, and all items in one list",
        )
    return [*spec.leaves()] or [atom(True)]


def _in_columns(columns: Any, items: Any) -> Iterator[tuple[Atom, Type]]:
    return ((a, item) for column, item in zip(columns, items, strict=True) for a in column)


class BlockPosition:
    """The end of the open block, as it is now."""

    def __init__(self) -> None:
        self.block = trace().blocks[-1]
        self.count, self.last = len(self.block), self.block[-1:]

    def is_open(self) -> bool:
        """Whether what stands before it is still there, and can be read."""
        present = self.block[self.count - len(self.last) : self.count]
        is_current = all(map(operator.is_, present, self.last)) and len(present) == len(self.last)
        return is_current and any(self.block is b for b in trace().blocks)


def other_holders(holder: Any, memory: set[Any]) -> Iterator[Any]:
    """The stacks that hold arrays in this memory; not those that the same list was moved to on
    the other side of a test."""
    t = trace()
    owner = t.memory.loans.owners.get(holder)
    for h, held in t.memory.held.items():
        same_list = h is not holder and owner is not None and owner is t.memory.loans.owners.get(h)
        if not same_list and not all(t.memory.apart_by_tests(h, m) for m in memory & held):
            yield h


class Columns:
    """Elements appended in rolled loops: one stack for each leaf of an element."""

    def __init__(self, spec: Any, stack_symbols: list[Symbol], key: Any = None) -> None:
        self.spec, self.stacks = spec, stack_symbols
        self.key = key  # where the list is filled first, and its name
        self.identity = next(trace().serials) if key is None else key  # of which copies have others
        self.length: Size | None = 0  # None: not known
        trace().containers.tails.append(self)
        self.log: list[Any] = []  # for each appended element, the block that appended it
        self.loops: set[Any] = set()  # those that append to it
        self.inside: list[Any] = []  # the stacks that have the list as an element
        self.made: Any = None  # (stacks, place, arrays) of the last reading
        self.ragged = False  # whether lists in it may be longer than others
        self.alone = True  # whether each array in it was new, and in no list before
        self.site: Any = None  # where it was made of None alone, in whose places others may come
        self.exact = False  # whether numbers of other types are refused: the caller has the list
        self.numbers = ElementDtypes(self.items)

    @property
    def items(self) -> list[Type]:
        """The types of what the stacks hold."""
        return [symbol.type.item for symbol in self.stacks]  # type: ignore[attr-defined]

    def names(self, name: str) -> list[str]:
        """What the stacks are called of a list of this name."""
        return _names_by_attribute(self.spec, name)

    def lists(self) -> list[bool]:
        """Which stacks hold lists, as arrays: those are equally long, unless it is ragged."""
        if self.ragged:
            return [False] * len(self.stacks)
        is_list = [own_attribute(v, "listing") is not None for v in self.spec.leaf_values()]
        return is_list + [False] * (len(self.stacks) - len(is_list))  # or flags

    def uneven(self) -> list[bool]:
        """Which stacks hold arrays that need not be equally long."""
        pairs = zip(self.items, self.lists(), strict=True)
        return [
            not (all(map(dims.is_given, t.shape)) or (is_list and are_equally_long(t)))
            for t, is_list in pairs
        ]

    def is_uneven(self) -> bool:
        """Whether elements hold arrays that need not be equally long."""
        return any(self.uneven())

    def with_numbers(self, spec: Any, holder: Any) -> Any:
        """The structure of an element, with numbers for constants where the others have them."""
        return with_codes(spec, holder, self.spec) if has_codes(self.spec) else spec

    def check(self, spec: Any, stored: bool = False) -> None:
        """Refuses an element of another structure than the others; `stored`: it is put in the
        place of one."""
        if self.site is not None and not same_structure(spec, self.spec):
            trace().decisions.as_items(self.site)
        requirealike(spec, self.spec)
        for mine, new in zip(self.spec.leaf_values(), spec.leaf_values(), strict=True):
            _fit_lists(mine, new)
        types = [leaf.type for leaf in leaf_columns(spec)]
        self.fit(types)
        self.numbers.add(types, stored)

    def fit(self, types: list[Type]) -> None:
        """Lets the list hold numbers of these types too, from its start on; refuses other types."""
        if self.exact and [(t.dtype, t.weak) for t in types] != [*map(_number_of, self.items)]:
            raise UnsupportedError("a list that is given gets numbers of another type")
        common_types: list[Any] = [
            join_types(i, t, trace().joined) for i, t in zip(self.items, types, strict=True)
        ]
        for item, wide, new, fixed in zip(
            self.items, common_types, types, self.lists(), strict=True
        ):
            if _changes(item, wide, fixed) or (wide.dtype != item.dtype and item.shape):
                raise StructureError(
                    f"the elements appended to a list in a loop change from {item} to {new}"
                )
        pairs = zip(self.items, common_types, self.lists(), strict=True)
        loose = [() if fixed else _free_axes(item, wide) for item, wide, fixed in pairs]
        before, kinds = [*map(_number_of, self.items)], [*map(_number_of, common_types)]
        if kinds != before or any(loose):
            trace().decisions.widen(self.key, [*zip(kinds, loose, strict=True)])

    def with_stacks(self, stack_symbols: list[Symbol]) -> Columns:
        """Elements like these, in other stacks: as many as run-time values say."""
        others = Columns(self.spec, stack_symbols, self.key)
        others.identity, others.length = next(trace().serials), None
        others.numbers = self.numbers.copy()
        others.loops = {*self.loops, *trace().loops.rolling[-1:]}
        return others

    def copy(self) -> Columns:
        """The same elements, to which others are appended."""
        copied = self.with_stacks([Symbol(symbol.value()) for symbol in self.stacks])
        copied.length, copied.loops, copied.site = self.length, self.loops, self.site
        for old, new in zip(self.stacks, copied.stacks, strict=True):
            copied.meet(new.cell, trace().memory.holding(old.cell))
            trace().memory.hold(new.cell, trace().memory.holding(old.cell))
        return copied

    def leave_block(self, stack_symbols: list[Symbol]) -> None:
        """Goes on with these stacks, as they are known behind the side of a test that made the
        list."""
        self.stacks, self.made, self.length = stack_symbols, None, None

    def hold(self, spec: Any) -> None:
        """An array that the list holds shows through it when it is overwritten later."""
        for symbol, value in zip(self.stacks, spec.leaf_values(), strict=False):  # or a flag
            self.hold_leaf(symbol, value)

    def hold_leaf(self, stack: Symbol, value: Any) -> None:
        """The same of one leaf of an element."""
        if isinstance(value, Symbol) and value.mutable:
            self.meet(stack.cell, value.memory())
            trace().memory.hold(stack.cell, value.memory())

    def meet(self, holder: Any, memory: set[Any]) -> None:
        """Notes whether an array that is put in is somewhere else, or will be in other passes."""
        t = trace()
        passes = t.loops.began and holder.birth < t.loops.began[-1]
        again = passes and any(m.birth < t.loops.began[-1] for m in memory)
        others = list(other_holders(holder, memory))
        if again or others:
            self.alone = False
            if not t.memory.loans.given_back.isdisjoint((holder, *others)):
                raise AliasError(
                    "an array is put in a second place, or in one again, that a list has as well, "
                    "and what is stored to it goes through that list",
                    "put a copy there",
                )


class ElementDtypes:
    """The dtypes of the numbers that a list holds, column by column: float32 numbers and Python's
    floats are of float32 where one is read, and of float64 in an array of all."""

    def __init__(self, types: list[Type]) -> None:
        self.appended = [{_number_of(t)} for t in types]
        self.stored: list[set[tuple[Any, bool]]] = [set() for _ in types]

    def add(self, types: list[Type], stored: bool = False) -> None:
        """Notes numbers that are appended, or stored in the places of others."""
        for numbers, t in zip(self.stored if stored else self.appended, types, strict=True):
            numbers.add(_number_of(t))

    def update(self, other: ElementDtypes) -> None:
        """Notes the numbers of a list that is appended."""
        self.appended = [a | b for a, b in zip(self.appended, other.appended, strict=True)]
        self.stored = [a | b for a, b in zip(self.stored, other.stored, strict=True)]

    def copy(self) -> ElementDtypes:
        copied = ElementDtypes([])
        copied.appended, copied.stored = [*map(set, self.appended)], [*map(set, self.stored)]
        return copied

    def of_array(self, k: int) -> np.dtype[Any]:
        """The dtype of an array of column k. Where numbers of NumPy's are stored in a list of
        Python's, each of its places is taken to get one."""
        replaced = any(not weak for _, weak in self.stored[k])
        appended = [dtype for dtype, weak in self.appended[k] if not (weak and replaced)]
        return np.result_type(*appended, *(dtype for dtype, _ in self.stored[k]))


def _number_of(item: Type) -> tuple[Any, bool]:
    return item.dtype, item.weak


def _changes(item: Type, common: Type, fixed: bool) -> bool:
    """Whether elements differ in shape: not where the program relies on lengths being equal, nor
    where each one that is read has a length of its own, unless that is `fixed`."""
    axes = _differing(item, common, lambda a: fixed or dims.is_given(a))
    value = trace().value
    return any(fixed or value(common.shape[k]) is not None for k in axes)


def _free_axes(item: Type, common: Type) -> tuple[int, ...]:
    """The axes that are as long as an input in what a list held before, and not in what is
    appended, as run-time values say: each element gets lengths of its own."""
    return _differing(item, common, dims.is_given)


def _differing(item: Type, common: Type, told: Callable[[Size], bool]) -> tuple[int, ...]:
    value = trace().value
    pairs = enumerate(zip(item.shape, common.shape, strict=True))
    return tuple(
        k
        for k, (a, b) in pairs
        if a != b and told(a) and (value(a) is None or value(a) != value(b))
    )


def are_equally_long(item: Any) -> bool:
    """Whether lists in a list have one length, which numbers and lengths of the caller's say."""
    return all(trace().value(n) is not None for n in item.shape)


def _fit_lists(mine: Any, new: Any) -> None:
    """Lists that are elements of one hold numbers of one type, from their start on."""
    old, other = (own_attribute(x, "listing") for x in (mine, new))
    if old is not None and other is not None and old.items != other.items:
        old.fit(other.items)


def may_be_list(value: Any, source: Any) -> None:
    """Tells that an array may stand for the list that `source` stands for."""
    listing = own_attribute(source, "listing")
    if listing is not None and getattr(value, "cell", None) is not None:
        t, own = trace(), [symbol.cell for symbol in listing.stacks]
        others = (
            t.memory.memories_of(source.cell) & t.memory.either.keys()
        )  # of which it may be one already
        t.memory.may_be(value.cell, {*own, *listing.inside, *others})


def replace(stack: Symbol, new: Atom, moves: bool = True) -> None:
    """Gives a stack its next value; what the list held before stays as it is. `moves`: items may be
    at other places."""
    assert stack.cell is not None
    if moves:
        times = trace().memory.loans.moves
        times[stack.cell] = times.get(stack.cell, 0) + 1
    trace().touch(CellLocation(stack.cell))
    trace().memory.changed_list(stack.cell)
    stack.cell.atom = named_like(stack.cell.atom, new)


def position(k: Any) -> Atom:
    """An index into a list; refuses what lists do."""
    if isinstance(k, Symbol) and k.type.dtype.kind in "iub" and not k.type.shape:
        flag = k.type.dtype.kind == "b"
        return cast(k.value(), dtype=np.dtype(int), python=True) if flag else k.value()
    try:
        return atom(operator.index(k))
    except TypeError:
        raise TypeError(
            f"list indices must be integers or slices, not {type(k).__name__}"
        ) from None


def requirealike(a: Any, b: Any) -> None:
    if not same_structure(a, b):
        if differ_in_constants(a, b):
            trace().decisions.codable = True
        raise StructureError(
            "the elements appended to a list in a loop, or on one side of a test, are built "
            f"differently: {a.describe()} and {b.describe()}",
            "append elements of one kind, and keep functions and texts apart from them",
        )


def same_structure(a: Any, b: Any) -> bool:
    """Whether two elements are built alike, and hold the same where they hold no numbers."""
    if a.kind is not b.kind and a.kind != b.kind:
        return False
    if a.kind == "static":
        return a.value is b.value or is_same(a.value, b.value)
    return a.keys == b.keys and all(map(same_structure, a.children, b.children))


def is_list(spec: Any) -> bool:
    listing = spec.kind == "leaf" and own_attribute(spec.value, "listing") is not None
    return listing or (isinstance(spec.kind, type) and issubclass(spec.kind, list))


def as_long_as_data_says(spec: Any) -> bool:
    return spec.kind == "leaf" and not all(map(dims.is_given, spec.atom.type.shape[:1]))


def restart_as_rows(target: StagedList, spec: Any) -> None:
    """Where an empty list gets lists of different lengths: start again, with rows of its own."""
    key = target.grows_key
    if key is not None and key not in trace().decisions.rows and is_list(spec):
        trace().decisions.as_rows(key)


def _names_by_attribute(spec: Any, name: str) -> list[str]:
    """What the stacks are called that hold a list of this name: after attributes, too."""
    if not spec.children:
        return [name]
    named = [*zip(spec.keys, spec.children, strict=False)]
    by_attribute = name and all(isinstance(k, str) and k.isidentifier() for k, _ in named)
    names = [
        part
        for key, child in named
        for part in _names_by_attribute(child, f"{name}_{key}" if by_attribute else name)
        if [*child.leaves()]
    ]
    return names or [name]


def to_columns(target: StagedList, element: Any, complete: bool = False) -> None:
    """Moves the elements of `target` into stacks; `element` shows what will be appended, or is like
    all elements if the list is complete."""
    specs = [require_defined(flatten(v)) for v in list.__iter__(target)]
    if trace().decisions.codes:
        element = with_codes(element, target, shown=True)
        note_alone(element)
        specs = [with_codes(s, target, element) for s in specs]
    types = [a.type for a in leaf_columns(element)]
    if not all(same_structure(s, element) for s in specs) or as_long_as_data_says(element):
        restart_as_rows(target, element)
    for s in specs:
        requirealike(s, element)
        types = [
            join_types(t, a.type, trace().joined)
            for t, a in zip(types, leaf_columns(s), strict=True)
        ]
    key = trace().next_list(target.name)
    items = trace().decisions.widen_types(key, types)
    columns = [*zip(*map(leaf_columns, specs), strict=True)]
    leaves = columns
    if complete and all(a.type == item for a, item in _in_columns(columns, items)):
        stacks_made = [
            stacks.unstack(as_array(list(column)), weak=item.weak)
            for column, item in zip(columns, items, strict=True)
        ]
        columns = []
    else:
        stacks_made = [stacks.new_stack(item=item) for item in items]
    for stack, name in zip(stacks_made, _names_by_attribute(element, target.name), strict=True):
        stack.name = name
    for k, column in enumerate(columns):
        for leaf in column:
            stacks_made[k] = named_like(stacks_made[k], stacks.push(stacks_made[k], leaf))
    tail = Columns(element, list(map(Symbol, stacks_made)), key)
    tail.numbers = ElementDtypes([a.type for a in leaf_columns(element)])
    for s in specs:
        tail.numbers.add([a.type for a in leaf_columns(s)])
    tail.ragged = any(
        listing and len({a.type.shape for a in leaf}) > 1
        for leaf, listing in zip(leaves, tail.lists(), strict=False)
    )
    trace().memory.loans.owners |= {symbol.cell: target for symbol in tail.stacks}
    for s in specs:
        tail.hold(s)
    count = len(specs)
    refuse_iterators(target)
    present = list(target)
    target.clear()
    target.tail = tail
    for value in present:
        register_element(target, value)
    tail.length = count
