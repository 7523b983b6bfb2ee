"""Keeps arrays whose lengths change from pass to pass of a loop in memory for the longest of them.

for _ in range(n):                            memory = empty(len(v)); memory[:] = v; length = len(v)
    v = 0.5 * (v[1:] + v[:-1])    becomes     for _ in range(n):
                                                  v = memory[:length]; v = 0.5 * (v[1:] + v[:-1])
                                                  length = len(v); memory[:length] = v

A kernel has memory of lengths that are known before its loops begin; without it, every pass is a
call, or several, of the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_undefined,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.list_lengths import with_sizes
from tapeless.transforms.lowering.sizes.bounded_lengths import (
    Bound,
    Bounds,
    Shown,
    changing_axes,
    is_shown,
)
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.lowering.sizes.stored_arrays import Lengths, StoredArray
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import copy


def in_longest_memory(block: Block) -> Block:
    """The block, whose loops carry such memory and lengths; the same one if no loop needs any."""
    if not any(isinstance(s, (For, While)) for s in block.body):
        return block
    single = with_single_lengths(block, frozenset())
    rewriter = LongestMemory(single)
    longer = rewriter.block(single, frozenset())
    return longer if rewriter.changes else block


#: The statements of a loop or branch, and the integers that lengths behind it are.
Written = tuple[list[Statement], Mapping[dims.Symbol, Var]]


class LongestMemory:
    """`kept` are values that more is done with than to read them; `changes` says whether any array
    has got memory."""

    def __init__(self, program: Block) -> None:
        self.bounds = Bounds(program)
        self.changes = False
        self.kept = set(_values_kept(program))

    def block(self, block: Block, shown: Shown) -> Block:
        shown = {*shown, *block.params, *axes(block.params)}
        body: list[Statement] = []
        sizes: dict[dims.Symbol, Size] = {}
        for s in block.body:
            inner = with_blocks(s, lambda b: self.block(b, shown))  # noqa: B023
            written = None
            if isinstance(inner, (For, While)):
                written = self.loop(s, inner, shown)  # type: ignore[arg-type]
            elif isinstance(inner, If):
                written = self.branch(s, inner, shown)  # type: ignore[arg-type]
            if written is None:
                body.append(inner)
            else:
                body += written[0]
                sizes |= {x: var_size(v) for x, v in written[1].items()}
                self.changes = True
            if isinstance(s, Let):
                self.bounds.learn_names(s, shown)
            shown |= {*outputs(s), *axes(outputs(s))}
        return with_sizes(replace(block, body=tuple(body)), sizes)

    def branch(self, s: If, new: If, shown: Shown) -> Written | None:
        """A branch with memory for the arrays whose lengths it decides; None if there are none.

        s    as it was
        new  with what is inside of it written anew
        """
        self.bounds.learn_branch(s, shown)
        branch = BranchInMemory(new, self.bounds.greatest, shown)
        return (branch.statements(self.kept), branch.lengths) if branch.arrays else None

    def loop(self, s: For | While, new: For | While, shown: Shown) -> Written | None:
        """A loop with memory for the arrays that change their lengths; None if there are none.

        s    as it was
        new  with such loops inside of it written anew
        """
        lengths = self.lengths(s, shown)
        if not lengths:
            return None
        loop = LoopInMemory(new, lengths, shown)
        self.bounds.greatest |= {n: lengths[x][0] for n, x in loop.results.items()}
        written, variables = loop.statements(self.kept)
        return written, {n: variables[x] for n, x in loop.results.items()}

    def lengths(self, s: For | While, shown: Shown) -> dict[dims.Symbol, Bound]:
        """The lengths that change from pass to pass, and are bounded."""
        places: dict[dims.Symbol, list[tuple[int, int]]] = {}
        rows = _carried(s)
        for k, (p, *_) in enumerate(rows):
            for axis, x in changing_axes(p, shown):
                places.setdefault(x, []).append((k, axis))
        ends = {x: [self.ends(rows[k], axis) for k, axis in w] for x, w in places.items()}
        lengths: dict[dims.Symbol, Bound] = {}
        while True:
            pending = {x: e for x, e in ends.items() if x not in lengths and None not in e}
            found = {x: self.bounds.longest(s, x, pairs, shown) for x, pairs in pending.items()}  # type: ignore[arg-type]
            if pending and not any(found.values()):
                found = self.bounds.longest_of_all(s, pending, shown)  # type: ignore[arg-type]
            for x, bounds in found.items():
                if bounds is not None:
                    lengths[x] = bounds
                    self.bounds.greatest[x] = bounds[1]
            if not any(found.values()):
                break
        return self.whole_arrays(rows, lengths, shown)

    @staticmethod
    def ends(row: tuple[Any, ...], axis: int) -> tuple[Size, Size] | None:
        """How long a carry is before the loop and at the end of a pass."""
        _, init, after, _ = row
        if is_undefined(init) or is_undefined(after):
            return None
        return init.type.shape[axis], after.type.shape[axis]

    def whole_arrays(
        self,
        rows: list[tuple[Any, ...]],
        lengths: dict[dims.Symbol, Bound],
        shown: Shown,
    ) -> dict[dims.Symbol, Bound]:
        """The lengths, without those of arrays of which another length is not known."""
        while True:
            unknown = set[dims.Symbol]()
            for p, *_ in rows:
                hidden = hidden_lengths(p, shown)
                changing = {x for _, x in changing_axes(p, shown)}
                if not hidden <= changing & lengths.keys():
                    unknown |= hidden & lengths.keys()
            if not unknown:
                return lengths
            lengths = {x: n for x, n in lengths.items() if x not in unknown}


def hidden_lengths(v: Var, shown: Shown) -> set[dims.Symbol]:
    """The lengths in the type of an array that nothing before shows."""
    return {x for x in axes([v]) if not is_shown(x, shown)}


def with_single_lengths(block: Block, shown: Shown) -> Block:
    """The block, whose loops have a symbol for each length of a carry that is one and a number:
    those of derivatives are n + 1, where a pass of the function makes an array of n longer."""
    shown = {*shown, *block.params, *axes(block.params)}
    body: list[Statement] = []
    for s in block.body:
        if isinstance(s, For):
            new = _single_lengths(s.carries, shown)
            s = replace(s, body=refresh(s.body, new)[0]) if new else s
        body.append(with_blocks(s, lambda b: with_single_lengths(b, shown)))  # noqa: B023
        shown |= {*outputs(s), *axes(outputs(s))}
    return replace(block, body=tuple(body))


def _single_lengths(carries: Iterable[Var], shown: Shown) -> dict[Any, Size]:
    new: dict[Any, Size] = {}
    for v in carries:
        for n in v.type.shape if isinstance(v.type, Type) else ():
            hidden = [x for x in dims.symbols(n) if not is_shown(x, shown)]
            rest = n - dims.single(hidden[0]) if len(hidden) == 1 else None
            if isinstance(rest, int) and rest and hidden[0].var is None:
                lower = max((hidden[0].lower or 0) + rest, 0)
                new.setdefault(hidden[0], dims.symbol(hidden[0].name, lower) - rest)
    return new


def _carried(s: For | While) -> list[tuple[Any, ...]]:
    """Each carry of a loop: its parameter, what it starts from, what it becomes, and the result."""
    params, yields = (
        (s.carries, s.yields) if isinstance(s, For) else (s.body.params, s.body.results)
    )
    return list(zip(params, s.inits, yields, s.outs, strict=True))


def _values_kept(program: Block) -> Iterator[Atom]:
    """The values that a block gives, that a loop starts from, or that are stored to."""
    yield from program.results
    for s in statements(program):
        for b in blocks(s):
            yield from b.results
        only_reads = isinstance(s, Let) and s.op.pure and not _has_list(s)
        if isinstance(s, Let) and only_reads:
            yield from s.args[:1] if s.op.inplace else ()
        else:
            yield from operands(s)


def _has_list(s: Let) -> bool:
    return any(isinstance(a.type, StackType) for a in (*s.args, *s.outs))


def _length_variables(most: Mapping[dims.Symbol, Size]) -> dict[dims.Symbol, Var]:
    """Integers for lengths of which bounds are known."""
    variables = {x: Var(INT, "length") for x in most}
    for x, v in variables.items():
        v.size = dims.symbol("length", 0, v, upper=most[x])
    return variables


def _as_integers(
    lengths: Mapping[dims.Symbol, Size],
) -> tuple[dict[dims.Symbol, Atom], list[Statement]]:
    """Lengths as values, and the statements that compute them."""
    values: dict[dims.Symbol, Atom] = {}
    statements_of_lengths: list[Statement] = []
    for x, n in lengths.items():
        values[x], lets = integer(n)
        statements_of_lengths += lets
    return values, statements_of_lengths


class BranchInMemory:
    """Writes one branch, whose sides store arrays of different lengths to the same memory.

    arrays  those, by the number of the result
    """

    def __init__(self, branch: If, greatest: Mapping[dims.Symbol, Size], shown: Shown) -> None:
        self.branch = branch
        self.arrays: dict[int, StoredArray] = {}
        for k, v in enumerate(branch.outs):
            where = dict(changing_axes(v, shown))
            is_bounded = set(where.values()) == hidden_lengths(v, shown) <= greatest.keys()
            is_set = not any(is_undefined(b.results[k]) for b in (branch.then, branch.orelse))
            if where and is_bounded and is_set:
                self.arrays[k] = StoredArray(v.type, where, greatest, branch.origin)
        symbols = {x for array in self.arrays.values() for x in array.where.values()}
        self.lengths = _length_variables({x: greatest[x] for x in sorted(symbols, key=_age)})

    def statements(self, kept: AbstractSet[Atom]) -> list[Statement]:
        """The branch and what is around it.

        kept  values that need memory of their own
        """
        branch = self.branch
        memory = {k: a.memory(branch.outs[k]) for k, a in self.arrays.items()}
        outs = {k: a.memory(branch.outs[k]) for k, a in self.arrays.items()}
        results = [outs.get(k, v) for k, v in enumerate(branch.outs)]
        before = [a.allocate(memory[k]) for k, a in self.arrays.items()]
        behind: list[Statement] = []
        for k, a in self.arrays.items():
            behind += _in_front(a, branch.outs[k], outs[k], self.lengths, kept)
        new = replace(
            branch,
            outs=(*results, *self.lengths.values()),
            then=self.side(branch.then, memory),
            orelse=self.side(branch.orelse, memory),
        )
        return [*before, new, *behind]

    def side(self, block: Block, memory: Mapping[int, Var]) -> Block:
        """A side that stores its arrays, and gives their lengths."""
        sizes: dict[dims.Symbol, Size] = {}
        for k, a in self.arrays.items():
            for axis, x in a.where.items():
                sizes.setdefault(x, block.results[k].type.shape[axis])
        lengths, last = _as_integers(sizes)
        results = [*block.results]
        for k, a in self.arrays.items():
            results[k] = a.memory(memory[k])
            last.append(a.store(results[k], memory[k], block.results[k], lengths))  # type: ignore[arg-type]
        every = (*results, *(lengths[x] for x in self.lengths))
        return replace(block, body=(*block.body, *last), results=every)


def _in_front(
    array: StoredArray, v: Var, memory: Var, lengths: Lengths, kept: AbstractSet[Atom]
) -> Iterator[Let]:
    """The value that lies in front of memory, in memory of its own where that is needed."""
    if v.type.shape == memory.type.shape:
        yield Let((v,), identity, (memory,), {}, array.origin)
        return
    part = Var(v.type, v.name) if v in kept else v
    yield array.part(part, memory, lengths)
    if part is not v:
        yield Let((v,), copy, (part,), {}, array.origin)


class LoopInMemory:
    """Writes one loop.

    lengths  those that change, by their symbols
    arrays   those that have them, by the number of the carry
    results  the lengths behind the loop that nothing else shows, and what they are in a pass
    """

    def __init__(
        self, loop: For | While, lengths: Mapping[dims.Symbol, Bound], shown: Shown
    ) -> None:
        self.loop, self.lengths = loop, lengths
        self.rows = _carried(loop)
        most = {x: n for x, (n, _) in lengths.items()}
        self.arrays = {
            k: StoredArray(p.type, dict(changing_axes(p, shown)), most, loop.origin)
            for k, (p, *_) in enumerate(self.rows)
            if axes([p]) & lengths.keys()
        }
        self.results = {
            n: array.where[axis]
            for k, array in self.arrays.items()
            for axis, n in changing_axes(loop.outs[k], shown)
            if axis in array.where
        }

    def statements(self, kept: AbstractSet[Atom]) -> tuple[list[Statement], dict[dims.Symbol, Var]]:
        """The loop and what is around it, and the variables that its lengths are behind it.

        kept  values that need memory of their own
        """
        loop = self.loop
        starts, before = self.before()
        outs = [
            self.arrays[k].memory(v) if k in self.arrays else v for k, v in enumerate(loop.outs)
        ]
        finals = _length_variables({x: most for x, (most, _) in self.lengths.items()})
        new = {
            "inits": starts,
            "outs": (*outs, *finals.values()),
            "body": self.inside(loop.body, ends=True),
        }
        if isinstance(loop, While):
            new["test"] = self.inside(loop.test, ends=False)
        behind: list[Statement] = []
        for k, array in self.arrays.items():
            v = loop.outs[k]
            told = {
                x: v.type.shape[axis]
                for axis, x in array.where.items()
                if single_symbol(v.type.shape[axis]) not in self.results
            }
            lengths, lets = _as_integers(told)
            behind += [*lets, *_in_front(array, v, outs[k], {**finals, **lengths}, kept)]
        return [*before, replace(loop, **new), *behind], finals

    def before(self) -> tuple[tuple[Atom, ...], list[Statement]]:
        """What the loop starts from, and the statements that make it."""
        lengths, before = _as_integers(self.sizes([init for _, init, *_ in self.rows]))
        starts: list[Atom] = []
        for k, (_, init, *_) in enumerate(self.rows):
            if k not in self.arrays:
                starts.append(init)
                continue
            array = self.arrays[k]
            memory = array.memory(init)
            before.append(array.allocate(memory))
            if 0 not in init.type.shape:
                before.append(array.store(start := array.memory(init), memory, init, lengths))
                memory = start
            starts.append(memory)
        return (*starts, *lengths.values()), before

    def inside(self, block: Block, ends: bool) -> Block:
        """A block of the loop, where the arrays are parts of the memory.

        ends  whether the next pass goes on with its results
        """
        first = len(block.params) - len(self.rows)
        params = [*block.params]
        bounds = {x: begins if ends else most for x, (most, begins) in self.lengths.items()}
        lengths = _length_variables(bounds)
        parts: list[Statement] = []
        for k, array in self.arrays.items():
            carry = params[first + k]
            params[first + k] = array.memory(carry)
            parts.append(array.part(carry, params[first + k], lengths))
        results, last = self.end_of_pass(block, params[first:]) if ends else (block.results, ())
        sizes: dict[Any, Size] = {x: var_size(v) for x, v in lengths.items()}
        new, _ = refresh(Block(tuple(params), (*parts, *block.body, *last), results), sizes)
        return replace(new, params=(*new.params, *lengths.values()))

    def end_of_pass(
        self, block: Block, memory: list[Var]
    ) -> tuple[tuple[Atom, ...], Iterable[Statement]]:
        """What a pass gives on, and the statements that store its arrays."""
        results = [*block.results]
        first = len(results) - len(self.rows)
        lengths, last = _as_integers(self.sizes(results[first:]))
        for k, array in self.arrays.items():
            stored = array.memory(memory[k])
            last.append(array.store(stored, memory[k], results[first + k], lengths))
            results[first + k] = stored
        return (*results, *lengths.values()), last

    def sizes(self, values: list[Atom]) -> dict[dims.Symbol, Size]:
        """How long arrays are, in the order of the lengths."""
        sizes: dict[dims.Symbol, Size] = {}
        for k, array in self.arrays.items():
            for axis, x in array.where.items():
                sizes.setdefault(x, values[k].type.shape[axis])
        return {x: sizes[x] for x in self.lengths}


def _age(x: dims.Symbol) -> int:
    return x.uid
