"""Turns rows of zeros with one number each into a comparison of columns: nothing is scattered.

sums = zeros((n, c)); sums[arange(n), labels] += v
    becomes      sums = where(columns == labels, v, 0)

The derivative of x[arange(n), labels] is such an array. What reads it computes its elements then,
and needs no memory for them. Labels that no statement before has read at are checked: the columns
are read at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, Let, Literal, Statement, Var, operands
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.lowering.sizes.size_equalities import fitted
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal as is_equal
from tapeless.transforms.ops.primitives.comparisons_and_rounding import less
from tapeless.transforms.ops.primitives.new_arrays import arange, count_up, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, gather, index

Definitions = Mapping[Var, Let]
Equal = Callable[[Size, Size], bool]


def one_hot(block: Block, equal: Equal) -> Block:
    """The block with such arrays. `equal` says whether two sizes are."""
    defs = {v: s for s in block.body if isinstance(s, Let) for v in s.outs}
    uses = reads_of(block)
    body: list[Statement] = []
    for k, s in enumerate(block.body):
        if isinstance(s, Let) and _is_scatter(s, defs, uses, equal):
            columns_read = _was_read(s, block.body[:k], defs, equal)
            body += parts_of(s, _compare_columns if columns_read else _compare_with_check)
        else:
            body.append(s)
    return replace(block, body=tuple(body)) if len(body) > len(block.body) else block


def _is_scatter(s: Let, defs: Definitions, uses: Mapping[Var, int], equal: Equal) -> bool:
    """Whether a statement adds a number to an element of each row of zeros that are its own."""
    if s.op is not add_at or not _is_by_rows(s, 2, defs, equal):
        return False
    base, value = s.args[:2]
    fresh = isinstance(base, Var) and getattr(defs.get(base), "op", None) is zeros
    one_a_row = value.type.ndim == 0 or equal(value.type.shape[0], base.type.shape[0])
    return fresh and uses[base] == 1 and one_a_row and base.type.dtype.kind == "f"  # type: ignore[index]


def _is_by_rows(s: Let, first: int, defs: Definitions, equal: Equal) -> bool:
    """Whether the part of an array that a statement has to do with is x[arange(n), columns]."""
    key, rest, x = s.params.get("key", ()), s.args[first:], s.args[0]
    slots = [e for e in key if isinstance(e, Slot)]
    if len(slots) != len(key) or [e.k for e in slots] != [0, 1] or x.type.ndim != 2:
        return False
    rows, columns = (rest[e.k] for e in slots)
    definition = defs.get(rows) if isinstance(rows, Var) else None
    if definition is None or definition.op is not arange or columns.type.dtype.kind not in "iu":
        return False
    start, _, step = definition.args
    counts = start == Literal(0, start.type) and step == Literal(1, step.type)
    lengths = [a.type.shape[0] for a in (rows, columns) if a.type.ndim == 1]
    return counts and len(lengths) == 2 and all(equal(n, x.type.shape[0]) for n in lengths)


def _was_read(s: Let, before: Iterable[Statement], defs: Definitions, equal: Equal) -> bool:
    """Whether the same places of an array of the same shape were read before."""
    return any(
        isinstance(t, Let)
        and t.op in (gather, index)
        and _is_by_rows(t, 1, defs, equal)
        and all(map(equal, t.args[0].type.shape, s.args[0].type.shape))
        and t.args[2] is s.args[3]
        for t in before
        if s.args[3] in operands(t)
    )


def _compare_columns(base: Any, value: Any, rows: Any, columns: Any, key: Any) -> Any:
    """For each element the number if its column is the one of its row, else zero."""
    width = base.type.shape[1]
    place = select(less(columns, 0), add(columns, atom_of_size(width)), columns)
    return _where(base, value, place)


def _compare_with_check(base: Any, value: Any, rows: Any, columns: Any, key: Any) -> Any:
    """The same, with an IndexError for columns that are not there."""
    all_columns = reshape(count_up(base.type.shape[1]), shape=(1, base.type.shape[1]))
    return _where(base, value, gather(all_columns, Literal(0, columns.type), columns, key=key))


def _where(base: Any, value: Any, place: Any) -> Any:
    n, width = base.type.shape
    place = reshape(fitted(place, shape=(n,)), shape=(n, 1))
    if value.type.ndim:
        value = reshape(fitted(value, shape=(n,)), shape=(n, 1))
    return select(is_equal(count_up(width), place), value, 0.0)
