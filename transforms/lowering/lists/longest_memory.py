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
from tapeless.transforms.core.size_inequalities import Relation
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.lists.bounded_lengths import (
    Bound,
    Bounds,
    Shown,
    changing_axes,
    is_shown,
)
from tapeless.transforms.lowering.lists.list_lengths import with_sizes
from tapeless.transforms.lowering.lists.loops_in_memory import (
    BranchInMemory,
    LoopInMemory,
    carried_rows,
    hidden_lengths,
)


def forms_in_memory(block: Block, lists: bool, hints: Mapping[dims.Symbol, int]) -> list[InMemory]:
    """The block, whose loops carry such memory and lengths, in the forms that may become kernels,
    the best first, with what they rely on of sizes; none if no loop needs any.

    lists  whether arrays of which nobody knows how long they get may lie in lists
    hints  the sizes of this call
    """
    if not any(isinstance(s, (For, While)) and _may_change(s) for s in statements(block)):
        return []
    single = with_single_lengths(block, frozenset())
    rewriter = LongestMemory(single, lists, hints)
    form = rewriter.block(single, frozenset()), rewriter.bounds.relied
    others = forms_in_memory(block, False, hints) if rewriter.has_lists else []
    return [form, *others] if rewriter.changes else []


def _may_change(s: For | While) -> bool:
    """Whether an array that a loop carries has a length that what it starts from lacks."""
    arrays = [(p, init) for p, init, *_ in carried_rows(s) if isinstance(init, Var)]
    return any(not x.given for p, init in arrays for x in sizes_in(p.type) - sizes_in(init.type))


InMemory = tuple[Block, list[Relation]]

#: The statements of a loop or branch, and the integers that lengths behind it are.
Written = tuple[list[Statement], Mapping[dims.Symbol, Var]]


class LongestMemory:
    """`kept` are values that more is done with than to read them. `lists` says whether arrays may
    lie in lists, `has_lists` whether one does, `changes` whether any array has got memory."""

    def __init__(self, program: Block, lists: bool, hints: Mapping[dims.Symbol, int]) -> None:
        self.bounds, self.lists = Bounds(program, hints), lists
        self.changes = self.has_lists = False
        self.open_blocks = self.open_loops = 0
        self.kept = set(_values_kept(program))

    def block(self, block: Block, shown: Shown) -> Block:
        shown = {*shown, *block.params, *axes(block.params)}
        body: list[Statement] = []
        sizes: dict[dims.Symbol, Size] = {}
        self.open_blocks += 1
        for s in block.body:
            self.open_loops += isinstance(s, (For, While))
            inner = with_blocks(s, lambda b: self.block(b, shown))  # noqa: B023
            self.open_loops -= isinstance(s, (For, While))
            written = None
            if isinstance(inner, (For, While)):
                written = self.loop(s, inner, shown)  # type: ignore[arg-type]
            elif isinstance(inner, If) and self.open_loops:
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
        self.open_blocks -= 1
        return with_sizes(replace(block, body=tuple(body)), sizes)

    def branch(self, s: If, new: If, shown: Shown) -> Written | None:
        """A branch with memory for the arrays whose lengths it decides; None if there are none.

        s    as it was
        new  with what is inside of it written anew
        """
        self.bounds.learn_branch(s, shown)
        branch = BranchInMemory(new, self.bounds.greatest, shown, self.lists)
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
        self.has_lists |= None in lengths.values()
        for n, x in loop.results.items():
            if (bound := lengths[x]) is not None:
                self.bounds.greatest[n] = bound[0]
        return loop.statements(self.kept, top=self.open_blocks == 1)

    def lengths(self, s: For | While, shown: Shown) -> dict[dims.Symbol, Bound | None]:
        """The lengths that change from pass to pass, and are bounded."""
        places: dict[dims.Symbol, list[tuple[int, int]]] = {}
        rows = carried_rows(s)
        for k, (p, *_) in enumerate(rows):
            for axis, x in changing_axes(p, shown):
                places.setdefault(x, []).append((k, axis))
        ends = {x: [self.ends(rows[k], axis) for k, axis in w] for x, w in places.items()}
        told = {x: [e for e in each if e is not None] for x, each in ends.items()}
        pending = {x: told[x] for x, each in ends.items() if len(told[x]) == len(each)}
        lengths: dict[dims.Symbol, Bound | None] = {}
        while pending:
            bounds = {x: self.bounds.greatest_length(s, x, e, shown) for x, e in pending.items()}
            if not any(bounds.values()):
                bounds = self.bounds.greatest_lengths(s, pending, shown)
            for x, bound in bounds.items():
                if bound is not None:
                    lengths[x] = bound
                    self.bounds.greatest[x] = bound[1]
                    del pending[x]
            if not any(bounds.values()):
                break
        if self.lists:
            lengths |= dict.fromkeys(pending)
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
        lengths: dict[dims.Symbol, Bound | None],
        shown: Shown,
    ) -> dict[dims.Symbol, Bound | None]:
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


def _single_lengths(carries: Iterable[Var], shown: Shown) -> dict[Any, Any]:
    new: dict[Any, Any] = {}
    for v in carries:
        for n in v.type.shape if isinstance(v.type, Type) else ():
            hidden = [x for x in dims.symbols(n) if not is_shown(x, shown)]
            rest = n - dims.single(hidden[0]) if len(hidden) == 1 else None
            if isinstance(rest, int) and rest and hidden[0].var is None:
                lower = max((hidden[0].lower or 0) + rest, 0)
                new.setdefault(hidden[0], dims.symbol(hidden[0].name, lower) - rest)
    return new


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
