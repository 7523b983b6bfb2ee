"""Defines indexing as users write it: `x[key]`, np.take, and functions that give indices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.argument_words import MODES, require_word
from tapeless.transforms.ops.primitives.arithmetic import mod
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.boolean_keys import expand_ellipsis, truth_of
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.joining import array, as_array, axis_of
from tapeless.transforms.ops.primitives.new_arrays import count_up, zeros
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, copy, flatten, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Key as Key
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot as Slot
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at as add_at
from tapeless.transforms.ops.primitives.slices_and_gathers import compose as compose
from tapeless.transforms.ops.primitives.slices_and_gathers import gather as gather
from tapeless.transforms.ops.primitives.slices_and_gathers import index as index
from tapeless.transforms.ops.primitives.slices_and_gathers import part
from tapeless.transforms.ops.primitives.slices_and_gathers import read as read
from tapeless.transforms.ops.primitives.slices_and_gathers import update as update

INDEX = np.dtype(np.intp)
FEW = 32  # places that are written out
BOUNDS = "slice indices must be integers or None or have an __index__ method"


def normalize(key: Any, ndim: int) -> tuple[Key, Atoms]:
    """A user's key as a template of full length and the atoms in it."""
    entries = list(key) if isinstance(key, tuple) else [key]
    rest: list[Atom] = []

    def slot(value: Atom) -> Any:
        if isinstance(value, Literal) and value.type.dtype.kind in "iu":
            return int(value.value)
        rest.append(value)
        return Slot(len(rest) - 1)

    def bound(b: Any) -> Any:
        if not isinstance(b, (Var, Literal)):
            return None if b is None else _integer(b)
        if b.type.dtype.kind not in "iub" or b.type.shape:
            raise TypeError(BOUNDS)
        return slot(b)

    out: list[Any] = []
    for e in expand_ellipsis(entries, ndim):
        if isinstance(e, slice):
            out.append(slice(bound(e.start), bound(e.stop), bound(e.step)))
        elif e is None:
            out.append(None)
        elif isinstance(e, (int, np.integer)) and not isinstance(e, (bool, np.bool_)):
            out.append(int(e))
        elif isinstance(e, (Var, Literal)):
            out.append(slot(e))
        elif isinstance(e, (list, tuple)):
            entry = as_array(e)
            out.append(slot(entry if entry.type.shape != (0,) else as_array([], int)))
        else:
            raise IndexError(
                "only integers, slices, ellipsis, None and integer or boolean arrays "
                "are valid indices"
            )
    for e in out:
        if isinstance(e, Slot) and rest[e.k].type.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return tuple(out), tuple(rest)


def _integer(bound: Any) -> int:
    try:
        return operator.index(bound)
    except TypeError:
        raise TypeError(BOUNDS) from None


def get(x: Atom, key: Any) -> Any:
    mask_parts = truth_of(key, x.type.ndim)
    return _read(x, key) if mask_parts is None else _where_true(x, *mask_parts)


def _where_true(x: Atom, truth: Any, place: int, rest: list[Any]) -> Any:
    """What is beside a truth value in a key, along an axis of its own; or nothing."""
    line = _read(x, (*rest[:place], None, *rest[place:]))
    if isinstance(truth, Var):
        return _read(line, (*(slice(None),) * place, reshape(truth, shape=(1,))))
    return copy(line) if truth else part(line, place, 0, 0)


def _read(x: Atom, key: Any) -> Any:
    template, rest = normalize(key, x.type.ndim)
    check_bounds(lambda: x, x.type.shape, template)
    if None in template and all(e in (None, slice(None)) for e in template):
        sizes = iter(x.type.shape)
        return reshape(x, shape=tuple(1 if e is None else next(sizes) for e in template))
    return read(x, template, rest)


def check_bounds(read: Callable[[], Atom], shape: tuple[Size, ...], key: Key) -> None:
    """Raises IndexError where a number of the key is no place of its axis, as the program does
    where that is known only when it runs; `read` gives the array."""
    axis = 0
    for e in key:
        size = shape[axis] if axis < len(shape) else None
        if isinstance(e, int) and size is not None and not _is_in_bounds(e, size, read, axis):
            raise IndexError(f"index {e} is out of bounds for axis {axis} with size {size}")
        if e is None:
            continue
        axis += 1
        if isinstance(e, Slot):
            return


def _is_in_bounds(index: int, size: Size, read: Callable[[], Atom], axis: int) -> bool:
    if isinstance(size, int):
        return -size <= index < size
    return current().in_bounds(index, size, lambda: axis_size(read(), axis=axis))


# -- positions


def _nonzero_infer(x: Atom) -> tuple[Type, ...]:
    most = dims.product(x.type.shape)
    places_type = Type(INDEX, (dims.symbol("n", 0, upper=most),))
    return tuple(places_type for _ in range(x.type.ndim))


def _nonzero_source(args: Atoms, params: Params) -> str:
    return "np.flatnonzero({0})" if args[0].type.ndim == 1 else "np.nonzero({0})"


nonzero = Op("nonzero", _nonzero_infer, _nonzero_source, costly=True)
argwhere = Op(
    "argwhere",
    lambda x: Type(INDEX, (dims.symbol("n", 0), x.type.ndim)),
    "np.argwhere({0})",
    costly=True,
)


def _triangle_source(args: Atoms, params: Params) -> str:
    return f"np.{params['name']}({{0}}, {{k}}{')' if params['m'] is None else ', {m})'}"


triangle = Op(
    "triangle",
    lambda n, *, name, k, m: (Type(INDEX, (dims.symbol("n", 0),)),) * 2,
    _triangle_source,
    costly=True,
)


def _positions(a: Any) -> Any:
    a = as_array(a)
    if not a.type.ndim:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. "
            "Use np.atleast_1d(scalar).nonzero() instead."
        )
    mask = current().constant_value(a)
    places = () if mask is None else np.nonzero(mask)
    if places and not len(places[0]):
        return (zeros(shape=(0,), dtype=INDEX),) * len(places)
    if places and len(places[0]) <= FEW:
        return tuple(array(*p.tolist(), shape=p.shape, dtype=INDEX) for p in places)
    return nonzero.bind(a)


def _ix(*args: Any) -> Any:
    pieces = [as_array(a) for a in args]
    if any(a.type.ndim != 1 for a in pieces):
        raise ValueError("Cross index must be 1 dimensional")
    pieces = [nonzero(a) if a.type.dtype.kind == "b" else a for a in pieces]
    shapes = [
        tuple(a.type.shape[0] if k == j else 1 for j in range(len(pieces)))
        for k, a in enumerate(pieces)
    ]
    return tuple(reshape(a, shape=shape) for a, shape in zip(pieces, shapes, strict=True))


def _triangle(name: str) -> Any:
    def indices(n: Any, k: int = 0, m: Any = None) -> Any:
        return triangle.bind(n, name=name, k=k, m=m)

    return indices


# -- taking


def as_places(indices: Any) -> Any:
    """Places as np.take and np.put read them: truth values are 0 and 1; numbers and lists of them
    may be broken, arrays may not."""
    is_list = isinstance(indices, (list, tuple))
    if is_list and not indices:
        return zeros(shape=(0,), dtype=INDEX)
    where = as_array(indices)
    dtype = where.type.dtype
    if dtype.kind == "c" or (dtype.kind == "f" and where.type.shape and not is_list):
        raise TypeError(
            f"Cannot cast array data from {dtype!r} to {INDEX!r} according to the rule 'same_kind'"
        )
    return cast_to(where, INDEX) if dtype.kind in "bf" else where


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    a, where = as_array(a), as_places(indices)
    if axis is None or (not a.type.shape and axis_of(axis, 1) == 0):
        a, axis = flatten(a), 0
    k = axis_of(axis, a.type.ndim, truths=False)
    n = a.type.shape[k]
    require_word(mode, MODES, "clipmode")
    if mode != "raise":  # the length may be no integer of a small dtype
        where = cast_to(where, INDEX)
    if mode == "wrap":
        where = mod(where, n)
    elif mode == "clip":
        where = minimum(maximum(where, 0), n - 1)
    return get(a, (*(slice(None),) * k, where))


def take_along(x: Atom, where: Atom, axis: int) -> Any:
    """np.take_along_axis: x[i, j, where[i, j, k]] for all i, j, k."""
    key, rest = along_axis(x, where, axis)
    return read(x, key, rest)


def along_axis(x: Atom, where: Atom, axis: int) -> tuple[Key, Atoms]:
    """The key that names, for each entry of `where`, an element of its own line along the axis."""
    entries = []
    for k in range(x.type.ndim):
        if k == axis:
            entries.append(where)
            continue
        n = x.type.shape[k]
        sizes = tuple(n if j == k else 1 for j in range(x.type.ndim))
        entries.append(reshape(count_up(n), shape=sizes))
    return tuple(map(Slot, range(x.type.ndim))), tuple(entries)


def _take_along(arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr, indices = as_array(arr), as_array(indices)
    if axis is None:
        return get(flatten(arr), indices)
    if arr.type.ndim != indices.type.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if indices.type.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    return take_along(arr, indices, axis_of(axis, arr.type.ndim))


def _extract(condition: Any, arr: Any) -> Any:
    line, chosen = flatten(as_array(arr)), flatten(as_array(condition))
    if chosen.type.dtype.kind == "b" and chosen.type.shape == line.type.shape:
        return get(line, chosen)
    return get(line, nonzero(chosen))  # there may be fewer of them


def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    a, wanted = as_array(a), nonzero(as_array(condition))
    if axis is None or not a.type.ndim:
        axis = axis_of(0 if axis is None else axis, 1)
        a = flatten(a)
    return get(a, (*(slice(None),) * axis_of(axis, a.type.ndim), wanted))


NUMPY = {
    np.take: _take,
    np.nonzero: _positions,
    np.flatnonzero: lambda a: _positions(flatten(as_array(a)))[0],
    np.argwhere: lambda a: argwhere(as_array(a)),
    np.ix_: _ix,
    np.extract: _extract,
    np.take_along_axis: _take_along,
    np.compress: _compress,
    np.tril_indices: _triangle("tril_indices"),
    np.triu_indices: _triangle("triu_indices"),
}
METHODS = {
    "take": _take,
    "nonzero": _positions,
    "compress": lambda a, condition, axis=None: _compress(condition, a, axis),
}
