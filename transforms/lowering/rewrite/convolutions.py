"""Convolutions as loops, where no library makes them.

y = convolve(a, v)      becomes      for i: for j: y[i + j] += a[i] * v[j]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.numerics.calculus import convolve, cut
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, part


def convolution(out: Type, a: Atom, v: Atom, *, mode: str, ordered: bool) -> Any:
    """The full convolution, of which a mode may be a part."""
    if out.dtype.kind not in "iuf":
        raise NotTaken
    n, m = a.type.shape[0], v.type.shape[0]
    for length, name in ((n, "a"), (m, "v")):
        require_at_least(length, 1, ValueError, f"{name} cannot be empty")

    def outer(i: Any, y: Any) -> tuple[Any, ...]:
        x = cast_to(element(a, i, 0), out.dtype)

        def inner(j: Any, y: Any) -> tuple[Any, ...]:
            term = mul(x, cast_to(element(v, j, 0), out.dtype))
            return (add_at(y, term, add(i, j), key=(Slot(0),)),)

        return loop(m, (y,), inner)

    full = loop(n, (zeros(shape=(n + m - 1,), dtype=out.dtype),), outer)[0]
    start, length = cut(n, m, mode, ordered)
    return part(full, 0, start, start + length)


CONVOLVED: dict[Op, Callable[..., Any]] = {convolve: convolution}
