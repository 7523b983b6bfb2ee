"""Rewrites joined arrays as stores to the parts of a new one.

y = concatenate(a, b)      becomes      y = empty(n + m); y[:n] = a; y[n:] = b
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.rolled_indices import roll_axis
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.numpy.padding import pad, pad_index
from tapeless.transforms.ops.numpy.repeating import repeat
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives import arithmetic, elementwise
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import count_up, empty, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, part, part_key, update

EMPTY = "can't extend empty axis 0 using modes other than 'constant' or 'empty'"
MANY = 16  # parts: of more, the library's function is shorter


class NotTaken(Exception):  # noqa: N818 (a result, not an error)
    """The operation stays as it is."""


def store_range(out: Any, value: Atom, axis: int, start: Size, stop: Size, step: int = 1) -> Any:
    """The array with a value in start:stop:step along an axis."""
    key, rest = part_key(out.type.shape[axis], axis, start, stop, step)
    return update(out, cast_to(value, out.type.dtype), *rest, key=key)


def concatenate_by_stores(out: Type, *pieces: Atom, axis: int) -> Any:
    if len(pieces) > MANY:
        raise NotTaken
    whole, at = empty(shape=out.shape, dtype=out.dtype), 0
    for p in pieces:
        after = at + p.type.shape[axis]
        if p.type.shape[axis] != 0:
            whole = store_range(whole, p, axis, at, after)
        at = after
    return whole


def roll_by_stores(out: Type, x: Atom, shift: Atom, *, axis: int) -> Any:
    """Both parts, where it is known that there are so many elements."""
    n = out.shape[axis]
    if isinstance(shift, Var):
        first: Size = _places(shift, n)
    elif dims.at_least(n, abs(shift.value)):
        first = shift.value if shift.value >= 0 else n + shift.value
    else:
        raise NotTaken
    if first == 0 or first == n:  # (sizes have no order)
        return x
    if isinstance(shift, Literal) and axis < x.type.ndim - 1:
        return roll_axis(x, axis, shift.value)
    whole = empty(shape=out.shape, dtype=out.dtype)
    parts = [(part(x, axis, 0, n - first), first, n), (part(x, axis, n - first, n), 0, first)]
    for p, start, stop in parts if isinstance(first, int) else parts[::-1]:  # the long one first
        whole = store_range(whole, p, axis, start, stop)
    return whole


def _places(shift: Var, n: Size) -> Size:
    """By how many places elements move towards the end, less than n."""
    if shift.type.shape or shift.type.dtype.kind not in "iu":
        raise NotTaken
    places = arithmetic.mod(cast_to(shift, INDEX), elementwise.maximum(atom_of_size(n), 1))
    if not isinstance(places, Var):
        raise NotTaken
    size: Size = dims.symbol("places", 0, places)
    places.size = size
    return size


def pad_by_stores(out: Type, x: Atom, *, before: tuple[Size, ...], after: tuple[Size, ...]) -> Any:
    """Zeros around an array, of which some lie along each axis."""
    key, rest = [], list[Atom]()
    for n, start, length in zip(out.shape, before, x.type.shape, strict=True):
        (bounds,), numbers = part_key(n, 0, start, start + length)
        key.append(_shift_bounds(bounds, len(rest)))
        rest += numbers
    return update(zeros(shape=out.shape, dtype=out.dtype), x, *rest, key=tuple(key))


def _shift_bounds(bounds: slice, by: int) -> slice:
    """Bounds that refer to numbers behind others."""

    def shift_slot(x: Any) -> Any:
        return Slot(x.k + by) if isinstance(x, Slot) else x

    return slice(shift_slot(bounds.start), shift_slot(bounds.stop), bounds.step)


def _is_axis(n: Size) -> bool:
    """Whether it is the length of an axis of an argument: one of length zero is known as such."""
    symbol = single_symbol(n)
    return symbol is not None and symbol.given and symbol.var is None


def require_elements(n: Size) -> None:
    """Records the test that an axis which is padded with its own elements has any."""
    if not _is_axis(n):
        require_at_least(n, 1, ValueError, EMPTY)


def padded_index(out: Type, n: Atom, *, width: tuple[Size, Size], mode: str) -> Any:
    """Where the elements of a padded axis come from, by arithmetic on their numbers."""
    require_elements(size_of(n))
    i = arithmetic.sub(count_up(out.shape[0]), atom_of_size(width[0]))
    last = arithmetic.sub(n, 1)
    match mode:
        case "edge":
            return elementwise.minimum(elementwise.maximum(i, 0), last)
        case "wrap":
            return arithmetic.mod(i, n)
        case "reflect":
            period = elementwise.maximum(arithmetic.mul(2, last), 1)
            i = arithmetic.mod(i, period)
            return elementwise.minimum(i, arithmetic.sub(period, i))
        case "symmetric":
            period = arithmetic.mul(2, n)
            i = arithmetic.mod(i, period)
            return elementwise.minimum(i, arithmetic.sub(arithmetic.sub(period, 1), i))
    raise NotTaken


def repeat_by_stores(out: Type, x: Atom, *, repeats: Size, axis: int) -> Any:
    if not isinstance(repeats, int) or not 0 < repeats <= MANY:
        raise NotTaken
    whole = empty(shape=out.shape, dtype=out.dtype)
    for k in range(repeats):
        whole = store_range(whole, x, axis, k, out.shape[axis], repeats)
    return whole


JOINED: dict[Op, Callable[..., Any]] = {
    concatenate: concatenate_by_stores,
    roll: roll_by_stores,
    pad: pad_by_stores,
    pad_index: padded_index,
    repeat: repeat_by_stores,
}
