"""Joins two values of one structure: the types of their leaves, and the structure of both."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, Literal, StackType, Type
from tapeless.transforms.errors import StructureError
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import is_same
from tapeless.transforms.frontend.values.structure import (
    Incompatible,
    Structure,
    is_reference,
    is_text,
    unflatten,
)
from tapeless.transforms.ops.primitives.shapes import cast

Build = Callable[[Structure, Structure, Callable[[], list[Any]]], Any]


def _like_the_first(a: Structure, b: Structure, children: Callable[[], list[Any]]) -> Any:
    return unflatten(a, children())


def join(
    a: Structure,
    b: Structure,
    leaf: Callable[[Structure, Structure], Any],
    build: Build = _like_the_first,
    text: Callable[[Structure, Structure], Any] | None = None,
    absent: Callable[[Structure, Structure], Any] | None = None,
    choice: Callable[[Structure, Structure], Any] | None = None,
) -> Any:
    """One value for two that are built alike; `leaf` makes the value for two leaves, `build` that
    for two containers, `text` that for two texts, where they may differ, `absent` that where one
    may be None, `choice` that for two containers or objects which stay apart."""
    if choice is not None and (chosen := choice(a, b)) is not None:
        return chosen
    if a.kind == "leaf" and b.kind == "leaf":
        return leaf(a, b)
    if text is not None and a.value is not b.value and is_text(a) and is_text(b):
        return text(a, b)
    if absent is not None and a.value is not b.value and (joined_value := absent(a, b)) is not None:
        return joined_value
    if a.kind == "static" and b.kind == "static":
        if a.value is b.value or is_same(a.value, b.value):
            return a.value
        trace().decisions.codable = True
        raise StructureError(
            f"{a.describe()} and {b.describe()} differ",
            "only numbers, arrays and containers of them can depend on data",
        )
    a, b = _of_the_program(a, b), _of_the_program(b, a)
    if a.kind is b.kind and a.keys == b.keys:
        pairs = list(zip(a.children, b.children, strict=True))
        parts = functools.partial(
            join, leaf=leaf, build=build, text=text, absent=absent, choice=choice
        )
        return build(a, b, lambda: [parts(x, y) for x, y in pairs])
    if is_reference(a) and is_reference(b):
        return leaf(a, b)
    raise StructureError(
        f"{a.describe()} and {b.describe()} are built differently", Incompatible.hint
    )


def _of_the_program(a: Structure, other: Structure) -> Structure:
    """A list from outside, where another one is made by the program, is of the kind of that."""
    own = a.kind is list and isinstance(other.kind, type) and issubclass(other.kind, list)
    named = own and other.kind.__name__ == "list"
    return dataclasses.replace(a, kind=other.kind) if named else a


def join_types(
    a: Type | StackType,
    b: Type | StackType,
    own: set[dims.Size] | None = None,
    loop: Any = None,
) -> Type | StackType:
    """The type of a value that is now `a`, now `b`; StructureError if there is none.

    own   lengths that were made here for one variable, of which `a` is what was joined before: they
          stay. Another length that may differ may be that of another variable, or of another loop.
    loop  which one decides that an axis has length one; None if none does
    """
    if isinstance(a, StackType) or isinstance(b, StackType):
        if isinstance(a, StackType) and isinstance(b, StackType):
            common = join_types(a.item, b.item, own, loop)
            assert isinstance(common, Type)
            return StackType(common)
        raise StructureError(f"{a} and {b} differ")
    if a.ndim != b.ndim:
        raise StructureError(
            f"{_with_axes(a)} and {_with_axes(b)} have different numbers of axes",
            "give both the same shape, as np.zeros_like and np.full_like do",
        )
    loop = own.loop if isinstance(own, LoopLengths) else loop
    shape = tuple(_join_sizes(x, y, own, loop) for x, y in zip(a.shape, b.shape, strict=True))
    if a.dtype == b.dtype:
        return Type(a.dtype, shape, a.weak and b.weak)
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        raise StructureError(
            "one is a truth value, the other a number",
            "give the name the same kind of value: bool(...), float(...) or .astype(float)",
        )
    if a.ndim:
        raise StructureError(f"{a} and {b} have different dtypes")
    if a.weak != b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        number = {"i": 0, "u": 0, "f": 0.0, "c": 0j}[weak.dtype.kind]
        return Type(np.result_type(strong.dtype, number), shape)
    dtype = np.promote_types(a.dtype, b.dtype)
    if any(_loses_precision(t.dtype, dtype) for t in (a, b)):
        raise StructureError(
            f"one is of {a.dtype}, the other of {b.dtype}: what is computed from them is rounded "
            "differently",
            f"give both one dtype: np.{dtype}(...)",
        )
    return Type(dtype, shape, a.weak)


def _loses_precision(dtype: np.dtype[Any], common: np.dtype[Any]) -> bool:
    """Whether what NumPy computes from floats of one dtype is rounded to fewer digits than what it
    computes from those of another."""
    both = dtype.kind in "fc" and common.kind in "fc"
    return both and np.finfo(dtype).bits < np.finfo(common).bits


def _with_axes(t: Type) -> str:
    return "a number" if not t.shape else f"an array of {t.ndim} ax{'i' if t.ndim == 1 else 'e'}s"


class LoopLengths(set[dims.Size]):
    """The lengths that were made for the variables of one loop; `loop` tells which. An axis that
    has length one in some of its passes has one of them, as long as nothing asks whether it is
    stretched there."""

    loop: Any = None


def _join_sizes(a: dims.Size, b: dims.Size, own: set[dims.Size] | None, loop: Any) -> dims.Size:
    if a == b:
        return a
    t = trace()
    if 1 in (a, b) and a not in t.perhaps_one:
        if loop is None or loop in t.decisions.stretching:
            raise StructureError(
                f"an axis of length one becomes an axis of length {b if a == 1 else a}"
            )
        size = dims.symbol("n", 0)
        t.perhaps_one[size] = loop
        t.joined.add(size)
        if own is not None:
            own.add(size)
        return size
    if own is not None and a in own:
        return a
    x, y = t.value(a), t.value(b)
    if x is not None and x == y:
        t.guard("==", a, b)
        return t.equal_sizes.setdefault(frozenset((a, b)), a if isinstance(a, int) else b)
    size = dims.symbol("n", 0)
    t.joined.add(size)
    if own is not None:
        own.add(size)
    return size


def convert(value: Atom, to: Type | StackType) -> Atom:
    """`value` as the joined type, in the open block."""
    if isinstance(to, StackType) or value.type.dtype == to.dtype:
        return value
    if isinstance(value, Literal):
        number = to.dtype.type(value.value)
        return Literal(number.item() if to.weak else number, to)
    if to.weak or (value.type.weak and not to.shape):
        return cast(value, dtype=to.dtype)  # type: ignore[no-any-return]
    return cast(value, dtype=to.dtype)  # type: ignore[no-any-return]
