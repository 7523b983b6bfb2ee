"""Rewrites products over several axes as sums of products of elements.

einsum("ij,kj->ik", a, b)      becomes      sum(a[:, None, :] * b[None, :, :], axis=2)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.shapes import cast_to, reshape, transpose
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather


def _broadcast_to_letters(x: Atom, letters: str, order: str) -> Any:
    """The array with an axis for each letter of `order`; of length one for those that it lacks."""
    axes = tuple(letters.index(c) for c in order if c in letters)
    if axes != tuple(range(len(axes))):
        x = transpose(x, axes=axes)
    lengths = iter(x.type.shape)
    return reshape(x, shape=tuple(next(lengths) if c in letters else 1 for c in order))


def _without_repeats(x: Atom, letters: str) -> tuple[Atom, str]:
    """The elements along axes of one letter at which these go up together, as one axis."""
    for c in dict.fromkeys(letters):
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            others = [k for k in range(len(letters)) if k not in (i, j)]
            along = count_up(x.type.shape[i])
            key = (*(slice(None) for _ in others), Slot(0), Slot(1))
            x = gather(transpose(x, axes=(*others, i, j)), along, along, key=key)
            letters = "".join(letters[k] for k in others) + c
    return x, letters


def sum_of_products(out: Type, *pieces: Atom, subscripts: str, **_: Any) -> Any:
    operands, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = operands.split(",")
    if not arrow or "." in operands or len({*result}) < len(result) or out.dtype.kind != "f":
        raise NotTaken
    diagonals = [_without_repeats(x, s) for x, s in zip(pieces, inputs, strict=True)]
    order = result + "".join(dict.fromkeys(c for c in operands if c.isalpha() and c not in result))
    parts = [cast_to(_broadcast_to_letters(x, s, order), out.dtype) for x, s in diagonals]
    axes = tuple(range(len(result), len(order)))
    product = functools.reduce(mul, parts)
    return total_of(product, axes=axes, keepdims=False) if axes else product


def product(out: Type, a: Atom, b: Atom) -> Any:
    """Products of stacks of matrices; those of two matrices have a form of their own."""
    if min(a.type.ndim, b.type.ndim) < 2 or max(a.type.ndim, b.type.ndim) < 3:
        raise NotTaken
    if out.dtype.kind != "f":
        raise NotTaken
    left = reshape(cast_to(a, out.dtype), shape=(*a.type.shape, 1))
    *lead, k, m = b.type.shape
    right = reshape(cast_to(b, out.dtype), shape=(*lead, 1, k, m))
    return total_of(mul(left, right), axes=(len(out.shape) - 1,), keepdims=False)


CONTRACTED: dict[Op, Callable[..., Any]] = {einsum: sum_of_products, matmul: product}
