"""Merges the saves of a variable before and after each pass: the next pass begins with what the
last one left.

for t in range(n):                        x_saved[0] = x
    x_saved[t] = x                        for t in range(n):
    x = tanh(a @ x)           becomes         x = tanh(a @ x)
    x_saved_2[t] = x                          x_saved[t + 1] = x
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeless.transforms.autodiff.residuals.definitions import Path
from tapeless.transforms.core.language import Atom, Block, For, Type, Var


def find_shifted(saved: Iterable[Var], path: dict[Var, Path]) -> dict[Var, Var]:
    """For values left by a pass, the variable that has them in the next: where both are saved."""
    shifted_values: dict[Var, Var] = {}
    saved_set = set(saved)
    for p in saved:
        loop, block = _innermost_loop(path[p])
        if loop is None or block is None or p not in loop.carries:
            continue
        yielded = block.results[1 if loop.until else 0 :][loop.carries.index(p)]
        if (
            not isinstance(yielded, Var)
            or yielded not in saved_set - shifted_values.keys()
            or yielded in block.params
        ):
            continue
        if path[yielded] == path[p] and _have_same_type(yielded, p):
            shifted_values[yielded] = p
    return shifted_values


def init_of(p: Var, loop: For) -> Atom:
    """What a variable holds in the first pass."""
    return loop.inits[loop.carries.index(p)]


def _innermost_loop(path: Path) -> tuple[For | None, Block | None]:
    loop = path[-1][0] if path else None
    return (loop, loop.body) if isinstance(loop, For) and not loop.each else (None, None)


def _have_same_type(yielded: Var, p: Var) -> bool:
    arrays = isinstance(yielded.type, Type) and isinstance(p.type, Type)
    return arrays and (yielded.type.dtype, yielded.type.shape) == (p.type.dtype, p.type.shape)
