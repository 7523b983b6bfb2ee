"""Arrays in another shape, as copies of their rows: the index of an element has no simple form.

y = reshape(x, (n * m,))      becomes      for i in range(n): y[i * m : (i + 1) * m] = x[i]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken, stored
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.lowering.sizes.size_equalities import check_equal, fitted
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, part, update


def reshaped(out: Type, x: Atom, *, shape: tuple[Size, ...]) -> Any:
    have = [n for n in x.type.shape if n != 1]
    want = [n for n in out.shape if n != 1]
    if have == want or 0 in (*have, *want):
        raise NotTaken
    total, wanted = dims.product(have), dims.product(want)
    if total != wanted:
        check_equal(total, wanted)
    x = reshape(x, shape=tuple(have))
    while x.type.ndim > 1:
        x = _first_two_merged(x)
    for k, n in enumerate(want[:-1]):
        x = _last_split(x, n, dims.product(want[k + 1 :]))
    return reshape(x, shape=out.shape)


def _first_two_merged(x: Atom) -> Any:
    n, m, *rest = x.type.shape

    def body(i: Any, y: Any) -> tuple[Any, ...]:
        at = size_of(i) * m
        return (stored(y, element(x, i, 0), 0, at, at + m),)

    return loop(n, (empty(shape=(n * m, *rest), dtype=x.type.dtype),), body)[0]


def _last_split(x: Atom, n: Size, m: Size) -> Any:
    """The last axis as n rows of m."""
    lead = x.type.shape[:-1]

    def body(i: Any, y: Any) -> tuple[Any, ...]:
        at = size_of(i) * m
        row = fitted(part(x, len(lead), at, at + m), shape=(*lead, m))
        return (update(y, row, i, key=(*(slice(None),) * len(lead), Slot(0))),)

    return loop(n, (empty(shape=(*lead, n, m), dtype=x.type.dtype),), body)[0]


RESHAPED: dict[Op, Callable[..., Any]] = {reshape: reshaped}
