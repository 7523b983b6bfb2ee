"""Expresses what a library for GPUs lacks by sorting and searching, which it has.

np.isin(x, y)      becomes      z = sort(y); z[minimum(searchsorted(z, x), n - 1)] == x
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.numpy.histograms import binned
from tapeless.transforms.ops.numpy.indexing import along_axis, get
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_at_least
from tapeless.transforms.ops.numpy.sorting import (
    argpartition,
    argsort,
    isin,
    lexsort,
    partition,
    searchsorted,
    sort,
)
from tapeless.transforms.ops.primitives.arithmetic import sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    less,
    logical_and,
    logical_not,
)
from tapeless.transforms.ops.primitives.elementwise import minimum
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import cast_to, flatten
from tapeless.transforms.ops.primitives.slices_and_gathers import gather


def _in_order(x: Atom, order: Atom) -> Any:
    key, rest = along_axis(x, order, 0)
    return gather(x, *rest, key=key)


def by_several_keys(out: Type, *keys: Atom) -> Any:
    """The last key decides; of what is equal, the order by those before it stays."""
    if any(key.type.ndim != 1 for key in keys):
        raise NotTaken
    order: Any = None
    for key in keys:
        in_order = key if order is None else _in_order(key, order)
        places = argsort(in_order, axis=0)
        order = places if order is None else _in_order(order, places)
    return order


def partition_order(out: Type, x: Atom, *, kth: Any, axis: int) -> Any:
    """All elements in order, which is one of the orders that may come out."""
    require_places(kth, x.type.shape[axis])
    return argsort(x, axis=axis)


def partition_by_sorting(out: Type, x: Atom, *, kth: Any, axis: int) -> Any:
    """All elements in order."""
    require_places(kth, x.type.shape[axis])
    return sort(x, axis=axis)


def require_places(kth: Any, n: Size) -> None:
    """Raises NumPy's error for a place that is outside."""
    for k in kth if isinstance(kth, tuple) else (kth,):
        require_at_least(n, max(k + 1, -k), ValueError, f"kth(={k}) out of bounds")


def counts_between(out: Type, x: Atom, edges: Atom) -> Any:
    """The counts of np.histogram: of elements in order, those from edge to edge."""
    if edges.type.dtype.kind == "c" or x.type.dtype.kind == "c":
        raise NotTaken
    lower, upper = get(edges, (slice(None, -1),)), get(edges, (slice(1, None),))
    message = "`bins` must increase monotonically, when an array"
    raise_where(less(upper, lower), ValueError, message)
    dtype = np.result_type(x.type.dtype, edges.type.dtype)
    ordered, edges = sort(cast_to(flatten(x), dtype), axis=0), cast_to(edges, dtype)
    below = searchsorted(ordered, edges, side="left")
    last = searchsorted(ordered, get(edges, (slice(-1, None),)), side="right")
    places = concatenate(get(below, (slice(None, -1),)), last, axis=0)
    return sub(get(places, (slice(1, None),)), get(places, (slice(None, -1),)))


def is_among(out: Type, x: Atom, values: Atom, *, invert: bool) -> Any:
    """Whether the first of the values in order that is not below an element is equal to it."""
    flat = flatten(values)
    n = flat.type.shape[0]
    if "c" in x.type.dtype.kind + values.type.dtype.kind:
        raise NotTaken
    dtype = np.result_type(x.type.dtype, values.type.dtype)
    ordered, x = sort(cast_to(flat, dtype), axis=0), cast_to(x, dtype)
    place, count = searchsorted(ordered, x, side="left"), atom_of_size(n)
    if dims.at_least(n, 1):
        same = equal(get(ordered, minimum(place, sub(count, 1))), x)
    else:  # there may be none
        longer = concatenate(ordered, zeros(shape=(1,), dtype=dtype), axis=0)
        same = logical_and(less(place, count), equal(get(longer, place), x))
    return logical_not(same) if invert else same


#: By the type of the result, the arguments and the parameters.
BY_ORDER: dict[Op, Callable[..., Any]] = {
    lexsort: by_several_keys,
    argpartition: partition_order,
    partition: partition_by_sorting,
    binned: counts_between,
    isin: is_among,
}
