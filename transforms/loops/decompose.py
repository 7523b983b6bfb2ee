"""Operations that are made of simpler ones, so that those share loops.

m = mean(x, axis=1)      becomes      t = sum(x, axis=1); m = t / x.shape[1]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    While,
    statements,
)
from tapeless.transforms.expand import identity
from tapeless.transforms.ops.elementwise import not_equal, sqrt, truediv
from tapeless.transforms.ops.reductions import count
from tapeless.transforms.ops.shapes import cast_to
from tapeless.transforms.ops.shapes import sum as total_of
from tapeless.transforms.simplify import simplify


def _mean(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    wide = x if x.type.dtype.kind in "fc" else cast_to(x, np.dtype(float))
    return truediv(total_of(wide, axes=axes, keepdims=keepdims), count(x.type, axes))


def _var(x: Atom, axes: tuple[int, ...], keepdims: bool, ddof: Any) -> Any:
    centred = x - _mean(x, axes, True)
    total = total_of(centred * centred, axes=axes, keepdims=keepdims)
    return truediv(total, count(x.type, axes) - ddof)


def _count_nonzero(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    return total_of(cast_to(not_equal(x, 0), np.dtype(np.intp)), axes=axes, keepdims=keepdims)


PARTS: dict[str, Callable[..., Any]] = {
    "mean": _mean,
    "var": _var,
    "std": lambda x, **params: sqrt(_var(x, **params)),
    "count_nonzero": _count_nonzero,
}


def decompose(block: Block) -> Block:
    """The block, simplified again if anything was taken apart."""
    made = _block(block)
    return simplify(made) if any(s.op.name in PARTS for s in _lets(block)) else made


def _lets(block: Block) -> Iterator[Let]:
    return (s for s in statements(block) if isinstance(s, Let))


def _block(block: Block) -> Block:
    return replace(block, body=tuple(_statements(block.body)))


def _statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    for s in body:
        match s:
            case Let() if s.op.name in PARTS and _real(s.args[0]):
                yield from _parts(s)
            case If():
                yield replace(s, then=_block(s.then), orelse=_block(s.orelse))
            case For():
                yield replace(s, body=_block(s.body))
            case While():
                yield replace(s, test=_block(s.test), body=_block(s.body))
            case _:
                yield s


def _real(a: Atom) -> bool:
    """Numbers whose sums do not overflow where NumPy's do not."""
    return a.type.dtype.kind in "biu" or a.type.dtype in (np.dtype("f4"), np.dtype("f8"))


def _parts(s: Let) -> Iterator[Statement]:
    b = Builder()
    b.origin = s.origin
    with building(b):
        made = PARTS[s.op.name](s.args[0], **s.params)
        made = cast_to(made, s.outs[0].type.dtype)
    *before, last = b.blocks[0]
    if isinstance(last, Let) and last.outs == (made,) and not isinstance(made, Literal):
        yield from before
        yield replace(last, outs=s.outs)
    else:
        yield from b.blocks[0]
        yield Let(s.outs, identity, (made,), {}, s.origin)
