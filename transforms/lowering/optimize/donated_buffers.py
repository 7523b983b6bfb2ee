"""Writes results to the memory of arguments that the caller has given away.

f(x): return y      becomes      f(x): x[:] = y; return x      where the types fit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Let, Type, Var
from tapeless.transforms.ops.primitives.slices_and_gathers import update


def store_in_donated(
    block: Block, donated: Sequence[Var], count: int, equal: Callable[[Size, Size], bool]
) -> tuple[Block, list[Var]]:
    """The block with its first `count` results stored to parameters, and those that were used."""
    free = [p for p in donated if isinstance(p.type, Type) and p.type.shape]
    used: list[Var] = []
    stores: list[Let] = []
    results: list[Atom] = list(block.results)
    for k, value in enumerate(results[:count]):
        fitting = [p for p in free if isinstance(value, Var) and _fits(value.type, p.type, equal)]
        if not fitting or value in block.params:
            continue
        p = fitting[0]
        free.remove(p)
        used.append(p)
        stored = Var(p.type, p.name)
        stores.append(Let((stored,), update, (p, value), {"key": (slice(None),) * p.type.ndim}))
        results[k] = stored
    return replace(block, body=(*block.body, *stores), results=tuple(results)), used


def _fits(a: Type, b: Type, equal: Callable[[Size, Size], bool]) -> bool:
    same = isinstance(a, Type) and a.dtype == b.dtype and a.ndim == b.ndim
    return same and all(map(equal, a.shape, b.shape))
