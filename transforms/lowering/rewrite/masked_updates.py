"""Computes what a mask selects at all places where it is only stored to that mask, or added up.

x[mask] = x[mask] ** 2 + c[mask]      becomes      x[:] = where(mask, x ** 2 + c, x)
s = sum(x[mask])                      becomes      s = sum(where(mask, x, 0))
n = len(x[mask])                      becomes      n = sum(mask)

The places are not searched for then, no array has a run-time length, and what was three
calls of a library is one loop. In a kernel the value is computed where the mask is true only.
Operations that may raise stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, atom, building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import nested_reads, read_params, sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.sizes.size_equalities import check_mask
from tapeless.transforms.ops.numpy.reductions import mean
from tapeless.transforms.ops.primitives.arithmetic import add, truediv
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.index_keys import Key, Slot
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast_to, reshape
from tapeless.transforms.ops.primitives.shapes import sum as sum_
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, gather, update

STORES = {update, add_at}
SUMS = {sum_, mean}
LENGTHS = {size_value, axis_size}


@dataclass(frozen=True)
class Selection:
    """Where the elements of an array come from: the places of `mask` on the axes from `axis` of an
    array of `ndim` axes."""

    mask: Var
    axis: int
    ndim: int

    def over_all(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        """The axes of the whole array that are these of what the mask selects."""
        covered = tuple(range(self.axis, self.axis + self.mask.type.ndim))
        axis_lists = (
            covered if a == self.axis else (a if a < self.axis else a + len(covered) - 1,)
            for a in axes
        )
        return tuple(a for covered_axes in axis_lists for a in covered_axes)

    def aligned_mask(self) -> Atom:
        """The mask, with axes of length one for the other axes of the whole array."""
        shape = self.mask.type.shape
        behind = (1,) * (self.ndim - self.axis - len(shape))
        return reshape(self.mask, shape=(*shape, *behind)) if behind else self.mask


def masked_updates(block: Block, any_order: bool) -> Block:
    """The block; sums are rewritten where they may be made in any order."""
    if not any(isinstance(s, Let) and _mask_of(s) for s in statements(block)):
        return block
    return _block(block, _Mentions(block), any_order)


def _block(block: Block, mentions: _Mentions, any_order: bool) -> Block:
    inside = _Selected(block, mentions, any_order)
    body: list[Statement] = []
    for s in block.body:
        if id(s) in inside.members:
            body += inside.rewritten(s)
        else:
            body.append(with_blocks(s, lambda b: _block(b, mentions, any_order)))
    return replace(block, body=tuple(body))


class _Mentions:
    """Which statements have a size in a type or read it, for the sizes that masks count."""

    def __init__(self, block: Block) -> None:
        self.of: dict[dims.Symbol, set[int]] = defaultdict(set)
        for s in statements(block):
            inner = [p for b in _blocks_with_parameters(s) for p in b.params]
            values = [v.type for v in (*outputs(s), *inner)]
            values += read_params(s) if isinstance(s, Let) else []
            for value in values:
                for symbol in sizes_in(value):
                    self.of[symbol].add(id(s))


def _blocks_with_parameters(s: Statement) -> tuple[Block, ...]:
    match s:
        case For(body=body):
            return (body,)
        case While(test=test, body=body):
            return (test, body)
    return ()


def _mask_of(s: Let) -> tuple[Var, int] | None:
    """The mask that is all of a key but whole axes, and the axis from which it selects; None if
    there is no such mask."""
    first = 2 if s.op in STORES else 1
    key: Key = s.params.get("key", ())
    if s.op not in (gather, *STORES) or len(s.args) != first + 1:
        return None
    mask = s.args[first]
    plain = all(e == slice(None) or e == Slot(0) for e in key)
    if not plain or Slot(0) not in key or not isinstance(mask, Var):
        return None
    if mask.type.dtype.kind != "b" or not mask.type.ndim or 0 in mask.type.shape:
        return None  # one of no elements selects nothing, of arrays of any length
    return mask, key.index(Slot(0))


class _Selected:
    """The statements of a block that work on what masks select (`members`), and nothing else does
    with their results."""

    def __init__(self, block: Block, mentions: _Mentions, any_order: bool) -> None:
        self.any_order, self.mentions = any_order, mentions
        self.selections: dict[Atom, Selection] = {}
        self.makers: dict[Var, Let] = {}
        self.counts: dict[dims.Symbol, Let] = {}  # what selects so many elements
        self.lengths: dict[Atom, Let] = {}  # the same of integers
        self.members: dict[int, Statement] = {}
        self.whole: dict[Atom, Atom] = {}  # the same of all places
        for s in block.body:
            if self.follows(s):
                self.members[id(s)] = s
        self.keep_closed(block)

    # -- what works on what is selected

    def follows(self, s: Statement) -> bool:
        """Whether a statement selects by a mask, or works on what is selected by one."""
        if isinstance(s, Effect):
            masks = {self.selections[n.outs[0]].mask for n in map(self.lengths.get, s.args) if n}
            every = all(a in self.lengths for a in s.args)
            return s.kind == "check" and len(masks) == 1 and every
        if not isinstance(s, Let) or len(s.outs) != 1:
            return False
        (out,) = s.outs
        if s.op in LENGTHS:
            counted = self.selection_of_count(_length(s))
            if counted is not None:
                self.lengths[out] = counted
            return counted is not None
        if s.op in STORES:
            return self.is_store(s)
        selection = self.selection_of(s)
        if selection is not None:
            self.selections[out] = selection
            self.makers[out] = s
            count = out.type.shape[selection.axis]
            self.counts.setdefault(next(iter(dims.symbols(count))), s)
        return selection is not None or self.is_sum(s)

    def selection_of_count(self, size: Size) -> Let | None:
        """What selects so many elements."""
        if not isinstance(size, dims.Dim) or len(size.symbols) != 1:
            return None
        (symbol,) = size.symbols
        return self.counts.get(symbol) if dims.single(symbol) == size else None

    def is_store(self, s: Let) -> bool:
        """Whether a number, or what the same mask selects, is stored to where a mask is true."""
        by_mask = _mask_of(s)
        x, value = s.args[:2]
        if by_mask is None or x in self.selections:
            return False
        if x.type.dtype.kind not in "biufc" or value.type.dtype.kind not in "biufc":
            return False
        if value.type.dtype.kind == "c" and x.type.dtype.kind != "c":
            return False
        if not value.type.shape:  # NumPy refuses numbers that are no integers of the array
            return x.type.dtype.kind in "fc" or value.type.dtype == x.type.dtype
        return self.selections.get(value) == Selection(*by_mask, x.type.ndim)

    def is_sum(self, s: Let) -> bool:
        """Whether all that a mask selects is added up."""
        selection = self.selections.get(s.args[0]) if s.args else None
        if selection is None or s.op not in SUMS or not self.any_order or s.params["keepdims"]:
            return False
        kinds = s.args[0].type.dtype, s.outs[0].type.dtype
        exact = kinds[0] == kinds[1] or (s.op is sum_ and kinds[0].kind == "b")
        return exact and s.params["axes"] == (selection.axis,)

    def selection_of(self, s: Let) -> Selection | None:
        """The selection that a result is of; None if it is of none."""
        (out,) = s.outs
        if s.op is gather:
            by_mask, x = _mask_of(s), s.args[0]
            if by_mask is None or x in self.selections or x.type.dtype.kind not in "biufc":
                return None
            return Selection(*by_mask, x.type.ndim)
        if s.op is broadcast_to and not s.args[0].type.shape:
            return self.selection_of_fill(out.type)
        if not s.op.elementwise or not s.op.pure or s.op.math_errors or s.op.scalar is None:
            return None
        selections = {self.selections[a] for a in s.args if a in self.selections}
        if len(selections) != 1:
            return None
        (selection,) = selections
        others = [a for a in s.args if a not in self.selections]
        behind = out.type.ndim - selection.axis - 1
        same = all(a.type.ndim == out.type.ndim for a in s.args if a in self.selections)
        return selection if same and all(a.type.ndim <= behind for a in others) else None

    def selection_of_fill(self, kind: Type) -> Selection | None:
        """The selection of an array of one number, by its length."""
        by_axis = [(axis, self.selection_of_count(n)) for axis, n in enumerate(kind.shape)]
        counted = [(axis, s) for axis, s in by_axis if s is not None]
        if len(counted) != 1:
            return None
        ((axis, s),) = counted
        mask = self.selections[s.outs[0]].mask
        return Selection(mask, axis, kind.ndim + mask.type.ndim - 1)

    # -- what nothing else reads

    def keep_closed(self, block: Block) -> None:
        """Leaves out what other statements read, and what reads what is left out."""
        results = {a for a in block.results if isinstance(a, Var)}
        readers: dict[Var, set[int]] = defaultdict(set)
        for s in block.body:
            for v in nested_reads(s):
                readers[v].add(id(s))
        while True:
            outside = [
                k for k, s in self.members.items() if not self.is_closed_over(s, readers, results)
            ]
            if not outside:
                break
            for k in outside:
                del self.members[k]

    def is_closed_over(self, s: Statement, readers: dict[Var, set[int]], results: set[Var]) -> bool:
        """Whether a statement has its operands and its readers among the members."""
        if isinstance(s, Effect):
            return True
        assert isinstance(s, Let)
        (out,) = s.outs
        selected = [a for a in s.args if isinstance(a, Var) and a in self.selections]
        if any(id(self.makers[a]) not in self.members for a in selected):
            return False
        if out in self.selections:
            symbols = dims.symbols(out.type.shape[self.selections[out].axis])
            mentioned = {k for symbol in symbols for k in self.mentions.of[symbol]}
            if not mentioned <= self.members.keys():
                return False
        elif out in self.lengths:
            return id(self.lengths[out]) in self.members
        else:
            return True
        return out not in results and readers[out] <= self.members.keys()

    # -- the same of all places

    def rewritten(self, s: Statement) -> Iterator[Statement]:
        """The statements in the place of a member."""
        if not isinstance(s, Let):
            return
        b = Builder()
        b.origin = s.origin
        with building(b):
            result = atom(self.of_all_places(s))
        (out,) = s.outs
        recorded = b.blocks[0]
        last = recorded[-1] if recorded else None
        if out in self.selections:
            self.whole[out] = result
            if isinstance(result, Var) and not result.name:
                result.name = out.name
            yield from recorded
        elif isinstance(last, Let) and last.outs == (result,):
            yield from recorded[:-1]
            yield replace(last, outs=s.outs)
        else:
            yield from recorded
            yield Let(s.outs, identity, (result,), {}, s.origin)

    def of_all_places(self, s: Let) -> Atom:
        if s.op in LENGTHS:
            return _count(self.selections[self.lengths[s.outs[0]].outs[0]].mask)
        args = [self.whole.get(a, a) for a in s.args]
        if (by_mask := _mask_of(s)) is not None:
            mask, axis = by_mask
            check_mask(s.args[0], axis, mask)
        if s.op in (gather, broadcast_to):
            return args[0]
        if s.op in STORES:
            return self.store_where(s, args)
        selection = self.selections.get(s.args[0])
        if s.op in SUMS and selection is not None:
            return self.added_up(s, args[0], selection)
        return s.op(*args, **s.params)  # type: ignore[no-any-return]

    def store_where(self, s: Let, args: list[Atom]) -> Atom:
        x, value = args[:2]
        by_mask = _mask_of(s)
        assert by_mask is not None
        new = cast_to(add(x, value) if s.op is add_at else value, x.type.dtype)
        test = Selection(*by_mask, x.type.ndim).aligned_mask()
        return update(x, select(test, new, x), key=(slice(None),) * x.type.ndim)  # type: ignore[no-any-return]

    def added_up(self, s: Let, value: Atom, selection: Selection) -> Atom:
        axes = selection.over_all((selection.axis,))
        test = selection.aligned_mask()
        zero = value.type.dtype.type(0)
        total = sum_(select(test, value, zero), axes=axes, keepdims=False)
        if s.op is sum_:
            return total  # type: ignore[no-any-return]
        count = _count(selection.mask)
        count.name = "count"
        return cast_to(truediv(total, count), s.outs[0].type.dtype)  # type: ignore[no-any-return]


def _length(s: Let) -> Size:
    """The size that an integer is."""
    return s.args[0].type.shape[s.params["axis"]] if s.args else s.params["size"]  # type: ignore[no-any-return]


def _count(mask: Var) -> Var:
    """How many places of a mask are true, recorded in the open block."""
    every = tuple(range(mask.type.ndim))
    return sum_(mask, axes=every, keepdims=False)  # type: ignore[no-any-return]
