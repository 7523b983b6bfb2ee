"""Arrays that are put together, as stores to the parts of a new one.

y = concatenate(a, b)      becomes      y = empty(n + m); y[:n] = a; y[n:] = b
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.rolled_indices import turned
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.repeating import repeat
from tapeless.transforms.ops.primitives import arithmetic, elementwise
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import empty, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import part, part_key, update

MANY = 16  # parts: of more, the library's function is shorter


class NotTaken(Exception):  # noqa: N818 (a result, not an error)
    """The operation stays as it is."""


def stored(out: Any, value: Atom, axis: int, start: Size, stop: Size, step: int = 1) -> Any:
    """The array with a value in start:stop:step along an axis."""
    key, rest = part_key(out.type.shape[axis], axis, start, stop, step)
    return update(out, cast_to(value, out.type.dtype), *rest, key=key)


def concatenated(out: Type, *pieces: Atom, axis: int) -> Any:
    if len(pieces) > MANY:
        raise NotTaken
    whole, at = empty(shape=out.shape, dtype=out.dtype), 0
    for p in pieces:
        after = at + p.type.shape[axis]
        if p.type.shape[axis] != 0:
            whole = stored(whole, p, axis, at, after)
        at = after
    return whole


def rolled(out: Type, x: Atom, shift: Atom, *, axis: int) -> Any:
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
        return turned(x, axis, shift.value)
    whole = empty(shape=out.shape, dtype=out.dtype)
    parts = [(part(x, axis, 0, n - first), first, n), (part(x, axis, n - first, n), 0, first)]
    for p, start, stop in parts if isinstance(first, int) else parts[::-1]:  # the long one first
        whole = stored(whole, p, axis, start, stop)
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


def padded(out: Type, x: Atom, *, before: tuple[Size, ...], after: tuple[Size, ...]) -> Any:
    wide = [k for k in range(x.type.ndim) if (before[k], after[k]) != (0, 0)]
    if len(wide) != 1:
        raise NotTaken
    (axis,) = wide
    whole = zeros(shape=out.shape, dtype=out.dtype)
    return stored(whole, x, axis, before[axis], before[axis] + x.type.shape[axis])


def repeated(out: Type, x: Atom, *, repeats: Size, axis: int) -> Any:
    if not isinstance(repeats, int) or not 0 < repeats <= MANY:
        raise NotTaken
    whole = empty(shape=out.shape, dtype=out.dtype)
    for k in range(repeats):
        whole = stored(whole, x, axis, k, out.shape[axis], repeats)
    return whole


JOINED: dict[Op, Callable[..., Any]] = {
    concatenate: concatenated,
    roll: rolled,
    pad: padded,
    repeat: repeated,
}
