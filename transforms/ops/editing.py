"""Elements taken out of arrays and put into them: np.delete, np.insert, np.resize, np.unstack."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, size_atom, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.arithmetic import mod
from tapeless.transforms.ops.creation import shape_of
from tapeless.transforms.ops.fresh import count_up
from tapeless.transforms.ops.indexing import INDEX, get
from tapeless.transforms.ops.joining import as_array, axis_of, concatenate
from tapeless.transforms.ops.parts import index, part
from tapeless.transforms.ops.shapes import broadcast_to, cast_to, flat, move, reshape

kept_positions = Op(
    "kept_positions",
    lambda n, places: Type(INDEX, (dims.symbol("n", 0),)),
    "np.delete(np.arange({0}), {1})",
    costly=True,
)


def _axis(arr: Any, axis: Any) -> tuple[Atom, int]:
    a = as_array(arr)
    return (flat(a), 0) if axis is None else (a, axis_of(axis, a.type.ndim))


def _place(k: Any, n: Size) -> Size:
    """A known position, counted from the front."""
    at = int(static(k, "the position must be known"))
    return n + at if at < 0 else at


def _delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    a, k = _axis(arr, axis)
    n = a.type.shape[k]
    if isinstance(obj, slice):
        if obj.step not in (None, 1):
            raise UnsupportedError("np.delete with a slice with a step", "use a mask")
        start = 0 if obj.start is None else _place(obj.start, n)
        return _joined(a, k, start, n if obj.stop is None else _place(obj.stop, n))
    places = as_array(obj)
    if not places.type.shape:
        at = _place(places, n)
        return _joined(a, k, at, at + 1)
    return get(a, (*(slice(None),) * k, kept_positions(size_atom(n), places)))


def _joined(a: Atom, axis: int, stop: Size, start: Size) -> Any:
    """Without the elements from `stop` to `start`."""
    n = a.type.shape[axis]
    return concatenate(part(a, axis, 0, stop), part(a, axis, start, n), axis=axis)


def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """At a known number of places; those in an array are `inserted` by code of NumPy's."""
    a, k = _axis(arr, axis)
    n, v = a.type.shape[k], cast_to(as_array(values), a.type.dtype)
    v = reshape(v, shape=(1,) * (a.type.ndim - v.type.ndim) + v.type.shape)
    many = obj if isinstance(obj, (list, tuple)) else [obj]
    if not isinstance(obj, (list, tuple)):
        v = move(v, (0,), (k,))
    length = v.type.shape[k] if len(many) == 1 else len(many)
    v = broadcast_to(v, shape=(*a.type.shape[:k], length, *a.type.shape[k + 1 :]))
    places = [_place(at, n) for at in many]
    if len(places) == 1:
        pieces = [part(a, k, 0, places[0]), v, part(a, k, places[0], n)]
    else:
        order = _sorted_places(places)
        ends = [0, *(places[j] for j in order), n]
        between = [part(a, k, start, stop) for start, stop in itertools.pairwise(ends)]
        news = [part(v, k, j, j + 1) for j in order]
        pieces = [p for pair in zip(between, news, strict=False) for p in pair] + between[-1:]
    return concatenate(*pieces, axis=k)


def _sorted_places(places: list[Size]) -> list[int]:
    if not all(isinstance(p, int) for p in places):
        raise UnsupportedError(
            "np.insert at several positions from the end", "count from the front"
        )
    return sorted(range(len(places)), key=lambda j: places[j])  # type: ignore[arg-type, return-value]


def _resize(a: Any, new_shape: Any) -> Any:
    line, sizes = flat(as_array(a)), shape_of(new_shape)
    where = mod(count_up(dims.product(sizes)), atom(line.type.shape[0]))
    return reshape(get(line, where), shape=sizes)


def _unstack(x: Any, /, *, axis: Any = 0) -> Any:
    x = as_array(x)
    k = axis_of(axis, x.type.ndim)
    n = static(size_atom(x.type.shape[k]), "the number of arrays must be known")
    return tuple(index(x, key=(*(slice(None),) * k, j)) for j in range(n))


NUMPY = {
    np.delete: _delete,
    np.insert: _insert,
    np.resize: _resize,
    np.unstack: _unstack,
}
