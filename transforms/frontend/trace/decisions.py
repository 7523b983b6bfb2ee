"""Records what earlier attempts at staging have decided, for the next attempt."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import Signal, StructureError, UnsupportedError

MANY_KEYS = 32  # of one dictionary, of which run-time values decide which are there
MANY_LISTS = 4  # of one line that get other types: after so many all of the line get them


@dataclass
class Decisions:
    """What earlier attempts found must be known: values of inputs, lengths of axes, loops."""

    leaves: set[int] = field(default_factory=set)
    axes: set[tuple[Any, int]] = field(default_factory=set)  # of leaves, and of arrays from outside
    contents: set[str] = field(default_factory=set)  # names of integers from outside, and of tables
    changing: frozenset[str] = frozenset()  # names of numbers from outside that are inputs
    unroll: dict[Any, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)  # what to do, by why loops are unrolled
    wider: dict[Any, list[Any]] = field(default_factory=dict)  # types of what lists hold
    outlines: bool = True  # functions that are called often become functions of the program
    recursive: set[Any] = field(default_factory=set)  # code that becomes a function of the program
    counts: bool = True  # functions that call themselves often become such
    counted: bool = False  # one did, or a loop is kept
    stretching: set[Any] = field(default_factory=set)  # loops that stretch axes of length one
    following: set[Any] = field(default_factory=set)  # loops that change the list they run over
    kept: set[Any] = field(default_factory=set)  # long loops of known numbers that stay loops
    homes: dict[dims.Symbol, tuple[Any, int]] = field(
        default_factory=dict
    )  # symbol -> leaf, axis (-1: value)
    attempts: set[Any] = field(default_factory=set)  # try statements that catch run-time errors
    unlike: set[Any] = field(default_factory=set)  # lists of None that get other items
    rows: set[Any] = field(default_factory=set)  # lists of lists, by where they are made
    keyed: dict[Any, bool] = field(default_factory=dict)  # dicts and sets: whether of lists
    optional: dict[Any, tuple[Any, ...]] = field(default_factory=dict)  # known keys, not all there
    in_order: set[Any] = field(default_factory=set)  # dicts whose keys must come in a known order
    numbered: set[Any] = field(default_factory=set)  # dicts that count the keys which are put in
    placeholders: dict[Any, Any] = field(default_factory=dict)  # values of keys that are not there
    lengths: bool = False  # lists that get objects under tests have lengths, and no flags
    lengthened: set[Any] = field(default_factory=set)  # filtered lists that are used as lists
    stored: bool = False  # arrays that libraries make belong to the program: it stores to one
    exact: bool = False  # branches and loops carry which memory arrays are in
    identities: bool = False  # branches and loops carry which containers variables stand for
    aliased: bool = False  # an array was read that a store may have changed
    tables: bool = True  # lists of a number that is repeated often become stacks
    tabled: bool = False  # one did
    values: set[str] = field(default_factory=set)  # classes whose objects loops replace, by name
    replaces: bool = True  # a loop may take such for what they hold
    records: bool = True  # generators that the program makes may draw when it runs
    recorded: bool = False  # they do
    compact: bool = False  # known items of lists lie in arrays, for loops over them
    many_passes: bool = False  # items at the index of a loop of many passes are run-time values
    compacts: bool = True  # both may be so
    codes: bool = False  # lists that loops fill have numbers for texts and objects
    codable: bool = False  # they could have them
    moves_lists: bool = True  # lists that others take the place of in loops move to stacks
    moved_lists: bool = False  # some have
    observing: bool = False  # values of the call at hand are read where Python needs them
    traced: bool = False  # tests and loops go the way that they go in the call at hand

    def _refuse_arrays(self, kind: str) -> None:
        """A container is not put into arrays where the call at hand says what is meant."""
        if self.observing:
            raise UnsupportedError(f"run-time values say which part of a {kind} is meant")

    def changes_moved_list(self) -> None:
        """A list by run-time values is changed, which arrays are not: start again, with lists that
        stay lists, if the loops that others would take their place in have made it one."""
        if self.moves_lists and self.moved_lists:
            self.moves_lists = False
            raise Restart

    def stretches(self, loop: Any) -> None:
        """An axis that is of length one at first is stretched: start again, with passes apart."""
        self.stretching.add(loop)
        raise Restart

    def as_rows(self, site: Any) -> None:
        """Data says which of the lists in a list is meant: start again, with arrays that say which
        item is in which."""
        self._refuse_arrays("list")
        self.rows.add(site)
        raise Restart

    def as_items(self, site: Any) -> None:
        """A list that was made of None alone gets something else: start again, with one of
        Python's, whose length must be known."""
        self.unlike.add(site)
        raise Restart

    def as_keyed(self, site: Any, lists: bool = False) -> None:
        """Data says which key of a dictionary, or member of a set, is meant: start again, with
        lists of them."""
        self._refuse_arrays("dictionary or set")
        self.keyed[site] = lists
        raise Restart

    def as_optional(self, site: Any, keys: tuple[Any, ...]) -> None:
        """Data says which of some known keys a dictionary has: start again, with a truth value for
        each; and with the order in which they came, if that was tried, and it was needed."""
        self._refuse_arrays("dictionary or set")
        if site in self.in_order:
            self.numbered.add(site)
        before = self.optional.get(site, ())
        names = tuple(dict.fromkeys((*before, *keys)))
        if len(names) > MANY_KEYS or len(names) == len(before):
            raise UnsupportedError(
                f"data decides which of more than {MANY_KEYS} keys a dictionary or set has",
                "number them, and keep arrays of what belongs to each",
            )
        self.optional[site] = names
        raise Restart

    def as_in_order(self, site: Any) -> None:
        """The order of such keys is needed, which data decides: start again, without truth values
        for them; where loops are written out, the order may be known."""
        del self.optional[site]
        self.in_order.add(site)
        raise Restart

    def as_valued(self, site: Any, placeholder: Any) -> None:
        """Values of keys that are not there are needed, of one kind with those that are: start
        again with this one for them."""
        self.placeholders[site] = placeholder
        raise Restart

    def by_length(self) -> None:
        """A list that gets objects under tests is used in other ways than by loops: start again,
        with lists of several lengths."""
        self.lengths = True
        raise Restart

    def as_lengths(self, site: Any) -> None:
        """A list of the objects that pass a test is used in other ways than by loops: start again,
        with one that has several lengths."""
        self.lengthened.add(site)
        raise Restart

    def store(self) -> None:
        """The program stores to an array that a library made: start again, with all of them as
        arrays of the program."""
        self.stored = True
        raise Restart

    def recurse(self, code: Any) -> None:
        """A function calls itself to a run-time depth: start again, calling it by name."""
        if self.traced:
            raise UnsupportedError("a function calls itself to a depth that run-time values decide")
        self.recursive.add(code)
        raise Restart

    def keep(self, loop: Any) -> None:
        """A loop of known numbers makes very many passes: start again, with the loop recorded."""
        if self.counts and loop not in self.kept and loop not in self.unroll:
            self.kept.add(loop)
            self.counted = True
            raise Restart

    def follow(self, loop: Any) -> None:
        """A loop changes how long the list is that it runs over: start again, with a loop that
        asks before each pass."""
        if loop in self.following:
            raise UnsupportedError("a list is changed by the loop that runs over it")
        self.following.add(loop)
        raise Restart

    def as_values(self, cls: type) -> None:
        """Each pass of a loop puts a new object of a class in the place of the old one: start
        again, with objects of it taken for what they hold, as dataclasses are. A class that the
        program defines is another one each time."""
        if self.replaces and not self.traced and not self.is_value(cls):
            self.values.add(cls.__qualname__)
            raise Restart

    def is_value(self, cls: type) -> bool:
        """Whether objects of a class are taken for what they hold."""
        return bool(self.values) and cls.__qualname__ in self.values

    def compact_code(self) -> None:
        """Loops over known items are unrolled into long code: start again, with such items in
        arrays, so that loops stay loops."""
        if self.compacts and not (self.compact or self.observing or self.traced):
            self.compact = True
            raise Restart

    def record_draws(self) -> None:
        """A generator that the program makes draws under run-time tests, or has a run-time seed:
        start again, with all of them made when the program runs."""
        if self.records and not self.recorded and not self.observing:
            self.recorded = True
            raise Restart

    def attempt(self, statement: Any) -> None:
        """Data decides what a try statement catches: start again, with a run for each way."""
        self.attempts.add(statement)
        raise Restart

    def unroll_all(self, loops: dict[Any, str]) -> None:
        """Start again with these loops unrolled, if they were not."""
        if loops.keys() - self.unroll.keys():
            self.unroll |= loops
            raise Restart

    def widen(self, key: Any, kinds: list[Any]) -> None:
        """A list gets numbers of another type later, or arrays of other lengths: start again, with
        a type for both. `kinds` are the dtypes, and the axes whose lengths differ."""
        if sum(other[:-1] == key[:-1] for other in self.wider) >= MANY_LISTS:
            key = key[:-1]  # for all that are made there
        before = self.wider.get(key)
        if before is not None and len(before) == len(kinds):
            kinds = [*map(_wider_kind, kinds, before)]
        if before == kinds:
            raise StructureError("the types of the elements of a list do not settle")
        self.wider[key] = kinds
        raise Restart

    def widen_types(self, key: Any, types: list[Type]) -> list[Type]:
        """The types of what a list holds from its start on, where it begins with these."""
        kinds = self.wider.get(key[:-1]) or self.wider.get(key) or []
        if len(kinds) != len(types):
            return types
        wider = []
        for t, ((dtype, weak), axes) in zip(types, kinds, strict=True):
            shape = [dims.symbol("n", 0) if k in axes else n for k, n in enumerate(t.shape)]
            wider.append(Type(t.dtype, tuple(shape), t.weak) if shape else Type(dtype, (), weak))
        return wider

    def fix_sizes(self, symbols: set[dims.Symbol]) -> None:
        """An axis whose length must be known after all: start again with it."""
        for s in symbols:
            if s not in self.homes:
                raise UnsupportedError(
                    f"the size {s} is one in this call, and not made from those of the arguments"
                )
            leaf, axis = self.homes[s]
            if axis < 0 and isinstance(leaf, tuple):
                self.contents.add(leaf[1])
            elif axis < 0:
                self.leaves.add(leaf)
            else:
                self.axes.add((leaf, axis))
        raise Restart


def _wider_kind(kind: Any, before: Any) -> Any:
    """The dtype, and the axes of different lengths, of what is of one kind or of another."""
    ((dtype, weak), axes), ((old_dtype, was_weak), old_axes) = kind, before
    return (np.result_type(dtype, old_dtype), weak and was_weak), tuple({*axes, *old_axes})


class Restart(Signal):
    """Stage again with the decisions made so far."""
