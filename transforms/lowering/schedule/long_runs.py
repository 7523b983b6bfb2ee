"""Cuts runs of very many loops into several kernels, which are compiled sooner than a long one.

a = x - mean(x); b = a - mean(a); ...      becomes      a kernel up to some nest, and one from there

What LLVM takes for a function grows with the square of its length. What repeats, such as layers of
a network, becomes kernels that are alike, of which one is compiled. Nests are left whole, so that
no more arrays are written.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from tapeless.transforms.core.language import (
    Atom,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.parallel_nests import KernelPart, NestPartitioner
from tapeless.transforms.lowering.schedule.repeated_sequences import repeated_pieces
from tapeless.transforms.lowering.schedule.sink_producers import made_later
from tapeless.transforms.ops.primitives.slices_and_gathers import index, update


def shorter(parts: NestPartitioner, part: KernelPart, live: Collection[Var]) -> list[KernelPart]:
    """A part, or several of few loops each. `live` is read after it."""
    most = parts.analysis.target.most_loops
    run = part.statements
    loops = [*map(_loops, run)]
    if not most or part.rows is not None or sum(loops) - max(loops) <= most:
        return [part]
    written = [s for s in run if not parts.read_through(s)]
    items = made_later(parts.arrange(written), live, ())
    pieces = repeated_pieces([*map(_likeness, items)], [*map(_loops_of_nest, items)], most)
    groups = [[s for k in piece for s in items[k].statements] for piece in pieces]
    return parts.with_views([*map(KernelPart, groups)], run)


def _likeness(item: FusedNest) -> Hashable:
    """What nests have in common that may be the same loops, over other arrays."""
    return tuple(map(_likeness_of_statement, item.statements))


def _likeness_of_statement(s: Statement) -> Hashable:
    name = s.op.name if isinstance(s, Let) else type(s).__name__
    kinds = tuple(_kind(v) for v in (*outputs(s), *operands(s)))
    inner = tuple(_likeness_of_statement(t) for b in blocks(s) for t in b.body)
    return name, kinds, inner


def _kind(a: Atom) -> Hashable:
    kind = a.type
    return (str(kind.dtype), kind.ndim) if isinstance(kind, Type) else type(kind).__name__


def _loops_of_nest(item: FusedNest) -> int:
    """How many loops a nest is."""
    if item.size is not None and all(isinstance(s, Let) for s in item.statements):
        return 1
    return sum(map(_loops, item.statements))


def _loops(s: Statement) -> int:
    """How many loops a statement is if it shares none."""
    if isinstance(s, Let):
        arrays = any(is_array(v) for v in (*s.args, *s.outs))
        return int(arrays and not s.op.view and s.op not in (index, update))
    return isinstance(s, (For, While)) + sum(_loops(t) for b in blocks(s) for t in b.body)
