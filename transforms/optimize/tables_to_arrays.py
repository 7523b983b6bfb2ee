"""Turns tables that are written as lists of lists into arrays, where their lengths are known.

table = [[0] * n for _ in range(m)]; table[i][j] = v
    becomes      table = zeros((m, n)); table[i, j] = v
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, current, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    free_variables,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import reads_of, sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.index_keys import Slot
from tapeless.transforms.ops.primitives.new_arrays import new_stack, stack_length, zeros
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast
from tapeless.transforms.ops.primitives.slices_and_gathers import index, update
from tapeless.transforms.ops.primitives.stacks import peek, push, set_item, to_array, unstack
from tapeless.transforms.optimize.disjoint_sets import Groups, possible_values
from tapeless.transforms.optimize.loop_carries import carries, yields


def tables_to_arrays(block: Block, numbers: bool = False) -> Block:
    """The block in which lists of rows are arrays, where that changes nothing but their form; with
    `numbers`, lists of numbers too: Python reads those faster than arrays, compiled code does not.
    All but those lists keep their names.
    """
    if not any(_is_table(s, numbers) for s in statements(block)):
        return block
    with building(Builder()) as b:
        b.definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
        lists = ListValues(block)
        chosen = lists.choose(numbers)
        return Rewriting(lists, chosen).block(block) if chosen else block


def _is_table(s: Statement, numbers: bool) -> bool:
    """Whether a statement makes a list of rows; with `numbers`, or reads one of numbers."""
    t = s.outs[0].type if s.outs else None
    rows = isinstance(t, StackType) and isinstance(t.item, Type) and bool(t.item.shape)
    return rows or (numbers and isinstance(s, Let) and s.op in (peek, set_item))


@dataclass(eq=False)
class List:
    """What all the values of one list of the program have in common.

    origins  what makes it
    fills    the loops that fill it
    lengths  how long it is, by all that say so
    arrays   what it is made from, and what is made from it
    stores   whether items are put in it one by one
    """

    item: Type
    origins: list[Let] = field(default_factory=list)
    pushes: int = 0
    fills: list[For] = field(default_factory=list)
    lengths: set[Size] = field(default_factory=set)
    arrays: set[Atom] = field(default_factory=set)
    plain: bool = True
    stores: bool = False

    def fits(self) -> bool:
        """Whether it always has the same length, and so have its items, and that is known."""
        fresh = sum(s.op is new_stack for s in self.origins)
        filled = fresh == self.pushes == len(self.fills) <= 1
        alike = not self.stores or all(x.given for x in sizes_in(self.item))
        return self.plain and alike and filled and len(self.lengths) == 1

    @property
    def type(self) -> Type:
        """That of the array."""
        (length,) = self.lengths
        return Type(self.item.dtype, (length, *self.item.shape))


class ListValues:
    """The lists of a program, and which values are theirs."""

    def __init__(self, program: Block) -> None:
        self.program = program
        self.uses = reads_of(program)
        new_lists = (s for s in statements(program) if isinstance(s, Let) and s.op is new_stack)
        self.empty = {s.outs[0] for s in new_lists}
        self.groups = Groups()
        for s in statements(program):
            for group in possible_values(s):
                self.groups.join(group)
            if isinstance(s, Let) and s.op in (push, set_item):
                self.groups.join((s.outs[0], s.args[0]))
        self.lists: dict[Var, List] = {}
        self.spoil(*program.params, *program.results, *free_variables(program))
        for s in statements(program):
            self.learn(s)

    def list_of(self, a: Atom) -> List | None:
        """The list that a value belongs to; none for a list of lists, which stays one."""
        if isinstance(a, Var) and isinstance(a.type, StackType) and isinstance(a.type.item, Type):
            return self.lists.setdefault(self.groups.find(a), List(a.type.item))
        return None

    def spoil(self, *atoms: Atom) -> None:
        for a in atoms:
            if (its := self.list_of(a)) is not None:
                its.plain = False

    def learn(self, s: Statement) -> None:
        if isinstance(s, Let):
            self.let(s)
        elif isinstance(s, Effect):
            self.spoil(*s.args)
        else:
            if isinstance(s, For):
                self.loop(s)
            for out, *ends in _ends(s):
                if not all(isinstance(a, Var) for a in ends):
                    self.spoil(out)  # on one side it is not there

    def let(self, s: Let) -> None:
        result_list = self.list_of(s.outs[0]) if s.outs else None
        read = self.list_of(s.args[0]) if s.args else None
        self.spoil(*s.args[1:], *s.outs[1:])  # a list in a list, for one
        if s.op in (push, set_item) and read is not None:
            read.stores = True
        if s.op in (new_stack, unstack) and result_list is not None:
            result_list.origins.append(s)
            if s.op is unstack:
                result_list.arrays.add(s.args[0])
                result_list.lengths.add(s.args[0].type.shape[0])
        elif s.op is push and read is not None:
            read.pushes += 1
        elif s.op is to_array and read is not None:
            read.arrays.add(s.outs[0])
            read.lengths.add(s.params["size"])
        elif s.op is peek:
            self.spoil(*s.outs)  # an item that is a list belongs to others, too
        elif s.op not in (set_item, stack_length):
            self.spoil(*s.args, *s.outs)

    def loop(self, s: For) -> None:
        """A loop that does nothing with a list but to fill it."""
        steady = s.step == Literal(1, s.step.type) and not (s.until or s.reverse or s.each)
        for init, carry, end in zip(s.inits, s.carries, s.yields, strict=True):
            filled = self.list_of(carry)
            if filled is None or not steady or filled_by(s, carry, end) is None:
                continue
            if init not in self.empty:  # a loop around it fills it, too
                continue
            if all(self.uses[v] == 1 for v in (init, carry, end) if isinstance(v, Var)):
                filled.fills.append(s)
                filled.lengths.add(dims.maximum(size_of(s.stop) - size_of(s.start), 0))

    def choose(self, numbers: bool) -> set[List]:
        """Those that become arrays: lists of rows, and the rows where they are lists of numbers;
        with `numbers`, all whose lengths are known before the loops that they are made in."""
        fit = [x for x in self.lists.values() if x.fits()]
        if numbers:
            outer = (v for s in self.program.body for v in outputs(s))
            top = {*self.program.params, *free_variables(self.program), *outer}
            return {x for x in fit if x.item.shape or _length_variables(x.lengths) <= top}
        rows = {x for x in fit if x.item.shape}
        theirs: set[Atom] = set()
        for s in statements(self.program):
            if isinstance(s, Let) and s.args and self.list_of(s.args[0]) in rows:
                theirs.update(s.outs if s.op is peek else s.args[1:])
        flat = [x for x in fit if not x.item.shape and not x.fills]
        return rows | {x for x in flat if not x.arrays.isdisjoint(theirs)}


def _length_variables(lengths: Iterable[Size]) -> set[Var]:
    """The integers that lengths are made of."""
    return {x.var for n in lengths for x in dims.symbols(n) if x.var is not None}


def _ends(s: If | For | While) -> Iterator[tuple[Atom, ...]]:
    """Each result, with what it is at the end of a side or a pass."""
    sides = [s.then.results, s.orelse.results] if isinstance(s, If) else [yields(s)]
    return zip(s.outs, *sides, strict=True)


def filled_by(s: For, carry: Var, end: Atom) -> Let | None:
    """What gives a list its next item in each pass of a loop."""
    for t in s.body.body:
        if isinstance(t, Let) and t.op is push and t.args[0] is carry and t.outs[0] is end:
            return t
    return None


class Rewriting:
    """Writes a program with arrays in the place of some lists."""

    def __init__(self, lists: ListValues, chosen: set[List]) -> None:
        self.lists, self.chosen = lists, chosen
        self.filling: dict[Let, For] = {}  # what gives a list its next item, and where
        self.new: dict[Var, Atom] = {}

    def array_of(self, a: Atom) -> List | None:
        """The list of a value, if it becomes an array."""
        row_list = self.lists.list_of(a)
        return row_list if row_list in self.chosen else None

    def atom(self, a: Any) -> Any:
        its = self.array_of(a)
        if its is None:
            return a
        if a not in self.new:
            self.new[a] = Var(its.type, a.name, a.origin)
        return self.new[a]

    def atoms(self, atoms: Iterable[Atom]) -> tuple[Any, ...]:
        return tuple(map(self.atom, atoms))

    def block(self, block: Block) -> Block:
        params = self.atoms(block.params)
        with current().block() as body:
            for s in block.body:
                current().origin = s.origin
                self.statement(s)
        return Block(params, tuple(body), self.atoms(block.results))

    def statement(self, s: Statement) -> None:
        if isinstance(s, Let) and self.array_of(s.outs[0]) is not None:
            if s.op is not new_stack and s.outs[0] not in self.new:  # their loops make those
                self.new[s.outs[0]] = self.store(s)
        elif isinstance(s, Let) and s.args and self.array_of(s.args[0]) is not None:
            let = self.read(s)
            current().let(s.outs, let.op, let.args, let.params)
        elif isinstance(s, (Let, Effect)):
            current().emit(s)
        else:
            rewritten = self.loop(s) if isinstance(s, For) else s
            rewritten = replace(rewritten, outs=self.atoms(rewritten.outs))
            if not isinstance(rewritten, If):
                rewritten = replace(rewritten, inits=self.starts(rewritten))
            current().emit(with_blocks(rewritten, self.block))

    def starts(self, s: For | While) -> tuple[Atom, ...]:
        """What the carries of a loop begin with; lists that are made inside, with nothing."""
        pairs = zip(s.inits, self.atoms(carries(s)), strict=True)
        return tuple(
            Literal(None, new.type) if isinstance(a, Literal) and a.value is None else self.atom(a)
            for a, new in pairs
        )

    def store(self, s: Let) -> Any:
        """The array after an item was stored, or put at the end."""
        x, *rest = self.atoms(s.args)
        if s.op is unstack:
            return x
        if s.op is push:
            loop = self.filling[s]
            from_zero = isinstance(loop.start, Literal) and loop.start.value == 0
            rest = [loop.index if from_zero else loop.index - loop.start, *rest]
        k, value = rest
        key, places = key_of(k)
        return update(x, value, *places, key=key)

    def read(self, s: Let) -> Let:
        """What gives the same value from the array."""
        x, *rest = self.atoms(s.args)
        if s.op is stack_length:
            return Let(s.outs, size_value, (), {"size": x.type.shape[0]})
        if s.op is to_array:
            return Let(s.outs, identity, (x,))
        key, places = key_of(*rest)
        item = s.outs[0].type
        if not item.weak:
            return Let(s.outs, index, (x, *places), {"key": key})
        element = index(x, *places, key=key)
        return Let(s.outs, cast, (element,), {"dtype": item.dtype, "python": True})

    def loop(self, s: For) -> For:
        """A loop without the lists that it fills with one number, which are arrays of it; before
        it the arrays that it fills."""
        other_carries = []
        for k, (init, carry, end) in enumerate(zip(s.inits, s.carries, s.yields, strict=True)):
            its = self.array_of(carry)
            item = None if its is None else filled_by(s, carry, end)
            if its is None or item is None:
                other_carries.append(k)
            elif (number := number_of(item.args[1], s.body)) is None:
                other_carries.append(k)
                self.filling[item] = s
                self.new[init] = zeros(shape=its.type.shape, dtype=its.item.dtype)  # type: ignore[index]
            else:
                whole = broadcast_to(number, shape=its.type.shape)
                whole.name = s.outs[k].name
                self.new[s.outs[k]] = self.new[carry] = self.new[item.outs[0]] = whole
        if len(other_carries) == len(s.outs):
            return s
        outs, carries = (tuple(all_of[k] for k in other_carries) for all_of in (s.outs, s.carries))
        inits, ends = (tuple(all_of[k] for k in other_carries) for all_of in (s.inits, s.yields))
        body = Block((s.index, *carries), s.body.body, ends)
        return replace(s, outs=outs, inits=inits, body=body)


def key_of(k: Atom) -> tuple[Any, tuple[Atom, ...]]:
    """The key of one place on the first axis, and what it reads."""
    return ((k.value,), ()) if isinstance(k, Literal) else ((Slot(0),), (k,))


def number_of(item: Atom, body: Block) -> Literal | None:
    """The number that a row has in all places, whichever pass makes it."""
    definitions = {s.outs[0]: s for s in body.body if isinstance(s, Let)}
    while isinstance(item, Var) and (let := definitions.get(item)) is not None:
        if let.op is broadcast_to and isinstance(let.args[0], Literal):
            return let.args[0]
        if let.op not in (to_array, unstack):
            return None
        item = let.args[0]
    return None
