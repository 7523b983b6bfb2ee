"""A value that is the same for all elements, as a batch: for variables that loops carry."""

from __future__ import annotations

from tapeless.transforms.core.language import Atom, Literal, Type
from tapeless.transforms.ops.elementwise import is_number
from tapeless.transforms.ops.fresh import empty, full, zeros
from tapeless.transforms.ops.shapes import broadcast_to, copy


def filled(value: Atom, kind: Type) -> Atom:
    """An array of type `kind`, of its own memory, each element of which is `value`."""
    if isinstance(value, Literal) and value.value is None:
        return empty(shape=kind.shape, dtype=kind.dtype)  # type: ignore[no-any-return]
    if value.type.shape:
        return copy(broadcast_to(value, shape=kind.shape))  # type: ignore[no-any-return]
    if is_number(value, 0) or (isinstance(value, Literal) and value.value is False):
        return zeros(shape=kind.shape, dtype=kind.dtype)  # type: ignore[no-any-return]
    return full(value, shape=kind.shape, dtype=kind.dtype)  # type: ignore[no-any-return]
