"""Finds products of matrices that a library makes faster than loops.

out = a @ b, of matrices that lie in arrays      stays      product(a, b, out)
"""

from __future__ import annotations

import math
from typing import Any

from tapeless.transforms.core.language import Atom, Let, Statement
from tapeless.transforms.lowering.schedule.axis_maps import axes_through_views
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.ops.linalg.products import matmul

TINY = 64  # multiplications that loops of known lengths do at once


def is_apart(s: Statement) -> bool:
    """Whether no nest of loops holds it together with others."""
    if not isinstance(s, Let):
        return True
    return s.op is matmul or (s.op.costly and not s.op.elementwise)


def is_called(stage: LoopNest, memory: Dependences) -> bool:
    """Whether a product is better left to a library, and its operands are arrays."""
    if stage.let.op is not matmul or len(stage.space) < 3 or 1 in stage.space:
        return False
    if max(a.type.ndim for a in stage.let.args) > 2:
        return False  # a stack of matrices, whose rows are not next to each other
    lengths = [n for n in stage.space if isinstance(n, int)]
    if len(lengths) == 3 and math.prod(lengths) <= TINY:
        return False
    return all(axes_of(memory, a) is not None for a in stage.let.args)


def axes_of(memory: Dependences, a: Atom) -> tuple[Any, ...] | None:
    """For each axis of the array that holds a matrix 0 where rows follow one another, 1 for
    columns, None for one place; None if it cannot be cut out of that."""
    base = memory.base(a)
    s = memory.defs.get(base) if base is not None else None
    if base is None or (isinstance(s, Let) and s in memory.inline):
        return None
    axis_places = axes_through_views(memory, a, (0, 1), base)
    axes = tuple(map(_reversed_entry_axis, axis_places[0])) if len(axis_places) == 1 else ()
    return axes if sorted(k for k in axes if k is not None) == [0, 1] else None


def _reversed_entry_axis(entry: Any) -> int | None:
    if not isinstance(entry, tuple):
        return entry  # type: ignore[no-any-return]
    axis, _, step = entry
    return axis if step == 1 else None
