"""Draws arrays of random numbers in loops number by number, in NumPy's order, as kernels can.

for t in range(n): v = rng.normal(m, s, 3)
    becomes      for t in range(n): v = empty(3); for k in range(3): v[k] = rng.normal(m, s)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tapeless.transforms.core.builder import building, current
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    with_blocks,
)
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.lowering.rewrite.scans import loop
from tapeless.transforms.ops.primitives.callbacks import CALLABLE
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.random_draws import draw, is_compiled_by_number
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update


def draws_by_number(block: Block, inside: bool = False) -> Block:
    """The block with such draws in its loops; `inside`: it is that of a loop."""
    body: list[Statement] = []
    for s in block.body:
        if isinstance(s, Let):
            arrays = inside and s.op is draw and s.outs[0].type.shape
            body += _numbers(s) if arrays and is_compiled_by_number(s) else [s]
            continue
        within = inside or isinstance(s, (For, While))
        body.append(with_blocks(s, partial(draws_by_number, inside=within)))
    return replace(block, body=tuple(body))


def _numbers(s: Let) -> Iterator[Statement]:
    """The loops that draw an array."""
    b = Formula()
    b.origin = s.origin
    out = s.outs[0].type
    with building(b):
        result = _draw_along(s, out, empty(shape=out.shape, dtype=out.dtype), [])
    yield from b.blocks[0]
    yield Let(s.outs, identity, (result,), {}, s.origin)


def _draw_along(s: Let, out: Type, filled: Any, at: list[Atom]) -> Any:
    """The array with the numbers drawn whose first indices are `at`."""
    if len(at) < len(out.shape):
        n = out.shape[len(at)]
        return loop(n, (filled,), lambda i, array: (_draw_along(s, out, array, [*at, i]),))[0]
    number = Var(Type(out.dtype, (), s.params["name"] != "integers"))
    args = [a if a.type == CALLABLE else _element(a, at) for a in s.args]
    params = {**s.params, "shape": (), "weak": number.type.weak}
    current().let((number,), draw, tuple(args), params)
    return update(filled, number, *at, key=tuple(map(Slot, range(len(at)))))


def _element(a: Atom, at: list[Atom]) -> Any:
    """The parameter of one number: arrays of them line up with the shape from behind."""
    if not a.type.shape:
        return a
    places = at[len(at) - a.type.ndim :]
    long = [k for k, n in enumerate(a.type.shape) if n != 1]
    key = tuple(Slot(long.index(k)) if k in long else 0 for k in range(a.type.ndim))
    return index(a, *(places[k] for k in long), key=key)
