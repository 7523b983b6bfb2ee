"""Writes products of a vector and a reshaped array, inside of loops, as sums over the array itself:
a kernel has no matrix of the same memory.

t = reshape(x, (n, p * q)); y = reshape(v @ t, (p, q))
    becomes      y = sum(v[:, None, None] * x, axis=0)

and outer products, which are their derivatives, likewise.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(vector_contractions, '''
... (x: f8[n, p, q], v: f8[n], s: f8[p, q], passes: pyi8):
...     y = for i in range(0, passes, 1) with a: f8[p, q] = s:
...         t = reshape(x, shape=(n, p*q))
...         b = matmul(v, t)
...         c = reshape(b, shape=(p, q))
...         d = add(a, c)
...         yield d
...     return y
... '''))
(x: f8[n, p, q], v: f8[n], s: f8[p, q], passes: pyi8):
    y = for i in range(0, passes, 1) with a: f8[p, q] = s:
        t: f8[n, p*q] = reshape(x, shape=(n, p*q))
        b: f8[p*q] = matmul(v, t)
        t1: f8[n, 1, 1] = reshape(v, shape=(n, 1, 1))
        t2: f8[n, p, q] = mul(t1, x)
        c: f8[p, q] = sum(t2, axes=(0,), keepdims=False)
        d: f8[p, q] = add(a, c)
        yield d
    return y
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, Let, Statement, While, with_blocks
from tapeless.transforms.lowering.rewrite.formulas import Definitions, parts_of, rewritten_lets
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.shapes import sum as total_of


def vector_contractions(block: Block) -> Block:
    """The block with such sums in its loops."""

    def in_loop(s: Statement) -> Statement:
        if isinstance(s, (For, While)):
            return with_blocks(s, lambda b: rewritten_lets(b, _rewrite))
        return with_blocks(s, vector_contractions)

    return replace(block, body=tuple(map(in_loop, block.body)))


def _rewrite(s: Let, definitions: Definitions) -> Iterable[Statement]:
    formula = _formula(s, definitions) if s.op is reshape else None
    return (s,) if formula is None else parts_of(s, lambda *_, **__: formula())


def _formula(s: Let, definitions: Definitions) -> Callable[[], Any] | None:
    """What computes the same without matrices, if that is a sum or a product of this kind."""
    source, shape = definitions.get(s.args[0]), s.outs[0].type.shape
    if not isinstance(source, Let) or source.op not in (matmul, mul):
        return None
    if source.outs[0].type.dtype.kind != "f":
        return None
    if source.op is matmul:
        for k in (0, 1):
            x, v = _of_more_axes(source.args[k], shape, k, definitions), source.args[1 - k]
            if x is not None and v.type.ndim == 1:
                return partial(_weighted_sum, x, v, k)
        return None
    of = source.outs[0].type.shape
    factors = [_factor(a, of, shape, definitions) for a in source.args]
    if None not in factors and [a.type.shape for a in factors].count(shape[1:]) == 1:
        return partial(_outer_product, factors, shape)
    return None


def _reshaped_of(a: Atom, definitions: Definitions) -> Any:
    let = definitions.get(a)
    return let.args[0] if isinstance(let, Let) and let.op is reshape else None


def _of_more_axes(a: Atom, shape: tuple[Size, ...], k: int, definitions: Definitions) -> Any:
    """The array that is a matrix here, if its axes but the first (k = 1) or the last (k = 0) are
    those of the result."""
    x = _reshaped_of(a, definitions)
    if x is None or a.type.ndim != 2 or len(shape) < 2:
        return None
    return x if (x.type.shape[1:] if k else x.type.shape[:-1]) == shape else None


def _weighted_sum(x: Atom, v: Atom, k: int) -> Any:
    if k == 0:
        return total_of(mul(x, v), axes=(x.type.ndim - 1,), keepdims=False)
    weights = reshape(v, shape=(*v.type.shape, *(1,) * (x.type.ndim - 1)))
    return total_of(mul(weights, x), axes=(0,), keepdims=False)


def _factor(
    a: Atom, of: tuple[Size, ...], shape: tuple[Size, ...], definitions: Definitions
) -> Any:
    """A factor of an outer product of shape `of`, whose last axis becomes those of `shape` but the
    first: the column, or the row with the axes that it had before."""
    if len(of) != 2 or len(shape) < 3:
        return None
    if a.type.ndim == 2 and a.type.shape[1] == 1:
        return a
    x = _reshaped_of(a, definitions) if a.type.ndim == 1 else None
    return x if x is not None and x.type.shape == shape[1:] else None


def _outer_product(factors: list[Any], shape: tuple[Size, ...]) -> Any:
    def with_axes(a: Atom) -> Any:
        if a.type.shape == shape[1:]:
            return a
        return reshape(a, shape=(a.type.shape[0], *(1,) * (len(shape) - 1)))

    return mul(*map(with_axes, factors))
