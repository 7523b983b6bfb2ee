"""Cuts runs of very many loops into several kernels, which are compiled sooner than a long one.

a = x - mean(x); b = a - mean(a); ...      becomes      a kernel up to some nest, and one from there

What LLVM takes for a function grows with the square of its length. Nests are left whole, so that
no more arrays are written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tapeless.transforms.core.language import For, Let, Statement, Var, While, blocks
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.parallel_nests import KernelPart, NestPartitioner
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
    return parts.with_views([KernelPart(group) for group in _group(items, most)], run)


def _group(items: list[FusedNest], most: int) -> Iterator[list[Statement]]:
    """The statements of nests that follow one another, as long as their loops are few."""
    group: list[Statement] = []
    count = 0
    for item in items:
        share = item.size is not None and all(isinstance(s, Let) for s in item.statements)
        loops = 1 if share else sum(map(_loops, item.statements))
        if group and count + loops > most:
            yield group
            group, count = [], 0
        group += item.statements
        count += loops
    yield group


def _loops(s: Statement) -> int:
    """How many loops a statement is if it shares none."""
    if isinstance(s, Let):
        arrays = any(is_array(v) for v in (*s.args, *s.outs))
        return int(arrays and not s.op.view and s.op not in (index, update))
    return isinstance(s, (For, While)) + sum(_loops(t) for b in blocks(s) for t in b.body)
