"""Finds how long lists of arrays are at each point of a program, by the passes of its loops.

us = [u]; for t in range(n): us.append(u)      becomes      len(us) is t + 1 inside, n + 1 behind
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Var,
    blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.lists.list_lengths import measured_length
from tapeless.transforms.lowering.lists.lists_of_arrays import GROWTH, ListsOfArrays
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.new_arrays import (
    new_stack,
    stack_length,
    zero_items,
)
from tapeless.transforms.ops.primitives.stacks import (
    POPS,
    peek,
    push,
    to_array,
    unstack,
)


def is_linear(size: Size, x: dims.Symbol) -> bool:
    """Whether a size is x, times something, plus something, so that it is least at an end of the
    range of x."""
    for factors, _ in dims.terms_of(size):
        held = [x in dims.symbols(dims.single(f)) for f in factors]
        if sum(held) > 1 or any(h and f is not x for h, f in zip(held, factors, strict=True)):
            return False
    return True


def with_a_pass(size: Size, start: Size, stop: Size) -> tuple[Size, Size]:
    """A size as it is where a loop makes a pass, and the last index of that loop.

    >>> n, i = dims.symbol("n"), dims.symbol("i")
    >>> with_a_pass(dims.maximum(n, 0) - i, 0, n)
    (r - i + 1, r)
    """
    more = dims.symbol("r", 0)  # than one pass
    for y in sorted(dims.symbols(stop) - dims.symbols(start), key=str):
        rest = stop - dims.single(y)
        if y not in dims.symbols(rest):
            return dims.substitute(size, {y: start + 1 + more - rest}.get), start + more
    return size, stop - 1


@dataclass
class ListLengths:
    """How long lists are, and which items are meant.

    lengths  of each value of a list
    places   of the item that a statement reads or stores, from the front
    changes  by how much a carry of a loop is longer after each pass
    indices  the symbols of loop indices, with where their ranges start and stop
    numbers  integers that are made of lengths
    measured lengths of arrays that are made of lists
    taken_at, pushed_at  by list: how long it is where it is made an array; where items go
    unknown  lists of which it is not known how long they are, or which item is meant
    """

    program: Block
    lists: ListsOfArrays
    lengths: dict[Var, Size] = field(default_factory=dict)
    places: dict[Let, Size] = field(default_factory=dict)
    changes: dict[Var, Size | None] = field(default_factory=dict)
    indices: dict[dims.Symbol, tuple[Size, Size]] = field(default_factory=dict)
    numbers: dict[Var, Size] = field(default_factory=dict)
    measured: dict[dims.Symbol, Size] = field(default_factory=dict)
    taken_at: dict[Any, list[Size]] = field(default_factory=lambda: defaultdict(list))
    pushed_at: dict[Any, list[Size]] = field(default_factory=lambda: defaultdict(list))
    unknown: set[Any] = field(default_factory=set)
    new: list[Var] = field(default_factory=list)  # what got the symbol of a size here

    def __post_init__(self) -> None:
        self.block(self.program)

    # -- numbers as sizes

    def number(self, a: Atom) -> Size | None:
        """An integer as a size, where it is made of lengths, parameters and loop indices."""
        if isinstance(a, Literal):
            return a.value if type(a.value) is int else None
        return self.numbers.get(a)

    def size_of_number(self, v: Var) -> Size:
        """The size that an integer variable stands for."""
        if v.size is None:
            self.new.append(v)
        return var_size(v)

    def forget(self) -> None:
        """Takes back the sizes of variables that got one here."""
        for v in self.new:
            v.size = None

    def parameter(self, a: Atom) -> Size | None:
        if isinstance(a, Var) and a in self.program.params and a.type.dtype.kind == "i":
            return self.size_of_number(a) if not a.type.shape else None
        return self.number(a)

    def note_number(self, s: Let) -> None:
        """Notes the value of an integer."""
        if s.op is size_value:
            self.numbers[s.outs[0]] = s.params["size"]
        elif s.op is stack_length and s.args[0] in self.lengths:
            self.numbers[s.outs[0]] = self.lengths[s.args[0]]  # type: ignore[index]
        elif s.op in (add, sub) and s.outs[0].type.weak and s.outs[0].type.dtype.kind == "i":
            a, b = map(self.parameter, s.args)
            if a is not None and b is not None:
                self.numbers[s.outs[0]] = a + b if s.op is add else a - b

    def rows(self, size: Size) -> Size:
        """The length of an axis, which may be that of a list that an array was made of."""
        return dims.substitute(size, self.measured.get)

    # -- lengths

    def block(self, block: Block) -> None:
        for s in block.body:
            if isinstance(s, Let):
                self.let(s)
            elif isinstance(s, For):
                self.loop(s)
            else:
                for b in blocks(s):
                    self.block(b)

    def let(self, s: Let) -> None:
        self.note_number(s)
        if s.op is new_stack:
            self.lengths[s.outs[0]] = 0
        elif s.op is zero_items and (n := self.parameter(s.args[0])) is not None:
            self.lengths[s.outs[0]] = n
        elif s.op is unstack:
            self.lengths[s.outs[0]] = self.rows(s.args[0].type.shape[0])
        elif s.op is to_array:
            self.note_array_length(s)
        elif s.op in GROWTH or s.op is peek:
            self.item(s)

    def note_array_length(self, s: Let) -> None:
        """Notes how long an array is that is made of a list."""
        length, symbol = self.lengths.get(s.args[0]), measured_length(s)  # type: ignore[arg-type]
        if length is None or (symbol is None and s.params["size"] != length):
            self.unknown.add(self.lists.group_of(s.args[0]))
        else:
            self.taken_at[self.lists.group_of(s.args[0])].append(length)
            self.measured |= {} if symbol is None else {symbol: length}

    def item(self, s: Let) -> None:
        """Notes the item that a statement is about, and how long the list is afterwards."""
        length = self.lengths.get(s.args[0])  # type: ignore[arg-type]
        place = None if length is None else self.place(s, length)
        if length is None or place is None:
            self.unknown.add(self.lists.group_of(s.args[0]))
            return
        self.places[s] = place
        if s.op is push:
            self.pushed_at[self.lists.group_of(s.args[0])].append(place)
        if s.op in GROWTH:
            self.lengths[s.outs[0]] = length + GROWTH[s.op]

    def place(self, s: Let, length: Size) -> Size | None:
        """Where the item is; None if it may not be there."""
        if s.op is push:
            return length
        at = -1 if s.op in POPS else self.parameter(s.args[1])
        if at is None:
            return None
        at = length + at if isinstance(at, int) and at < 0 else at
        return at if self.never_negative(at) and self.never_negative(length - at - 1) else None

    def never_negative(self, size: Size) -> bool:
        """Whether a size that is linear in loop indices is 0 at least, at all ends of the loops;
        those of inner loops come first, as where these start and stop may depend on the others."""
        symbols = dims.symbols(size)
        x = next((x for x in reversed(self.indices) if x in symbols), None)
        if x is None:
            return dims.at_least(size, 0)
        if not is_linear(size, x):
            return False
        start, stop = self.indices[x]
        size, last = with_a_pass(size, start, stop)
        return all(
            self.never_negative(dims.substitute(size, {x: end}.get)) for end in (start, last)
        )

    def loop(self, s: For) -> None:
        start, stop = self.parameter(s.start), self.parameter(s.stop)
        if start is not None and stop is not None:
            # a symbol of our own: where sizes are inferred, indices without one are looked through
            least = start if isinstance(start, int) else None
            i = dims.symbol(s.index.name or "i", least, s.index)
            (symbol,) = dims.symbols(i)
            self.indices[symbol], self.numbers[s.index] = (start, stop), i
            passes = dims.maximum(stop - start, 0)
            gone = passes - 1 - (i - start) if s.reverse else i - start
            for init, p, out in zip(s.inits, s.carries, s.outs, strict=True):
                change, before = self.change(s, p), self.lengths.get(init)  # type: ignore[arg-type]
                if change is not None and before is not None:
                    self.lengths[p] = before + change * gone
                    self.lengths[out] = before + change * passes
        self.block(s.body)

    def change(self, s: For, p: Var) -> Size | None:
        """By how much a list that a loop carries is longer after a pass."""
        if p not in self.changes:
            relative: dict[Atom, Size] = {p: 0}
            for t in s.body.body:
                if isinstance(t, Let) and t.op in GROWTH and t.args[0] in relative:
                    relative[t.outs[0]] = relative[t.args[0]] + GROWTH[t.op]
                elif isinstance(t, For):
                    self.note_inner_loop(t, relative)
            self.changes[p] = relative.get(s.yields[s.carries.index(p)])
        return self.changes[p]

    def note_inner_loop(self, s: For, relative: dict[Atom, Size]) -> None:
        """Notes how long lists are after an inner loop, if its passes are always as many."""
        start, stop = self.parameter(s.start), self.parameter(s.stop)
        for init, p, out in zip(s.inits, s.carries, s.outs, strict=True):
            change = self.change(s, p) if init in relative else None
            if change is None:
                continue
            if start is None or stop is None:
                if change == 0:
                    relative[out] = relative[init]
                continue
            total = change * dims.maximum(stop - start, 0)
            if not dims.symbols(total) & self.indices.keys():
                relative[out] = relative[init] + total

    # -- arrays

    def shape(self, root: Any) -> tuple[Size, ...] | None:
        """The shape of the array of a list; None if it is not known where the list is made."""
        values = self.lists.members[root]
        if root in self.unknown or not all(v in self.lengths for v in values):
            return None
        lengths = [self.lengths[v] for v in values if v in self.lists.top]
        room = next((n for n in lengths if all(dims.at_least(n, m) for m in lengths)), None)
        if room is None or not self.is_known_first(room):
            return None
        if not all(map(self.is_known_first, self.taken_at[root])):
            return None
        if not all(self.never_negative(room - place - 1) for place in self.pushed_at[root]):
            return None
        return (room, *values[0].type.item.shape)

    def is_known_first(self, size: Size) -> bool:
        """Whether a length is known where the program begins."""
        return all(x.given or x.var in self.program.params for x in dims.symbols(size))
