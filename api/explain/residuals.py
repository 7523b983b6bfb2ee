"""Finds the residuals of a program: arrays that its forward part makes and its backward part reads.

e = exp(x); y = sum(e) | x_bar = e      saves      e

The parts are told apart by the statement `blank`, which stands between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

import numpy as np

from tapeless.explain.by_size import Value
from tapeless.explain.size_formulas import SizeFormulas
from tapeless.transforms.core.language import (
    TAPE,
    Block,
    Effect,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.placement import Placement
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update
from tapeless.transforms.ops.primitives.stacks import push


@dataclass(frozen=True)
class Residual:
    """What is kept for the backward pass.

    name     of the variable, "" if it has none
    what     its dtype and shape, or what else it is
    bytes    of its memory for the arguments at hand; None where only a run tells
    line     of the user's that makes it; 0 where none does
    file     that has this line; "" where none does
    dtype    of its elements; "" if it is no array
    lengths  of its axes as formulas of sizes; None where only a run tells
    """

    name: str
    what: str
    bytes: int | None
    line: int
    file: str = ""
    dtype: str = ""
    lengths: tuple[Any, ...] = field(default=(), repr=False, compare=False)


def residuals(
    block: Block, numbers: SizeFormulas, value: Value, placement: Placement | None = None
) -> list[Residual]:
    """The arrays that are live across the end of the forward part, each once; `value` gives the
    number of a formula."""
    ends = [k for k, s in enumerate(block.body) if isinstance(s, Effect) and s.kind == "blank"]
    if not ends:
        return []
    forward, backward = block.body[: ends[0]], block.body[ends[0] :]
    owner = _owners(forward, placement)
    definitions = {v: s for s in forward for v in outputs(s)}
    read = dict.fromkeys(owner(v) for s in backward for v in _read(s))
    homes = placement.in_registers() if placement else set()
    kept = [v for v in read if v in definitions and v not in homes]
    rows = [_residual(v, definitions[v], numbers, value, placement) for v in kept]
    return [r for r in rows if r is not None]


def size_of(residual: Residual) -> Any:
    """The bytes of an array whose lengths sizes tell, as a formula."""
    return math.prod(residual.lengths) * np.dtype(residual.dtype).itemsize


def _owners(forward: Iterable[Statement], placement: Placement | None) -> Callable[[Var], Var]:
    """For a value, the one whose memory it is a part of."""
    if placement is not None:
        return lambda v: v if (base := placement.memory.base(v)) is None else base
    base: dict[Var, Var] = {}
    for s in forward:
        if not (isinstance(s, Let) and s.args and isinstance(s.args[0], Var)):
            continue
        if s.op.view or s.op in (update, add_at, push, identity):
            base[s.outs[0]] = base.get(s.args[0], s.args[0])
    return lambda v: base.get(v, v)


def _read(s: Statement) -> Iterator[Var]:
    yield from (a for a in operands(s) if isinstance(a, Var))
    for b in blocks(s):
        yield from (a for a in b.results if isinstance(a, Var))
        for t in b.body:
            yield from _read(t)


def _name(s: Statement) -> str:
    return f"{s.params['function'].name}()" if is_call(s) else "a function"


def _residual(
    v: Var,
    made_by: Statement,
    numbers: SizeFormulas,
    value: Value,
    placement: Placement | None,
) -> Residual | None:
    line, file = (made_by.origin.line, made_by.origin.file) if made_by.origin else (0, "")
    if isinstance(v.type, StackType):
        return Residual(v.name, f"list of {v.type.item}", None, line, file)
    if v.type is TAPE:
        return Residual(v.name, f"tape of {_name(made_by)}", None, line, file)
    if not isinstance(v.type, Type) or not v.type.shape:
        return None
    axes = placement.axes.get(v) if placement else None
    kept = range(len(v.type.shape)) if axes is None else axes
    formulas = tuple(numbers.size(v.type.shape[k]) for k in kept)
    lengths = [value(n) for n in formulas]
    dtype = v.type.dtype
    shape = ", ".join("?" if n is None else str(n) for n in lengths)
    size = None if None in lengths else dtype.itemsize * math.prod(lengths)
    return Residual(v.name, f"{dtype.name}[{shape}]", size, line, file, dtype.name, formulas)
