"""Writes loops and branches whose arrays of changing lengths lie in memory that stays.

v = f(v)      becomes      v = memory[:length]; v = f(v); length = len(v); memory[:length] = v
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import axes
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    is_undefined,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.lists.bounded_lengths import (
    Bound,
    Shown,
    changing_axes,
    is_shown,
)
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.stored_arrays import ListedArray, StoredArray
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.joining import concatenate

Array = StoredArray | ListedArray
Integers = dict[dims.Symbol, Atom]


def hidden_lengths(v: Var, shown: Shown) -> set[dims.Symbol]:
    """The lengths in the type of an array that nothing before shows."""
    return {x for x in sizes_in(v.type) if not is_shown(x, shown)}


def carried_rows(s: For | While) -> list[tuple[Any, ...]]:
    """Each carry of a loop: its parameter, what it starts from, what it becomes, and the result."""
    params, yields = (
        (s.carries, s.yields) if isinstance(s, For) else (s.body.params, s.body.results)
    )
    return list(zip(params, s.inits, yields, s.outs, strict=True))


def _length_variables(most: Mapping[dims.Symbol, Size | None]) -> dict[dims.Symbol, Var]:
    """Integers for lengths, of which bounds are known."""
    variables = {x: Var(INT, "length") for x in most}
    for x, v in variables.items():
        v.size = dims.symbol("length", 0, v, upper=most[x])
    return variables


def _as_integers(lengths: Mapping[dims.Symbol, Size]) -> tuple[Integers, list[Statement]]:
    """Lengths as values, and the statements that compute them."""
    values: Integers = {}
    statements: list[Statement] = []
    for x, n in lengths.items():
        values[x], lets = integer(n)
        statements += lets
    return values, statements


def array_in_memory(v: Var, where: Mapping[int, dims.Symbol], most: Any, origin: Any) -> Array:
    """Where an array lies: in a list if it has a length of which no bound is known."""
    if any(most.get(x) is None for x in where.values()):
        return ListedArray(v.type, where, origin)
    return StoredArray(v.type, where, most, origin)


class BranchInMemory:
    """Writes one branch, whose sides store arrays of different lengths to the same memory.

    arrays  those, by the number of the result
    """

    def __init__(
        self, branch: If, greatest: Mapping[dims.Symbol, Size], shown: Shown, lists: bool
    ) -> None:
        """`lists` says whether arrays may lie in lists."""
        self.branch = branch
        self.arrays: dict[int, Array] = {}
        for k, v in enumerate(branch.outs):
            where = dict(changing_axes(v, shown))
            symbols = set(where.values())
            is_told = symbols == hidden_lengths(v, shown) and (lists or symbols <= greatest.keys())
            is_set = not any(is_undefined(b.results[k]) for b in (branch.then, branch.orelse))
            if where and is_told and is_set:
                self.arrays[k] = array_in_memory(v, where, greatest, branch.origin)
        every = {x for array in self.arrays.values() for x in array.where.values()}
        in_order = sorted(every, key=lambda x: x.uid)
        self.lengths = _length_variables({x: greatest.get(x) for x in in_order})

    def statements(self, kept: AbstractSet[Atom]) -> list[Statement]:
        """The branch and what is around it.

        kept  values that need memory of their own
        """
        branch = self.branch
        memory = {k: a.memory(branch.outs[k]) for k, a in self.arrays.items()}
        outs = [*branch.outs]
        behind: list[Statement] = []
        for k, array in self.arrays.items():
            v = branch.outs[k]
            outs[k] = array.memory(v)
            behind += array.result(v, outs[k], self.lengths, v in kept, top=False)
        new = replace(
            branch,
            outs=(*outs, *self.lengths.values()),
            then=self.side(branch.then, memory),
            orelse=self.side(branch.orelse, memory),
        )
        return [*(a.allocate(memory[k]) for k, a in self.arrays.items()), new, *behind]

    def side(self, block: Block, memory: Mapping[int, Var]) -> Block:
        """A side that stores its arrays, and gives their lengths."""
        lengths, last = _as_integers(_sizes(self.arrays, block.results))
        results = [*block.results]
        for k, array in self.arrays.items():
            results[k], lets = array.store(memory[k], block.results[k], lengths, None)
            last += lets
        every = (*results, *(lengths[x] for x in self.lengths))
        return replace(block, body=(*block.body, *last), results=every)


def _sizes(arrays: Mapping[int, Array], values: Any) -> dict[dims.Symbol, Size]:
    """How long arrays are, by the symbols of their lengths."""
    sizes: dict[dims.Symbol, Size] = {}
    for k, array in arrays.items():
        for axis, x in array.where.items():
            sizes.setdefault(x, values[k].type.shape[axis])
    return sizes


class LoopInMemory:
    """Writes one loop.

    lengths  those that change, by their symbols
    arrays   those that have them, by the number of the carry
    results  the lengths behind the loop that nothing else shows, and what they are in a pass
    """

    def __init__(
        self, loop: For | While, lengths: Mapping[dims.Symbol, Bound | None], shown: Shown
    ) -> None:
        self.loop, self.lengths = loop, lengths
        self.rows = carried_rows(loop)
        self.most = {x: bound and bound[0] for x, bound in lengths.items()}
        self.arrays = {
            k: array_in_memory(p, dict(changing_axes(p, shown)), self.most, loop.origin)
            for k, (p, *_) in enumerate(self.rows)
            if axes([p]) & lengths.keys()
        }
        self.results = {
            n: array.where[axis]
            for k, array in self.arrays.items()
            for axis, n in changing_axes(loop.outs[k], shown)
            if axis in array.where
        }

    def statements(
        self, kept: AbstractSet[Atom], top: bool
    ) -> tuple[list[Statement], dict[dims.Symbol, Var]]:
        """The loop and what is around it, and the integers that lengths behind it are.

        kept  values that need memory of their own
        top   whether it stands in no other block
        """
        loop = self.loop
        starts, before = self.statements_before()
        finals = _length_variables(self.most)
        outs = [*loop.outs]
        behind: list[Statement] = []
        for k, array in self.arrays.items():
            v = loop.outs[k]
            outs[k] = array.memory(v)
            told = {
                x: v.type.shape[axis]
                for axis, x in array.where.items()
                if single_symbol(v.type.shape[axis]) not in self.results
            }
            lengths, lets = _as_integers(told)
            every = {**finals, **lengths}
            behind += [*lets, *array.result(v, outs[k], every, v in kept, top)]
        every_out = (*outs, *finals.values())
        body = self.block_in_memory(loop.body, ends=True)
        new: Statement = replace(loop, inits=starts, outs=every_out, body=body)
        if isinstance(new, While):
            new = replace(new, test=self.block_in_memory(new.test, ends=False))
        told_by_arrays = self.told_by_arrays() if top else ()
        lengths_behind = {n: finals[x] for n, x in self.results.items() if n not in told_by_arrays}
        return [*before, new, *behind], lengths_behind

    def told_by_arrays(self) -> set[dims.Symbol]:
        """The lengths behind the loop of arrays that lists become."""
        arrays = [
            v for k, v in enumerate(self.loop.outs) if isinstance(self.arrays.get(k), ListedArray)
        ]
        return {n for v in arrays if ListedArray.is_made_by_list(v) for n in axes([v])}

    def statements_before(self) -> tuple[tuple[Atom, ...], list[Statement]]:
        """What the loop starts from, and the statements that make it."""
        starts = [init for _, init, *_ in self.rows]
        lengths, before = _as_integers(_sizes(self.arrays, starts))
        for k, array in self.arrays.items():
            init = starts[k]
            memory = array.memory(init)
            before.append(array.allocate(memory))
            if 0 not in init.type.shape:
                memory, lets = array.store(memory, init, lengths, None)
                before += lets
            starts[k] = memory
        return (*starts, *(lengths[x] for x in self.lengths)), before

    def block_in_memory(self, block: Block, ends: bool) -> Block:
        """A block of the loop, where the arrays are parts of the memory.

        ends  whether the next pass goes on with its results
        """
        first = len(block.params) - len(self.rows)
        params = [*block.params]
        lengths = _length_variables(
            {x: bound and bound[1 if ends else 0] for x, bound in self.lengths.items()}
        )
        parts: list[Statement] = []
        for k, array in self.arrays.items():
            carry = params[first + k]
            params[first + k] = array.memory(carry)
            parts.append(array.part(carry, params[first + k], lengths))
        body, results = block.body, block.results
        if ends:
            one_pass = PassInMemory(self.arrays, params[first:], block.params[first:], lengths)
            body, results = one_pass.statements(block)
        sizes: dict[Any, Any] = {x: var_size(v) for x, v in lengths.items()}
        new, _ = refresh(Block(tuple(params), (*parts, *body), results), sizes)
        return replace(new, params=(*new.params, *lengths.values()))


class PassInMemory:
    """Writes one pass.

    arrays   those in memory, by the number of the carry
    memory   of all carries as the pass begins
    carries  the values that lie there
    lengths  of these
    """

    def __init__(
        self,
        arrays: Mapping[int, Array],
        memory: list[Var],
        carries: tuple[Var, ...],
        lengths: Mapping[dims.Symbol, Var],
    ) -> None:
        self.arrays, self.memory, self.carries, self.lengths = arrays, memory, carries, lengths

    def statements(self, block: Block) -> tuple[tuple[Statement, ...], tuple[Atom, ...]]:
        """The statements of the pass, which store its arrays, and what the next one goes on with:
        the memory, and the lengths."""
        first = len(block.results) - len(self.carries)
        values, results = block.results[first:], [*block.results]
        body: list[Statement] = []
        for s in block.body:
            for k in self.longer_carries(s, values):
                results[first + k], lets = self.longer(k, s)  # type: ignore[arg-type]
                body += lets
                break
            else:
                body.append(s)
        lengths, last = _as_integers(_sizes(self.arrays, values))
        for k, array in self.arrays.items():
            if results[first + k] is values[k]:
                results[first + k], lets = array.store(
                    self.memory[k], values[k], lengths, self.lengths
                )
                last += lets
        return (*body, *last), (*results, *(lengths[x] for x in self.lengths))

    def longer_carries(self, s: Statement, values: tuple[Atom, ...]) -> Iterator[int]:
        """The carry that becomes what a statement makes of it by appending to it."""
        if not isinstance(s, Let) or s.op is not concatenate:
            return
        for k, array in self.arrays.items():
            along = [*array.where] == [s.params["axis"]]
            is_listed = isinstance(array, ListedArray)
            fits = along and not (is_listed and s.params["axis"])
            same_dtype = s.outs[0].type.dtype == array.type.dtype
            becomes = [j for j, value in enumerate(values) if value is s.outs[0]] == [k]
            if fits and same_dtype and becomes and s.args[0] is self.carries[k]:
                yield k

    def longer(self, k: int, s: Let) -> tuple[Var, list[Let]]:
        """The memory with what is appended, and the statements that store it: the longer array is
        what lies there then."""
        array, axis = self.arrays[k], s.params["axis"]
        rest, lets = s.args[1], []
        if len(s.args) > 2:
            rest = Var(concatenate.infer(*s.args[1:], **s.params), s.outs[0].name)
            lets.append(Let((rest,), concatenate, s.args[1:], s.params, s.origin))
        length, more = integer(s.outs[0].type.shape[axis])
        lengths = {array.where[axis]: length}
        memory, stores = array.append(self.memory[k], rest, lengths, self.lengths)
        return memory, [*lets, *more, *stores, array.part(s.outs[0], memory, lengths)]
