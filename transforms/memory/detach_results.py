"""Copies results that share memory with arguments or with each other, as callers may overwrite
them.

return x                                becomes     return x.copy()
return np.broadcast_to(1.0, x.shape)    becomes     return np.full(x.shape, 1.0)
return a                                becomes     return np.float64(a)        where a has no axes

>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(detach_results, count=2), '''
... (x: f8[n]):
...     y = mul(2.0, x)
...     return x, y
... '''))
(x: f8[n]):
    y: f8[n] = mul(2.0, x)
    t1: f8[n] = copy(x)
    return t1, y
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import Atom, Block, Let, Type, Var
from tapeless.transforms.memory.aliasing import Root
from tapeless.transforms.memory.in_place_stores import InPlaceStores
from tapeless.transforms.memory.materialize_fills import materialize_fills
from tapeless.transforms.ops.primitives.axis_lengths import copy_if_set
from tapeless.transforms.ops.primitives.new_arrays import full
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast, copy
from tapeless.transforms.optimize.simplify import dead_code


def detach_results(block: Block, count: int) -> Block:
    """The block, with copies of those of its first `count` results that others can see."""
    memory = InPlaceStores(block.params)
    memory.block(materialize_fills(block).body, {a for a in block.results if isinstance(a, Var)})
    definitions = {v: s for s in block.body if isinstance(s, Let) for v in s.outs}
    results, lacking = list(block.results), may_lack(block)
    taken: set[Root] = set()
    b = Builder()
    with building(b):
        for k, a in enumerate(results[:count]):
            if not (isinstance(a, Var) and isinstance(a.type, Type) and a.type.shape):
                continue
            roots = memory.roots_of(a)
            if (
                not roots
                or roots & taken
                or any(kind not in ("own", "earlier", "shared") for kind, _ in roots)
            ):
                results[k] = copy_if_set(a) if a in lacking else _copy_of(a, definitions.get(a))
            taken |= roots
    if not b.blocks[0]:
        return block
    return dead_code(replace(block, body=(*block.body, *b.blocks[0]), results=tuple(results)))


def as_numbers(block: Block, arrays: Collection[Var]) -> Block:
    """The block, with numbers for results that may be one of these arrays without axes."""
    if not arrays:
        return block
    defined = {v for s in block.body if isinstance(s, Let) for v in s.outs}
    results, casts = list(block.results), []
    for k, a in enumerate(results):
        if isinstance(a, Var) and a not in defined and a.type == Type(a.type.dtype, ()):
            results[k] = number = Var(a.type)
            casts.append(Let((number,), cast, (a,), {"dtype": a.type.dtype}))
    return replace(block, body=(*block.body, *casts), results=tuple(results))


def _copy_of(v: Var, let: Let | None) -> Atom:
    if let is not None and let.op is broadcast_to and not let.args[0].type.shape:
        return full(let.args[0], shape=v.type.shape, dtype=v.type.dtype)  # type: ignore[no-any-return]
    return copy(v)  # type: ignore[no-any-return]
