"""Sums the cotangent of a store over an axis that it stretched, where data decides whether it did.

x[mask] = v      becomes      v_bar = x_bar[mask]
                              if len(v) == 1: v_bar = sum(v_bar)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, If, Type, Var
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.shapes import broadcast_to, reshape, sum


def unstretched(ct: Atom, t: Type) -> Atom:
    """A cotangent of a part of an array, summed as far as a value of type `t` was stretched to its
    shape along axes whose length depends on run-time values."""
    lead = ct.type.ndim - t.ndim
    for k, length in enumerate(t.shape):
        if lead + k >= 0 and _may_be_stretched(length, ct.type.shape[lead + k]):
            ct = _summed_if_one(ct, lead + k, length)
    return ct


def _may_be_stretched(length: Size, part: Size) -> bool:
    """Whether the first may be one, and the other not; lengths that the program can read are
    compared where the store is staged."""
    named = dims.symbols(length) | dims.symbols(part)
    compared = all(s.given or s.var is not None for s in named)
    return length != part and not isinstance(length, int) and not compared


def _summed_if_one(ct: Atom, axis: int, length: Size) -> Atom:
    b = current()
    shape = (*ct.type.shape[:axis], length, *ct.type.shape[axis + 1 :])

    def total() -> Any:
        return broadcast_to(sum(ct, axes=(axis,), keepdims=True), shape=shape)

    def block(result: Callable[[], Any]) -> Block:
        with b.block() as body:
            out = result()
        return Block((), tuple(body), (out,))

    out = Var(ct.type.with_shape(shape))
    test = equal(atom_of_size(length), 1)
    same = block(lambda: reshape(ct, shape=shape))
    b.emit(If((out,), test, block(total), same, origin=b.origin))
    return out
