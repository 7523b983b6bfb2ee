"""Convolutions as loops, inside of loops and where no library makes them.

y = convolve(a, v)      becomes      for j: for i: y[i + j] += a[i] * v[j]

The second operand is mostly the shorter one: the inner loop goes along the first, in vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.numerics.calculus import convolve, cut
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, part


def convolution(out: Type, a: Atom, v: Atom, *, mode: str, ordered: bool) -> Any:
    """The convolution where the second operand lies in the first, if that is all that is asked for
    and the second is not the longer one; else the full one, of which a mode may be a part."""
    if out.dtype.kind not in "iuf":
        raise NotTaken
    n, m = a.type.shape[0], v.type.shape[0]
    for length, name in ((n, "a"), (m, "v")):
        require_at_least(length, 1, ValueError, f"{name} cannot be empty")

    inside = mode == "valid" and ordered

    def outer(j: Any, y: Any) -> tuple[Any, ...]:
        place = sub(atom_of_size(m - 1), j) if inside else j
        weight = cast_to(element(v, place, 0), out.dtype)

        def inner(i: Any, y: Any) -> tuple[Any, ...]:
            read, to = (add(i, j), i) if inside else (i, add(i, j))
            term = mul(cast_to(element(a, read, 0), out.dtype), weight)
            return (add_at(y, term, to, key=(Slot(0),)),)

        return loop(n - m + 1 if inside else n, (y,), inner)

    length = n - m + 1 if inside else n + m - 1
    sums = loop(m, (zeros(shape=(length,), dtype=out.dtype),), outer)[0]
    if inside:
        return sums
    start, length = cut(n, m, mode, ordered)
    return part(sums, 0, start, start + length)


CONVOLVED: dict[Op, Callable[..., Any]] = {convolve: convolution}
