"""Reads lengths and positions that the user gives: integers, or arrays of them."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic, atom, defining_statement, size_of, static
from tapeless.transforms.core.dims import Dim, Size
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.ops.primitives.joining import array, refuse_truth
from tapeless.transforms.ops.primitives.slices_and_gathers import index, read


def shape_of(shape: Any, truths: bool = False) -> tuple[Size, ...]:
    """A shape given by the user: an integer, or integers, each of which may be a variable, also
    truth values where a function takes `truths`."""
    many = isinstance(shape, (list, tuple)) or is_line(shape)
    sizes = integers(shape) if many else (shape,)
    if not truths:
        for size in sizes:
            refuse_truth(size)
    return tuple(map(size_given, sizes))


def size_given(size: Any) -> Size:
    if not isinstance(size, (Var, Literal)):
        return size if isinstance(size, Dim) else operator.index(size)
    if size.type.dtype.kind not in "iub":
        kind = "float" if size.type.weak else f"numpy.{size.type.dtype.name}"
        raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
    return size_of(size)


def is_line(x: Any) -> bool:
    """Whether something is an array with an axis, known or not."""
    return len(x.type.shape if isinstance(x, Var) else getattr(x, "shape", ())) == 1


def integers(values: Any) -> Any:
    """Integers given by the user as a sequence or as an array, one by one."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    if not isinstance(values, Var):
        return values
    if defining_statement(values) is None and values.type.shape != (
        1,
    ):  # an array from outside: its contents may be made known
        raise NeedStatic(values, "lengths and positions must be known one by one")
    (n,) = values.type.shape
    count = n if isinstance(n, int) else static(atom(n), "how many there are must be known")
    return [_element(values, k) for k in range(count)]


def _element(line: Var, k: int) -> Atom:
    """An element of a line, which is a length if the line was put together of lengths, or of sums
    or products of these."""
    element = read(line, (k,), ())
    let = defining_statement(element, index)
    key: Any = let.params["key"] if let else ()
    source = (
        defining_statement(let.args[0])
        if let and len(key) == 1 and isinstance(key[0], int)
        else None
    )
    if source is None:
        return element
    place: int = key[0]
    if source.op is array:
        return source.args[place]
    running = source.op.running
    if running is None:
        return element
    parts = defining_statement(source.args[0], array)
    return (
        functools.reduce(running, parts.args[: place % len(parts.args) + 1]) if parts else element
    )
