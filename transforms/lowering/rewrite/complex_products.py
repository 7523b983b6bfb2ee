"""Rewrites products of small complex matrices inside of loops as sums of products of numbers.

for t: v = a @ v      becomes      for t: v = sum(a * v, axis=1)

A call of a library would leave compiled code at each pass; kernels have products of real matrices,
and calls of the library for those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.shapes import sum as total_of

MOST = 8192  # products of numbers, beyond which a library is quicker in spite of its call


def matmul_of_complex(small: Any, outs: tuple[Var, ...], a: Atom, b: Atom) -> Any:
    """The sum over the axis that both have."""
    if a.type.ndim > 2 or b.type.ndim > 2:
        raise NotTaken
    rows, (inner, *columns) = a.type.shape[:-1], b.type.shape
    small.require_small(MOST, dims.product((*rows, inner, *columns)))
    if columns:
        a = reshape(a, shape=(*a.type.shape, 1))
    if columns and rows:
        b = reshape(b, shape=(1, *b.type.shape))
    return total_of(mul(a, b), axes=(len(rows),), keepdims=False)


COMPLEX: dict[Op, Callable[..., Any]] = {matmul: matmul_of_complex}
