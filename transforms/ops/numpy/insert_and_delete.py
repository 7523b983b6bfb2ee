"""Defines insertion and deletion of elements: np.delete, np.insert, np.resize, np.unstack."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import (
    atom,
    atom_of_size,
    current,
    defining_statement,
    static,
    stretch,
)
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.argmax import argmax, argmin
from tapeless.transforms.ops.numpy.cast_rules import cast_for_store
from tapeless.transforms.ops.numpy.indexing import INDEX, get
from tapeless.transforms.ops.numpy.length_arguments import shape_of, size_given
from tapeless.transforms.ops.numpy.run_time_errors import require, require_at_least
from tapeless.transforms.ops.numpy.sorting import searchsorted
from tapeless.transforms.ops.primitives.arithmetic import add, mod, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    greater_equal,
    less,
    less_equal,
    logical_and,
)
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axis_of,
    concatenate,
    known_integer,
    refuse_truth,
)
from tapeless.transforms.ops.primitives.new_arrays import count_up, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    broadcast_to,
    cast_to,
    copy,
    flatten,
    move,
    reshape,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import index, part

kept_positions = Op(
    "kept_positions",
    lambda n, places: Type(INDEX, (dims.symbol("n", 0),)),
    "np.delete(np.arange({0}), {1})",
    costly=True,
)


def _axis(arr: Any, axis: Any) -> tuple[Atom, int]:
    a = as_array(arr)
    return (flatten(a), 0) if axis is None else (a, axis_of(axis, a.type.ndim))


def _place(k: Any, n: Size, last: Size, axis: int) -> Size:
    """A known position from 0 to `last`, counted from the front of n elements."""
    at = known_integer(k, "the position must be known")
    message = f"index {at} is out of bounds for axis {axis}"
    message += f" with size {n}" if isinstance(n, int) else ""
    require_at_least(n, -at if at < 0 else at + n - last, IndexError, message)
    return n + at if at < 0 else at


def _is_of_data(k: Any) -> bool:
    """Whether a position is an integer that only the program knows."""
    return isinstance(k, Var) and k.type.dtype.kind in "iu" and not k.type.shape


def _place_of_data(k: Atom, n: Size, last: Size, axis: int) -> Atom:
    """A position from 0 to `last`, counted from the front of n elements, as an integer."""
    at = k
    if defining_statement(k, argmin, argmax, searchsorted) is None:  # which count from the front
        at = select(less(k, 0), add(k, atom_of_size(n)), k)
    fine = logical_and(greater_equal(at, 0), less_equal(at, atom_of_size(last)))
    require(fine, IndexError, f"the index is out of bounds for axis {axis}")
    return at


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    a, k = _axis(arr, axis)
    n = a.type.shape[k]
    if isinstance(obj, slice):
        span = _span(obj, n)
        return (
            _delete_places(a, k, get(count_up(n), obj))
            if span is None
            else _delete_range(a, k, *span)
        )
    places = as_array(obj)
    refuse_truth(
        places,
        "boolean array argument obj to delete must be one dimensional and match the axis length",
        ValueError,
    )
    if places.type.shape:
        empty = places.type.shape == (0,)
        return copy(a) if empty else _delete_places(a, k, places)
    if _is_of_data(places):
        at, j = _place_of_data(places, n, n - 1, k), count_up(n - 1)
        return get(a, (*(slice(None),) * k, add(j, greater_equal(j, at))))
    first = _place(places, n, n - 1, k)
    return _delete_range(a, k, first, first + 1)


def _delete_places(a: Atom, axis: int, places: Atom) -> Any:
    kept = kept_positions(atom_of_size(a.type.shape[axis]), places)
    return get(a, (*(slice(None),) * axis, kept))


def _span(key: slice, n: Size) -> tuple[Size, Size] | None:
    """Where a slice starts and stops; None where it has a step, or where that is not known."""
    if key.step not in (None, 1):
        return None
    start = _clamp_bound(0 if key.start is None else size_given(key.start), n)
    stop = _clamp_bound(n if key.stop is None else size_given(key.stop), n)
    if start is None or stop is None:
        return None
    first = _clamp_bound(start, stop)
    return None if first is None else (start, start if first == stop else stop)


def _clamp_bound(bound: Size, n: Size) -> Size | None:
    if isinstance(bound, int) and isinstance(n, int):
        return slice(bound, None).indices(n)[0]
    return n if bound == n else current().clamp(bound, n)


def _delete_range(a: Atom, axis: int, stop: Size, start: Size) -> Any:
    """Without the elements from `stop` to `start`."""
    n = a.type.shape[axis]
    return concatenate(part(a, axis, 0, stop), part(a, axis, start, n), axis=axis)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """At a known number of places, or at one that data gives; those in an array are `inserted` by
    code of NumPy's."""
    a, k = _axis(arr, axis)
    refuse_truth(obj, "boolean array argument obj to insert must be one dimensional", ValueError)
    n, v = a.type.shape[k], cast_to(cast_for_store(values, a.type.dtype), a.type.dtype)
    if isinstance(obj, slice):
        length = static(atom_of_size(n), "the positions of a slice must be known")
        obj = list(range(*obj.indices(length)))
    v = reshape(v, shape=(1,) * (a.type.ndim - v.type.ndim) + v.type.shape)
    many = obj if isinstance(obj, (list, tuple)) else [obj]
    if not isinstance(obj, (list, tuple)):
        v = move(v, (0,), (k,))
    length = v.type.shape[k] if len(many) == 1 else len(many)
    whole = (*a.type.shape[:k], length, *a.type.shape[k + 1 :])
    stretch(v.type.shape, whole)
    v = broadcast_to(v, shape=whole)
    if len(many) == 1 and _is_of_data(many[0] if isinstance(many[0], Var) else as_array(many[0])):
        return _insert_at(a, v, _place_of_data(as_array(many[0]), n, n, k), k)
    places = [_place(at, n, n, k) for at in many]
    if len(places) == 1:
        pieces = [part(a, k, 0, places[0]), v, part(a, k, places[0], n)]
    else:
        pieces = _interleave(a, v, places, k)
    return concatenate(*pieces, axis=k)


def _insert_at(a: Atom, v: Atom, place: Atom, axis: int) -> Any:
    """All of `v` ahead of the element at a place that data gives."""
    n, m = a.type.shape[axis], v.type.shape[axis]
    j, end = count_up(n + m), add(place, atom_of_size(m))
    of_v = add(j, sub(atom_of_size(n), place))
    rest = sub(j, atom_of_size(m))
    source = select(less(j, place), j, select(less(j, end), of_v, rest))
    return get(concatenate(a, v, axis=axis), (*(slice(None),) * axis, source))


def _interleave(a: Atom, v: Atom, places: list[Size], axis: int) -> list[Atom]:
    """The parts of an array between places, and the new elements that belong there."""
    order = _sorted_places(places)
    ends = [0, *(places[j] for j in order), a.type.shape[axis]]
    between = [part(a, axis, start, stop) for start, stop in itertools.pairwise(ends)]
    news = [part(v, axis, j, j + 1) for j in order]
    return [p for pair in zip(between, news, strict=False) for p in pair] + between[-1:]


def _sorted_places(places: list[Size]) -> list[int]:
    if not all(isinstance(p, int) for p in places):
        raise UnsupportedError(
            "np.insert at several positions from the end", "count from the front"
        )
    return sorted(range(len(places)), key=lambda j: places[j])  # type: ignore[arg-type, return-value]


def _resize(a: Any, new_shape: Any) -> Any:
    line, sizes = flatten(as_array(a)), shape_of(new_shape)
    for size in sizes:
        message = "all elements of `new_shape` must be non-negative"
        require_at_least(size, 0, ValueError, message)
    n, some = line.type.shape[0], current().at_least(line.type.shape[0], 1)
    if not some.possible:
        return zeros(shape=sizes, dtype=line.type.dtype)
    if not some.certain:  # where there is none, what follows is repeated
        line = concatenate(line, zeros(shape=(1,), dtype=line.type.dtype), axis=0)
    where = mod(count_up(dims.product(sizes)), atom(n if some.certain else dims.maximum(n, 1)))
    return reshape(get(line, where), shape=sizes)


def _unstack(x: Any, /, *, axis: Any = 0) -> Any:
    x = as_array(x)
    k = axis_of(axis, x.type.ndim)
    n = static(atom_of_size(x.type.shape[k]), "the number of arrays must be known")
    return tuple(index(x, key=(*(slice(None),) * k, j)) for j in range(n))


NUMPY = {
    np.delete: _delete,
    np.insert: _insert,
    np.resize: _resize,
    np.unstack: _unstack,
}
