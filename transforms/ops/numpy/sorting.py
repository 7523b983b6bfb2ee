"""Defines sorting and searching: the derivative of a sort moves the tangents as the elements
moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.indexing import INDEX, along_axis
from tapeless.transforms.ops.numpy.run_time_errors import require_shape, require_size
from tapeless.transforms.ops.primitives.batch_rules import (
    Axes,
    Batched,
    batch_along_axis,
    batch_elementwise,
)
from tapeless.transforms.ops.primitives.joining import as_array, axis_of
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_size,
    flatten,
    linear,
    repeat_batch,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update


def _axis_text(args: Atoms, params: Params) -> str:
    axis = params["axis"]
    return "" if axis == args[0].type.ndim - 1 else f", axis={axis}"


argsort = Op(
    "argsort",
    lambda x, *, axis: Type(INDEX, x.type.shape),
    lambda args, params: f"np.argsort({{0}}{_axis_text(args, params)}, kind='stable')",
    costly=True,
    batch=batch_along_axis,
)


def _permute_source(args: Atoms, params: Params) -> str:
    return "{0}[{1}]" if args[0].type.ndim == 1 else "np.take_along_axis({0}, {1}, axis={axis})"


def _permute_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    order = args[1]
    back = empty(shape=order.type.shape, dtype=ct.type.dtype)
    _, places = along_axis(back, order, params["axis"])
    key = tuple(Slot(k, True) for k in range(order.type.ndim))
    return (update(back, ct, *places, key=key), None)


def _permute_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size = batch_size(args, axes)
    x, order = (repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))
    return op(x, order, axis=params["axis"] + 1), 0


permute = linear(
    "permute",
    lambda x, order, *, axis: x.type,
    _permute_source,
    _permute_transpose,
    costly=True,
    batch=_permute_batch,
)


def _sort_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (permute(tangents[0], argsort(primals[0], **params), **params),)


sort = Op(
    "sort",
    lambda x, *, axis: x.type,
    lambda args, params: f"np.sort({{0}}{_axis_text(args, params)})",
    _sort_jvp,
    costly=True,
    batch=batch_along_axis,
)


argpartition = Op(
    "argpartition",
    lambda x, *, kth, axis: Type(INDEX, x.type.shape),
    lambda args, params: f"np.argpartition({{0}}, {params['kth']}{_axis_text(args, params)})",
    costly=True,
    batch=batch_along_axis,
)


def _partition_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    order = argpartition(primals[0], **params)
    return (permute(tangents[0], order, axis=params["axis"]),)


partition = Op(
    "partition",
    lambda x, *, kth, axis: x.type,
    lambda args, params: f"np.partition({{0}}, {params['kth']}{_axis_text(args, params)})",
    _partition_jvp,
    costly=True,
    batch=batch_along_axis,
)


def _lexsort_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size = batch_size(args, axes)
    return op(*(repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))), 0


lexsort = Op(
    "lexsort",
    lambda *keys: Type(INDEX, keys[0].type.shape),
    lambda args, params: f"np.lexsort([{', '.join(f'{{{k}}}' for k in range(len(args)))}])",
    costly=True,
    batch=_lexsort_batch,
)


def _searchsorted_source(args: Atoms, params: Params) -> str:
    side = "" if params["side"] == "left" else f", side={params['side']!r}"
    return f"np.searchsorted({{0}}, {{1}}{side})"


searchsorted = Op(
    "searchsorted",
    lambda a, v, *, side: Type(INDEX, v.type.shape),
    _searchsorted_source,
    costly=True,
    batch=lambda op, args, axes, params: (
        (op(*args, **params), axes[1]) if axes[0] is None else None
    ),
)
isin = Op(
    "isin",
    lambda x, values, *, invert: Type(np.dtype(bool), x.type.shape),
    lambda args, params: "np.isin({0}, {1}" + (", invert=True)" if params["invert"] else ")"),
    costly=True,
    batch=batch_elementwise,
)


# The NumPy functions ---------------------------------------------------------------------------


def _sort_function(op: Op) -> Any:
    def run(
        a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Any:
        a = as_array(a)
        if kind is not None and str(kind)[:1].lower() not in (*"qmhs",):
            raise ValueError(
                f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
            )
        if axis is None or (op is argsort and not a.type.shape and axis in (0, -1)):
            a, axis = flatten(a), 0
        return op(a, axis=axis_of(axis, a.type.ndim))

    return run


def _partition_function(op: Op) -> Any:
    def run(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
        a = as_array(a)
        if axis is None or (op is argpartition and not a.type.shape and axis in (0, -1)):
            a, axis = flatten(a), 0
        places = kth if isinstance(kth, (tuple, list)) else (kth,)
        constant_places = tuple(
            int(static(k, "the place of the partition must be known")) for k in places
        )
        at = constant_places if len(constant_places) > 1 else constant_places[0]
        return op(a, kth=at, axis=axis_of(axis, a.type.ndim))

    return run


SAME_SHAPE = "all keys need to be the same shape"


def _lexsort(keys: Any, axis: Any = -1) -> Any:
    if not isinstance(keys, (list, tuple)):
        rows = as_array(keys)
        count = static(atom_of_size(rows.type.shape[0]), "the number of keys must be known")
        keys = [index(rows, key=(k,)) for k in range(count)]
    arrays = [as_array(key) for key in keys]
    for a in arrays[1:]:
        require_shape(a.type.shape, arrays[0].type.shape, ValueError, SAME_SHAPE)
    if any(axis_of(axis, a.type.ndim) != a.type.ndim - 1 for a in arrays):
        raise UnsupportedError("np.lexsort along an axis that is not the last", "transpose first")
    return lexsort(*arrays)


def _search_sorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    a = as_array(a)
    if a.type.ndim != 1:
        raise ValueError("object too deep for desired array")
    if side[:1] not in (*"lr",):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    if sorter is not None:
        order = as_array(sorter)
        message = "sorter.size must equal a.size"
        require_size(order.type.shape[0], a.type.shape[0], ValueError, message)
        a = permute(a, order, axis=0)
    return searchsorted(a, as_array(v), side=side)


def _isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    return isin(as_array(element), as_array(test_elements), invert=invert)


NUMPY = {
    np.sort: _sort_function(sort),
    np.argsort: _sort_function(argsort),
    np.partition: _partition_function(partition),
    np.argpartition: _partition_function(argpartition),
    np.lexsort: _lexsort,
    np.searchsorted: _search_sorted,
    np.isin: _isin,
}
METHODS = {
    "argpartition": _partition_function(argpartition),
    "argsort": _sort_function(argsort),
    "searchsorted": _search_sorted,
}
