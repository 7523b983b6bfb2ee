"""Convolutions as loops, inside of loops and where no library makes them.

y = convolve(a, v)      becomes      for j: for i: y[i] += a[i - j] * v[j]

The second operand is mostly the shorter one: the inner loop goes along the first, in vectors. Where
the window is longer than the result, each element of that is a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, var_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.numerics.calculus import convolve, correlate, cut
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.new_arrays import empty, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, part, update


def convolution(out: Type, a: Atom, v: Atom, *, mode: str, ordered: bool) -> Any:
    """Of all sums, those from where the mode starts; none reads what lies beyond the operands."""
    n, m = _lengths(out, a, v)
    start, length = cut(n, m, mode, ordered)

    def outer(j: Any, y: Any) -> tuple[Any, ...]:
        weight = cast_to(element(v, j, 0), out.dtype)
        shift = var_size(j) - start

        def inner(i: Any, y: Any) -> tuple[Any, ...]:
            term = mul(cast_to(element(a, atom_of_size(var_size(i) - shift), 0), out.dtype), weight)
            return (add_at(y, term, i, key=(Slot(0),)),)

        match mode:
            case "full":
                first, behind = shift, n + shift
            case "valid" if ordered:
                first, behind = 0, length
            case _:
                first, behind = dims.maximum(shift, 0), dims.minimum(n + shift, length)
        return loop(behind, (y,), inner, first)

    return loop(m, (zeros(shape=(length,), dtype=out.dtype),), outer)[0]


def correlation(out: Type, x: Atom, window: Atom, *, long: bool) -> Any:
    """Sums of products with a window that is short, or of which there are few."""
    n, m = _lengths(out, x, window)

    def products(j: Any, y: Any) -> tuple[Any, ...]:
        weight = cast_to(element(window, j, 0), out.dtype)

        def inner(i: Any, y: Any) -> tuple[Any, ...]:
            term = mul(cast_to(element(x, add(i, j), 0), out.dtype), weight)
            return (add_at(y, term, i, key=(Slot(0),)),)

        return loop(n - m + 1, (y,), inner)

    def sums(i: Any, y: Any) -> tuple[Any, ...]:
        terms = mul(part(x, 0, var_size(i), var_size(i) + m), window)
        total = total_of(cast_to(terms, out.dtype), axes=(0,), keepdims=False)
        return (update(y, total, i, key=(Slot(0),)),)

    if long:
        return loop(n - m + 1, (empty(shape=out.shape, dtype=out.dtype),), sums)[0]
    return loop(m, (zeros(shape=out.shape, dtype=out.dtype),), products)[0]


def _lengths(out: Type, *operands: Atom) -> Any:
    if out.dtype.kind not in "iuf":
        raise NotTaken
    for a, name in zip(operands, "av", strict=True):
        require_at_least(a.type.shape[0], 1, ValueError, f"{name} cannot be empty")
    return (a.type.shape[0] for a in operands)


CONVOLVED: dict[Op, Callable[..., Any]] = {convolve: convolution, correlate: correlation}
