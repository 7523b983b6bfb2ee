"""Expresses the NumPy functions that overwrite an argument: each rule gives the new value of the
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.argument_words import MODES, require_word
from tapeless.transforms.ops.numpy.cast_rules import (
    as_elements,
    cast_by_rule,
    cast_for_store,
    check_bounds,
    leaves,
)
from tapeless.transforms.ops.numpy.cumulative import cumsum
from tapeless.transforms.ops.numpy.diagonals import diagonal_length
from tapeless.transforms.ops.numpy.indexing import along_axis, as_places, normalize
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_size
from tapeless.transforms.ops.numpy.stretched_values import stretch_value
from tapeless.transforms.ops.primitives.arithmetic import mod, neg, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, logical_and
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.extrema_at import maximum_at, minimum_at
from tapeless.transforms.ops.primitives.joining import as_array, axis_of, concatenate
from tapeless.transforms.ops.primitives.new_arrays import count_up, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast, cast_to, flatten, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Slot,
    add_at,
    gather,
    may_repeat,
    part,
    read,
    update,
)

# -- ufunc.at


def _add_at(a: Any, indices: Any, b: Any) -> Any:
    key, rest = normalize(indices, a.type.ndim)
    b = as_array(b)
    kinds = a.type.dtype.kind, b.type.dtype.kind
    if (kinds[0] in "iub" and kinds[1] in "fc") or (kinds[0] == "b" and kinds[1] != "b"):
        raise UnsupportedError(
            f"numbers of {b.type.dtype} added to elements of {a.type.dtype} one by one are cut off "
            "after each",
            "make the array one of numbers" if kinds[0] == "b" else "make the array one of floats",
        )
    return add_at(a, stretch_value(b, a, key, tuple(rest)), *rest, key=key)


def _subtract_at(a: Any, indices: Any, b: Any) -> Any:
    b = as_array(b)
    if a.type.dtype.kind == b.type.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    return _add_at(a, indices, neg(b))


def _extreme_at(op: Op, repeated: Op) -> Any:
    """a[indices] = op(a[indices], b), where an element may be named twice."""

    def update_at(a: Any, indices: Any, b: Any) -> Any:
        key, rest = normalize(indices, a.type.ndim)
        if may_repeat(key, rest):
            return repeated(a, as_array(b), *rest, key=key)
        new_elements = op(read(a, key, rest), as_array(b))
        return update(a, cast_to(new_elements, a.type.dtype), *rest, key=key)

    return update_at


# -- elements at positions


def _cyclic(values: Any, count: Size) -> Any:
    """The first `count` of the values, which start again where they end."""
    v = as_array(values)
    if not v.type.shape:
        return v
    v = flatten(v)
    n = v.type.shape[0]
    if n in (1, count):
        return v
    if current().at_least(n, count).certain:
        return part(v, 0, 0, count)
    return gather(v, mod(count_up(count), atom(n)), key=(Slot(0),))


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    line, where = flatten(a), flatten(as_places(ind))
    n = atom(line.type.shape[0])
    require_word(mode, MODES, "clipmode")
    if mode == "wrap":
        where = mod(where, n)
    elif mode == "clip":
        where = minimum(maximum(where, 0), n - 1)
    for number in leaves(v):
        check_bounds(number, a.type.dtype)
    held = as_elements(v, a.type.dtype, numpys=False)
    values = _cyclic(cast_for_store(held, a.type.dtype), where.type.shape[0])
    new = update(line, values, where, key=(Slot(0),))
    return reshape(new, shape=a.type.shape)


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    where, values = as_array(indices), cast_for_store(values, arr.type.dtype)
    if where.type.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        new = update(flatten(arr), values, where, key=(Slot(0),))
        return reshape(new, shape=arr.type.shape)
    key, rest = along_axis(arr, where, axis_of(axis, arr.type.ndim))
    return update(arr, values, *rest, key=key)


def _place(arr: Any, mask: Any, vals: Any) -> Any:
    """The k-th element under the mask becomes the k-th of the values, which are used cyclically."""
    held = as_elements(vals, arr.type.dtype, numpys=False)
    v = flatten(cast_by_rule(held, arr.type.dtype, "safe"))
    chosen = cast(flatten(as_array(mask)), dtype=np.dtype(bool))
    rank = sub(cumsum(cast(chosen, dtype=np.dtype(int)), axis=0), 1)
    count = v.type.shape[0]
    rank = maximum(rank, 0)
    if current().at_least(count, 1).certain:
        rank = mod(rank, atom(count))
    else:
        none = logical_and(chosen, equal(atom(count), 0))
        raise_where(none, ValueError, "Cannot insert from an empty array!")
        v = concatenate(v, zeros(shape=(1,), dtype=v.type.dtype), axis=0)
        rank = mod(rank, maximum(atom(count), 1))
    return _select_flat(arr, chosen, gather(v, rank, key=(Slot(0),)))


def _putmask(a: Any, mask: Any, values: Any) -> Any:
    chosen = cast(flatten(as_array(mask)), dtype=np.dtype(bool))
    message = "putmask: mask and data must be the same size"
    require_size(chosen.type.shape[0], dims.product(a.type.shape), ValueError, message)
    held = as_elements(values, a.type.dtype, numpys=False)
    new = cast_by_rule(held, a.type.dtype, "safe")
    return _select_flat(a, chosen, _cyclic(new, chosen.type.shape[0]))


def _select_flat(a: Atom, chosen: Atom, values: Atom) -> Any:
    return reshape(select(chosen, values, flatten(a)), shape=a.type.shape)


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    new = cast_by_rule(src, dst.type.dtype, casting)
    if where is not True:
        mask = as_array(where)
        _check_fits(mask, dst, "where mask")
        new = select(mask, new, dst)
    _check_fits(new, dst, "input array")
    if (extra_axes := new.type.ndim - dst.type.ndim) > 0:
        new = reshape(new, shape=new.type.shape[extra_axes:])
    key = (slice(None),) * dst.type.ndim
    return update(dst, stretch_value(new, dst, key, ()), key=key)


def _check_fits(x: Atom, dst: Atom, what: str) -> None:
    """ValueError where an array has more axes than that into which it is stored, which are longer
    than one."""
    extra_axes = max(x.type.ndim - dst.type.ndim, 0)
    shapes = f"from shape {x.type.shape} into shape {dst.type.shape}"
    for n in x.type.shape[:extra_axes]:
        require_size(n, 1, ValueError, f"could not broadcast {what} {shapes}")


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    if wrap:
        raise UnsupportedError("np.fill_diagonal with wrap=True", "fill the parts one by one")
    if a.type.ndim < 2:
        raise ValueError("array must be at least 2-d")
    length = diagonal_length(a.type.shape[0], a.type.shape[1], 0)
    key = tuple(map(Slot, range(a.type.ndim)))
    return update(
        a,
        _cyclic(cast_for_store(val, a.type.dtype), length),
        *[count_up(length)] * a.type.ndim,
        key=key,
    )


WRITERS: dict[Any, Any] = {
    np.put: _put,
    np.put_along_axis: _put_along_axis,
    np.place: _place,
    np.putmask: _putmask,
    np.copyto: _copyto,
    np.fill_diagonal: _fill_diagonal,
    np.add.at: _add_at,
    np.subtract.at: _subtract_at,
    np.maximum.at: _extreme_at(maximum, maximum_at),
    np.minimum.at: _extreme_at(minimum, minimum_at),
}
METHODS = {"put": np.put}
