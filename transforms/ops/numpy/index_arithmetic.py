"""Defines indices made from indices: of diagonals and triangles, flat ones, choices."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, defining_statement, join, static
from tapeless.transforms.core.dims import Size, product
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.argmax import argmax, argmin, nanargmax, nanargmin
from tapeless.transforms.ops.numpy.indexing import get, triangle
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.numpy.run_time_errors import raise_where
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater_equal,
    less,
    logical_or,
)
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.selection import select


def _only_c(name: str, order: str) -> None:
    if order != "C":
        raise UnsupportedError(f"{name} with order={order!r}", "use order='C'")


def _is_beyond(index: Atom, n: Size) -> Atom:
    return logical_or(less(index, 0), greater_equal(index, atom(n)))  # type: ignore[no-any-return]


def _unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    _only_c("np.unravel_index", order)
    rest, sizes, places = as_array(indices), shape_of(shape), []
    total = product(sizes)
    let = defining_statement(rest, argmax, argmin, nanargmax, nanargmin)
    if let is None or product(let.args[0].type.shape) != total:
        message = "index is out of bounds for the shape that it is to be a place of"
        raise_where(_is_beyond(rest, total), ValueError, message)
    for n in reversed(sizes[1:]):
        places.append(mod(rest, atom(n)))
        rest = floordiv(rest, atom(n))
    return (rest, *reversed(places))


def _ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    _only_c("np.ravel_multi_index", order)
    if mode != "raise":
        raise UnsupportedError(f"np.ravel_multi_index with mode={mode!r}", "use mode='raise'")
    first, *others = places = [*map(as_array, multi_index)]
    sizes = shape_of(dims)
    for n, index in zip(sizes, places, strict=True):
        raise_where(_is_beyond(index, n), ValueError, "invalid entry in coordinates array")
    for n, index in zip(sizes[1:], others, strict=True):
        first = add(mul(first, atom(n)), index)
    return first


def _diag_indices_from(arr: Any) -> Any:
    shape = as_array(arr).type.shape
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if 1 in shape and set(shape) != {1}:
        raise ValueError("All dimensions of input must be of equal length")
    return (count_up(functools.reduce(join, shape)),) * len(shape)


def _triangle_from(name: str) -> Any:
    def indices(arr: Any, k: int = 0) -> Any:
        n, m = as_array(arr).type.shape
        return triangle.bind(atom(n), name=name, k=k, m=m)

    return indices


def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    if not isinstance(choices, (list, tuple)):
        choices = as_array(choices)
        many = static(atom_of_size(choices.type.shape[0]), "how many arrays are chosen from")
        choices = [get(choices, k) for k in range(many)]
    which, options = as_array(a), [as_array(c) for c in choices]
    if which.type.dtype.kind in "fc":
        raise TypeError(
            f"Cannot cast array data from {which.type.dtype!r} to {np.dtype(int)!r} according to "
            "the rule 'safe'"
        )
    which = _apply_index_mode(which, len(options), mode)
    if mode == "raise" and not (which.type.dtype.kind == "b" and len(options) > 1):
        raise_where(_is_beyond(which, len(options)), ValueError, "invalid entry in choice array")
    chosen = options[-1]
    for k, option in reversed(list(enumerate(options[:-1]))):
        chosen = select(equal(which, k), option, chosen)
    return chosen


def _apply_index_mode(which: Atom, count: int, mode: str) -> Any:
    if mode == "wrap":
        return mod(which, count)
    return minimum(maximum(which, 0), count - 1) if mode == "clip" else which


NUMPY = {
    np.unravel_index: _unravel_index,
    np.ravel_multi_index: _ravel_multi_index,
    np.diag_indices_from: _diag_indices_from,
    np.tril_indices_from: _triangle_from("tril_indices"),
    np.triu_indices_from: _triangle_from("triu_indices"),
    np.choose: _choose,
}
