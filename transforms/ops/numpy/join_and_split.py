"""Expresses the NumPy functions that join arrays, and split them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.ops.numpy.length_arguments import integers, is_line, size_given
from tapeless.transforms.ops.numpy.reshape_and_transpose import raised_shape
from tapeless.transforms.ops.primitives.joining import as_array, axis_of, concatenate_arrays, stack
from tapeless.transforms.ops.primitives.shapes import cast_to, flatten, move, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import part

Shape = tuple[Size, ...]


def _concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None) -> Any:
    whole = _of_rows(arrays, axis) if is_one(arrays) else _of_pieces(arrays, axis)
    return whole if dtype is None else cast_to(whole, np.dtype(dtype))


def is_one(arrays: Any) -> bool:
    """Whether one array is given in the place of a list of its rows."""
    return isinstance(arrays, (Var, Literal))


def _of_pieces(arrays: Any, axis: Any) -> Any:
    pieces = [as_array(a) for a in arrays]
    if not pieces:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        pieces, axis = [flatten(p) for p in pieces], 0
    if not pieces[0].type.ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return concatenate_arrays(pieces, axis_of(axis, pieces[0].type.ndim, truths=False))


def _of_rows(a: Atom, axis: Any) -> Any:
    """The rows of an array, joined: their number and the length of the axis become one length."""
    if not a.type.shape:
        raise TypeError("dispatcher for __array_function__ did not return an iterable")
    if a.type.shape[:1] == (0,):
        raise ValueError("need at least one array to concatenate")
    if axis is None and a.type.shape:
        return flatten(a)
    if a.type.ndim < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    k = axis_of(axis, a.type.ndim - 1)
    a = move(a, (0,), (k,))
    sizes = a.type.shape
    return reshape(a, shape=(*sizes[:k], sizes[k] * sizes[k + 1], *sizes[k + 2 :]))


def _stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None) -> Any:
    if not is_one(arrays):
        stacked = stack(arrays, axis)
    elif not arrays.type.shape:
        raise TypeError("iteration over a 0-d array")
    elif arrays.type.shape[:1] == (0,):
        raise ValueError("need at least one array to stack")
    else:
        stacked = move(arrays, (0,), (axis_of(axis, arrays.type.ndim),))
    return stacked if dtype is None else cast_to(stacked, np.dtype(dtype))


def _reshape_each(arrays: Any, shape: Callable[[Shape], Shape]) -> Any:
    """The arrays, each in another shape."""
    if not is_one(arrays):
        pieces = [as_array(a) for a in arrays]
        return [reshape(a, shape=shape(a.type.shape)) for a in pieces]
    if not arrays.type.shape:
        raise TypeError("iteration over a 0-d array")
    rows, *inner = arrays.type.shape
    return reshape(arrays, shape=(rows, *shape(tuple(inner))))


def _at_least(n: int) -> Callable[[Shape], Shape]:
    return lambda shape: raised_shape(shape, n)


def _vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return _concatenate(_reshape_each(tup, _at_least(2)), 0, dtype=dtype)


def _hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    pieces = _reshape_each(tup, _at_least(1))
    ndim = pieces.type.ndim - 1 if is_one(pieces) else [*pieces, atom(0)][0].type.ndim
    return _concatenate(pieces, 0 if ndim == 1 else 1, dtype=dtype)


def _dstack(tup: Any) -> Any:
    return _concatenate(_reshape_each(tup, _at_least(3)), 2)


def _column_stack(tup: Any) -> Any:
    return _concatenate(_reshape_each(tup, _standing), 1)


def _standing(shape: Shape) -> Shape:
    return shape if len(shape) > 1 else (*shape, 1) if shape else (1, 1)


def _block(arrays: Any) -> Any:
    def depth(a: Any) -> int:
        return 1 + depth(a[0]) if isinstance(a, list) else 0

    levels = depth(arrays)

    def leaves(a: Any) -> Any:
        return [x for e in a for x in leaves(e)] if isinstance(a, list) else [as_array(a)]

    ndim = max(levels, *(a.type.ndim for a in leaves(arrays)))

    def build(a: Any, level: int) -> Any:
        if not isinstance(a, list):
            x = as_array(a)
            return reshape(x, shape=(1,) * (ndim - x.type.ndim) + x.type.shape)
        return _concatenate([build(e, level - 1) for e in a], -level)

    return build(arrays, levels)


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate([arr, values], axis)


# -- splitting


def _array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    a = as_array(ary)
    k = axis_of(axis, a.type.ndim)
    n = a.type.shape[k]
    if _are_positions(indices_or_sections):
        inner = [_from_end(size_given(b), n) for b in integers(indices_or_sections)]
        ends = [0, *inner, n]
    else:
        count = static(indices_or_sections, "the number of parts must be known")
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        size, extra = n // count, n % count
        if not isinstance(extra, int):
            extra = static(atom(extra), "the lengths of the parts depend on it")
            size = (n - extra) // count
        ends = [j * size + min(j, extra) for j in range(count + 1)]
    return [part(a, k, start, stop) for start, stop in itertools.pairwise(ends)]


def _are_positions(parts: Any) -> bool:
    """Whether it says where parts end, and not how many there are."""
    return isinstance(parts, (list, tuple)) or is_line(parts)


def _from_end(b: Size, n: Size) -> Size:
    return n + b if isinstance(b, int) and b < 0 else b


def _split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    a = as_array(ary)
    if not _are_positions(indices_or_sections):
        n = a.type.shape[axis_of(axis, a.type.ndim)]
        rest = n % static(indices_or_sections, "the number of parts must be known")
        if static(rest if isinstance(rest, int) else atom(rest), "np.split divides evenly"):
            raise ValueError("array split does not result in an equal division")
    return _array_split(a, indices_or_sections, axis)


NAMES_OF_SPLITS = (("vsplit", 2), ("hsplit", 1), ("dsplit", 3))


def _split_along(axis: int) -> Any:
    def split(ary: Any, indices_or_sections: Any) -> Any:
        a = as_array(ary)
        if a.type.ndim < NAMES_OF_SPLITS[axis][1]:
            name, least = NAMES_OF_SPLITS[axis]
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return _split(a, indices_or_sections, min(axis, a.type.ndim - 1) if axis < 2 else axis)

    return split


NUMPY = {
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _vstack,
    np.hstack: _hstack,
    np.dstack: _dstack,
    np.column_stack: _column_stack,
    np.block: _block,
    np.append: _append,
    np.split: _split,
    np.array_split: _array_split,
    np.vsplit: _split_along(0),
    np.hsplit: _split_along(1),
    np.dsplit: _split_along(2),
}
with warnings.catch_warnings():  # the old name of vstack, which newer versions warn of or lack
    warnings.simplefilter("ignore")
    if hasattr(np, "row_stack"):
        NUMPY[np.row_stack] = _vstack
