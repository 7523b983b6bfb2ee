"""Turns lists of arrays, of which nothing says how many there will be, or how long, into lists of
numbers.

for i in range(n): push(s, v) ... for i, reversed: v = pop(s)
    becomes      for i in range(n):
                     for k in range(len(v)): push(s, v[k])
                     push(lengths, len(v))
                 ...
                 for i, reversed:
                     length = pop(lengths)
                     for k in reversed(range(length)): v[k] = pop(s)

There is no list of lengths where all arrays have one shape, which arguments tell. Kernels have
memory for numbers that are put on a stack, however many there are, and none for lists of arrays,
which only Python keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.list_lengths import in_new_variables
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.sizes.size_equalities import comparison
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty, new_stack
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update
from tapeless.transforms.ops.primitives.stacks import POPS, pop, push

Vars = tuple[Var, ...]
Pair = tuple[Var, ...]  # a list of numbers, and the one of lengths where these differ
Pass = Callable[[Vars, Vars], tuple[list[Statement], Vars]]

COUNTS = StackType(INT)
LARGE = 1 << 14  # elements


def lists_of_numbers(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block with numbers in the place of arrays in lists that are only pushed to and popped.

    hints  the sizes of this call: arrays that are known to be large stay whole, as passes take long
           then, however they are made, and memory that doubles would be much
    """
    memory = Dependences()
    memory.learn(block)
    lets = (s for s in statements(block) if isinstance(s, Let))
    first_values = [s.outs[0] for s in lets if s.op is new_stack]
    lists = {v for v in first_values if _holds_arrays(v, hints)}
    lists = lists - _unsuitable_lists(memory, block) if lists else lists
    if not lists:
        return block
    return in_new_variables(_Numbers(memory, lists, _of_one_shape(memory, block)).block(block))


def has_lists(driver: Block) -> bool:
    """Whether a driver pushes numbers itself: then it is better to keep arrays in its lists."""
    return any(isinstance(s, Let) and s.op in (push, *POPS) for s in statements(driver))


def _holds_arrays(v: Any, hints: Mapping[dims.Symbol, int]) -> bool:
    """Whether a value is a list of arrays of numbers, not known to be large."""
    item = v.type.item if isinstance(v.type, StackType) else None
    if not isinstance(item, Type) or not item.shape or item.dtype.kind not in "biufc":
        return False
    count = dims.evaluate(dims.product(item.shape), hints)
    return count is None or count <= LARGE


def _of_one_shape(memory: Dependences, block: Block) -> set[Var]:
    """The lists whose arrays have one shape, which arguments tell, by their first values."""
    inner = [p for s in statements(block) for b in blocks(s) for p in b.params]
    held = [a for s in statements(block) for a in (*operands(s), *outputs(s))]
    shapes: dict[Var, set[Any]] = {}
    for v in (*inner, *held):
        if isinstance(v, Var) and isinstance(v.type, StackType) and isinstance(v.type.item, Type):
            shapes.setdefault(memory.cell(v), set()).add(v.type.item.shape)
    return {
        v
        for v, each in shapes.items()
        if len(each) == 1 and all(dims.is_given(n) for shape in each for n in shape)
    }


def _unsuitable_lists(memory: Dependences, block: Block) -> set[Var]:
    """The lists with which something else is done."""
    spoilt: list[Any] = [*block.params, *block.results]
    for s in statements(block):
        if isinstance(s, Let) and s.op in (push, *POPS):
            spoilt += s.args[1:]
        elif isinstance(s, (Let, Effect)):
            spoilt += s.args
        else:
            for same in _equated_values(s):
                lists = [a for a in same if isinstance(a, Var) and isinstance(a.type, StackType)]
                spoilt += same if len(set(map(memory.cell, lists))) > 1 else ()
    return {memory.cell(a) for a in spoilt if isinstance(a, Var) and isinstance(a.type, StackType)}


def _equated_values(s: Statement) -> Iterable[tuple[Atom, ...]]:
    """The values that stand for one another before, in and after a loop or a branch."""
    match s:
        case If():
            return zip(s.outs, s.then.results, s.orelse.results, strict=True)
        case For():
            return zip(s.outs, s.inits, s.carries, s.yields, strict=True)
        case While():
            tested, carried = s.test.params, s.body.params
            return zip(s.outs, s.inits, tested, carried, s.body.results, strict=True)
    return ()


class _Numbers:
    """Writes the program again.

    lists    those of arrays, by their first values
    alike    those of arrays of one shape, too, which need no list of lengths
    numbers  the lists of numbers, and those of lengths, in the place of a value of a list
    """

    def __init__(self, memory: Dependences, lists: set[Var], alike: set[Var]) -> None:
        self.memory, self.lists, self.alike = memory, lists, alike
        self.numbers: dict[Var, Pair] = {}

    def lists_for(self, a: Any) -> Pair | None:
        """The lists that stand for a value, if it is one of these."""
        if not isinstance(a, Var) or not isinstance(a.type, StackType):
            return None
        if self.memory.cell(a) not in self.lists:
            return None
        if a not in self.numbers:
            item = a.type.item
            self.numbers[a] = (Var(StackType(Type(item.dtype)), a.name),)
            if self.memory.cell(a) not in self.alike:
                counts = Var(COUNTS, f"{a.name}_lengths" if a.name else "lengths")
                self.numbers[a] += (counts,)
        return self.numbers[a]

    def all(self, atoms: tuple[Any, ...]) -> tuple[Any, ...]:
        """Values, with two lists in the place of each of these."""
        return tuple(b for a in atoms for b in (self.lists_for(a) or (a,)))

    def block(self, block: Block) -> Block:
        params = self.all(block.params)
        body = tuple(t for s in block.body for t in self.statement(s))
        return Block(params, body, self.all(block.results))

    def statement(self, s: Statement) -> Iterator[Statement]:
        match s:
            case Let():
                yield from self.let(s)
            case For():
                inits, outs = self.all(s.inits), self.all(s.outs)
                yield replace(s, body=self.block(s.body), inits=inits, outs=outs)
            case While():
                inits, outs = self.all(s.inits), self.all(s.outs)
                test, body = self.block(s.test), self.block(s.body)
                yield replace(s, test=test, body=body, inits=inits, outs=outs)
            case If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                yield replace(s, then=then, orelse=orelse, outs=self.all(s.outs))
            case _:
                yield s

    def let(self, s: Let) -> Iterator[Statement]:
        pair = self.lists_for(s.outs[0])
        if pair is None:
            yield s
        elif s.op is new_stack:
            for v in pair:
                yield replace(s, outs=(v,), params={"item": v.type.item})
        elif s.op is push:
            before = self.lists_for(s.args[0])
            assert before is not None
            yield from self.push_array(s, before, pair)
        else:
            before = self.lists_for(s.args[0])
            assert before is not None
            yield from self.pop_array(s, before, pair)

    def push_array(self, s: Let, before: Pair, after: Pair) -> Iterator[Statement]:
        """The numbers of an array in their order, then its lengths."""
        numbers, *more = before
        value = s.args[1]
        lengths: list[Atom] = []
        for n, m in zip(value.type.shape, s.args[0].type.item.shape, strict=True):
            if not more and n != m:
                yield from comparison(n, m, s.origin)
            length, statement = integer(n if more else m)
            yield from statement
            lengths.append(length)

        def entry(state: Vars, at: Vars) -> tuple[list[Statement], Vars]:
            (stack,) = state
            number, longer = Var(Type(value.type.dtype)), Var(stack.type)
            key = {"key": tuple(map(Slot, range(len(at))))}
            picked = Let((number,), index, (value, *at), key, s.origin)
            return [picked, Let((longer,), push, (stack, number), {}, s.origin)], (longer,)

        yield _loops(lengths, (numbers,), after[:1], entry, s, reverse=False)
        for counts in more:
            for k, length in enumerate(lengths):
                longer = after[1] if k == len(lengths) - 1 else Var(COUNTS)
                yield Let((longer,), push, (counts, length), {}, s.origin)
                counts = longer

    def pop_array(self, s: Let, before: Pair, after: Pair) -> Iterator[Statement]:
        """The lengths of the array that was pushed last, and its numbers."""
        numbers, *more = before
        array = s.outs[1]
        lengths: list[Any] = []
        shape: tuple[Size, ...] = s.args[0].type.item.shape
        for n in () if more else shape:
            length, statement = integer(n)
            yield from statement
            lengths.append(length)
        for counts in more:
            for k in range(array.type.ndim):
                shorter = after[1] if k == array.type.ndim - 1 else Var(COUNTS)
                lengths.insert(0, Var(INT, "length"))
                yield Let((shorter, lengths[0]), pop, (counts,), {}, s.origin)
                counts = shorter
            shape = tuple(var_size(n, 0) for n in lengths)
        room, full = (Var(Type(array.type.dtype, shape), array.name) for _ in range(2))
        params = {"shape": shape, "dtype": array.type.dtype}
        yield Let((room,), empty, (), params, s.origin)

        def entry(state: Vars, at: Vars) -> tuple[list[Statement], Vars]:
            stack, values = state
            shorter, stored = Var(stack.type), Var(values.type)
            number = Var(Type(values.type.dtype))
            key = {"key": tuple(map(Slot, range(len(at))))}
            taken = Let((shorter, number), pop, (stack,), {}, s.origin)
            store = Let((stored,), update, (values, number, *at), key, s.origin)
            return [taken, store], (shorter, stored)

        yield _loops(lengths, (numbers, room), (after[0], full), entry, s, reverse=True)
        yield Let((array,), identity, (full,), {}, s.origin)


def _loops(
    lengths: Sequence[Atom],
    inits: Vars,
    outs: Vars,
    entry: Pass,
    s: Let,
    reverse: bool,
    at: Vars = (),
) -> For:
    """Loops over all places of an array, the last axis innermost.

    entry  the statements for a place, and what they make of the carries
    """
    place, *carries = Var(INT), *(Var(v.type, v.name) for v in inits)
    if len(lengths) == 1:
        body, results = entry(tuple(carries), (*at, place))
    else:
        results = tuple(Var(v.type, v.name) for v in inits)
        rest = lengths[1:]
        body = [_loops(rest, tuple(carries), results, entry, s, reverse, (*at, place))]
    inside = Block((place, *carries), tuple(body), results)
    zero, step = atom(0), atom(1)
    return For(outs, zero, lengths[0], step, inits, inside, reverse=reverse, origin=s.origin)
