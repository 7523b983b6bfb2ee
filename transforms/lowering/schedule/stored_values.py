"""Lets loops read values of earlier ones where these have stored them, so that they need no arrays.

[for i: v = f(x[i]); b[i + 1] = v], [for i: z[i] = b[i] + v]
becomes      [for i: v = f(x[i]); b[i + 1] = v], [for i: z[i] = b[i] + b[i + 1]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tapeless.transforms.core.language import Let, Statement, Var
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.view_indices import ViewSpan
from tapeless.transforms.ops.primitives.slices_and_gathers import index, update

StageOf = Callable[[Statement], LoopNest | None]


def stored_parts(
    items: Sequence[FusedNest], memory: Dependences, stage_of: StageOf
) -> Iterator[tuple[int, Let]]:
    """The place of a nest, and a part of memory that holds a value which the nest makes, as long
    as later nests read that value."""
    for k, item in enumerate(items):
        for s in item.statements:
            v = s.args[1] if isinstance(s, Let) and s.op is update else None
            if isinstance(v, Var):
                readers = [j for j in range(k + 1, len(items)) if v in items[j].needs]
                between = items[k + 1 : readers[-1] + 1] if readers else []
                part = part_stored(v, item, between, memory, stage_of) if readers else None
                if part is not None and part.args[0] is s.outs[0]:
                    yield k, part


def part_stored(
    v: Var, item: FusedNest, later: Sequence[FusedNest], memory: Dependences, stage_of: StageOf
) -> Let | None:
    """The part of memory to which a nest stores a value that it makes, if nothing else is stored
    there until later items have run."""
    if not _is_made_in(v, item, memory, stage_of):
        return None
    for s in item.statements:
        stage = stage_of(s) if isinstance(s, Let) and s.op is update and s.args[1] is v else None
        if stage is not None and _is_whole(stage, item) and _lasts(stage, item, later, memory):
            key = stage.let.params["key"]
            return Let((v,), index, stage.let.outs, {"key": key}, s.origin)
    return None


def _is_whole(stage: LoopNest, item: FusedNest) -> bool:
    """Whether a store keeps all elements of its value, as they are, at places that are known."""
    s = stage.let
    value, target = s.args[1].type, s.args[0].type
    return (
        stage in item.axes
        and len(s.args) == 2
        and value.dtype == target.dtype
        and stage.maps[1] == tuple(range(len(stage.space)))
        and all(isinstance(e, ViewSpan) for e in stage.entries)
    )


def _is_made_in(v: Var, item: FusedNest, memory: Dependences, stage_of: StageOf) -> bool:
    """Whether a nest makes a value element by element, in variables of its own."""
    s = memory.defs.get(v)
    maker = stage_of(s) if isinstance(s, Let) and s in item.statements else None
    return (
        maker is not None
        and maker in item.axes
        and memory.cell(v) is v
        and not (maker.stores or maker.reduced)
    )


def _lasts(
    stage: LoopNest, item: FusedNest, later: Sequence[FusedNest], memory: Dependences
) -> bool:
    """Whether nothing else is stored into the memory until these later items have run."""
    base = memory.base(stage.let.args[0])
    others = [s for s in item.statements if s is not stage.let and base in memory.writes(s)]
    return base is not None and not others and not any(base in other.writes for other in later)
