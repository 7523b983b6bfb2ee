"""Defines counts of values, and bins: whole numbers, but for weights and for what np.unique
keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.creation import NUMPY as CREATION
from tapeless.transforms.ops.numpy.indexing import INDEX, get
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.numpy.reductions import NUMPY as REDUCTIONS
from tapeless.transforms.ops.numpy.reductions import amax, amin
from tapeless.transforms.ops.numpy.run_time_errors import require_shape, require_size
from tapeless.transforms.ops.numpy.sorting import searchsorted
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise, only_first
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    less,
    less_equal,
    logical_and,
)
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.joining import as_array, axis_of
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    cast,
    cast_to,
    flatten,
    front,
    linear,
    move,
    sum,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at


def _found_length() -> tuple[Size, ...]:
    return (dims.symbol("n", 0),)


def _least_length(params: Params) -> str:
    return ", minlength={minlength})" if params["minlength"] else ")"


bincount = Op(
    "bincount",
    lambda x, *, minlength: Type(INDEX, _found_length()),
    lambda args, params: "np.bincount({0}" + _least_length(params),
    costly=True,
)


def _sums_batch(op: Op, args: Atoms, axes: Any, params: Params) -> Any:
    """Of weights for places that all elements share: rows of sums, added to all at once."""
    if not only_first(axes):
        return None
    weights = front(args[0], axes[0])
    sums = zeros(shape=(weights.type.shape[0], params["length"]), dtype=FLOAT)
    return add_at(sums, weights, args[1], key=(slice(None), Slot(0))), 0


#: Of as many sums as there are places.
weighted_sums = linear(
    "weighted_sums",
    lambda w, x, *, length: Type(FLOAT, (length,)),
    "np.bincount({1}, {0}, {length})",
    lambda ct, args, linear, params: (get(ct, args[1]), None),
    batch=_sums_batch,
    costly=True,
)


def _weighted_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (weighted_sums(tangents[0], primals[1], length=outs[0].type.shape[0]),)


def _bincounts(op: Op, args: Atoms, axes: Any, params: Params) -> Any:
    """Weights of each element of a batch for the same numbers: sums of rows, which are as many."""
    if not only_first(axes):
        return None
    length = bincount(args[1], **params).type.shape[0]
    rows = move(args[0], axes[:1], (1,))
    empty = zeros(shape=(length, rows.type.shape[1]), dtype=FLOAT)
    return add_at(empty, rows, args[1], key=(Slot(0),)), 1


weighted_bincount = Op(
    "weighted_bincount",
    lambda w, x, *, minlength: Type(FLOAT, _found_length()),
    lambda args, params: "np.bincount({1}, {0}" + _least_length(params),
    _weighted_jvp,
    costly=True,
    batch=_bincounts,
)
digitize = Op(
    "digitize",
    lambda x, bins, *, right: Type(INDEX, x.type.shape),
    lambda args, params: "np.digitize({0}, {1}" + (", right=True)" if params["right"] else ")"),
    costly=True,
    batch=batch_elementwise,
)
histogram = Op(
    "histogram",
    lambda x, low, high, *, bins: Type(INDEX, (bins,)),
    "np.histogram({0}, {bins}, ({1}, {2}))[0]",
    costly=True,
)
binned = Op(
    "binned",
    lambda x, edges: Type(INDEX, (edges.type.shape[0] - 1,)),
    "np.histogram({0}, {1})[0]",
    costly=True,
)


def _unique_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """The tangent of the first of the elements that are equal."""
    (t,), axis = tangents, params["axis"]
    if t is None:
        return (None,)
    first = unique_part(primals[0], part="index", **params)
    return (get(flatten(t), first) if axis is None else get(t, (slice(None),) * axis + (first,)),)


def _unique_infer(x: Atom, *, axis: int | None, equal_nan: bool) -> Type:
    if axis is None:
        return Type(x.type.dtype, _found_length())
    return Type(x.type.dtype, (*x.type.shape[:axis], *_found_length(), *x.type.shape[axis + 1 :]))


def _part_infer(x: Atom, *, part: str, axis: int | None, equal_nan: bool) -> Type:
    whole = x.type.shape if axis is None else x.type.shape[axis : axis + 1]
    return Type(INDEX, whole if part == "inverse" else _found_length())


def _unique_source(args: Atoms, params: Params) -> str:
    part, axis = params.get("part"), params["axis"]
    chosen = f", return_{part}=True" if part else ""
    chosen += "" if axis is None else f", axis={axis}"
    chosen += "" if params["equal_nan"] else ", equal_nan=False"
    return f"np.unique({{0}}{chosen})" + ("[1]" if part else "")


unique = Op("unique", _unique_infer, _unique_source, _unique_jvp, costly=True)
unique_part = Op("unique_part", _part_infer, _unique_source, costly=True)


def _bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    x, (least,) = as_array(x), shape_of(minlength, truths=True)
    if x.type.ndim != 1:
        depth = "too deep" if x.type.shape else "of too small depth"
        raise ValueError(f"object {depth} for desired array")
    if x.type.dtype.kind in "fc" and x.type.shape != (0,):
        raise TypeError(
            f"Cannot cast array data from {x.type.dtype!r} to {INDEX!r} according to the rule "
            "'safe'"
        )
    if weights is None:
        return bincount(x, minlength=least)
    w = as_array(weights)
    message = "The weights and list don't have the same length."
    require_size(w.type.shape[0], x.type.shape[0], ValueError, message)
    return weighted_bincount(cast_to(w, FLOAT), x, minlength=least)


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    return digitize(as_array(x), as_array(bins), right=bool(right))


def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    a = as_array(a)
    if weights is not None:
        message = "weights should have the same shape as a."
        require_shape(as_array(weights).type.shape, a.type.shape, ValueError, message)
    a = a if a.type.shape else flatten(a)
    a = cast(a, dtype=np.dtype(np.uint8)) if a.type.dtype.kind == "b" else a
    counts, edges, ends = _counts(a, as_array(bins), range)
    if weights is not None:
        a = flatten(a)
        at = _bin_by_edges(a, edges) if ends is None else uniform_bins(a, edges, *ends)
        counts = _sum_weights(a, flatten(as_array(weights)), edges, at)
    if density:
        widths = sub(get(edges, slice(1, None)), get(edges, slice(None, -1)))
        counts = truediv(truediv(counts, widths), sum(counts, axes=(0,), keepdims=False))
    return counts, edges


def _counts(a: Atom, edges: Atom, range: Any) -> tuple[Atom, Atom, tuple[Any, Any] | None]:
    """How many elements are in each bin, and its edges; if their number is given, the first one and
    the last one apart, too."""
    if edges.type.shape:
        return binned(a, edges), edges, None
    count = static(edges, "the number of bins must be known")
    if not isinstance(count, int) or (isinstance(count, bool) and not edges.type.weak):
        raise TypeError("`bins` must be an integer, a string, or an array")
    count = int(count)
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if range is None and 0 in a.type.shape:
        range = 0.0, 1.0
    low, high = _extent(a) if range is None else range
    counts = histogram(a, as_array(low), as_array(high), bins=count)
    if isinstance(low, Var):  # of equal elements there are bins around them
        same = equal(low, high)
        low, high = select(same, low - 0.5, low), select(same, high + 0.5, high)
    edges = CREATION[np.linspace](low, high, count + 1, dtype=edges_dtype(a, low, high))
    return counts, edges, (low, high)


def edges_dtype(a: Atom, low: Any, high: Any) -> np.dtype[Any]:
    """The dtype of the edges of bins: that of the elements where the ends are Python's numbers."""
    types = (x.type for x in (a, as_array(low), as_array(high)))
    dtype = np.result_type(*(t.dtype for t in types if not t.weak))
    return dtype if dtype.kind in "fc" else np.result_type(dtype, FLOAT)


def _extent(a: Atom) -> tuple[Any, Any]:
    """The smallest and the largest of the elements; 0 and 1 if there are none."""
    axes = tuple(np.arange(a.type.ndim).tolist())
    if all(dims.at_least(n, 1) for n in a.type.shape):
        return tuple(op(a, axes=axes, keepdims=False) for op in (amin, amax))
    dtype = a.type.dtype
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    least, most = (-np.inf, np.inf) if limits is None else (limits.min, limits.max)
    low = REDUCTIONS[np.min](a, initial=atom(dtype.type(most)))
    high = REDUCTIONS[np.max](a, initial=atom(dtype.type(least)))
    nothing = equal(atom_of_size(dims.product(a.type.shape)), 0)
    return select(nothing, dtype.type(0), low), select(nothing, dtype.type(1), high)


def _bin_by_edges(a: Atom, edges: Atom) -> Any:
    """The bin of each element, by the edges; the last one has both its edges."""
    n = edges.type.shape[0] - 1
    at = searchsorted(edges, a, side="right") - 1
    at = select(equal(a, get(edges, -1)), atom_of_size(n) - 1, at)
    return minimum(maximum(at, 0), atom_of_size(n) - 1)


def uniform_bins(a: Atom, edges: Atom, low: Any, high: Any) -> Any:
    """The bin of each element, where all are equally wide: computed, and corrected by one where
    rounding has taken it across an edge, as NumPy does. What is outside of all is in the first."""
    n, dtype = edges.type.shape[0] - 1, edges.type.dtype
    low, high = (cast_to(as_array(x), dtype) for x in (low, high))
    a = select(in_bins(a, edges), cast_to(a, dtype), low)
    at = cast(mul(truediv(sub(a, low), sub(high, low)), n), dtype=INDEX)
    at = minimum(at, n - 1)
    at = sub(at, cast(less(a, get(edges, at)), dtype=INDEX))
    at = add(at, cast(less_equal(get(edges, add(at, 1)), a), dtype=INDEX))
    return minimum(at, n - 1)


def in_bins(a: Atom, edges: Atom) -> Any:
    """Whether each element is in any bin."""
    return logical_and(less_equal(get(edges, 0), a), less_equal(a, get(edges, -1)))


def _sum_weights(a: Atom, weights: Atom, edges: Atom, at: Atom) -> Any:
    """The sums of the weights of what is in each bin, and in none of them outside."""
    n, zero = edges.type.shape[0] - 1, weights.type.dtype.type(0)
    weights = select(in_bins(a, edges), weights, zero)
    empty = zeros(shape=(n,), dtype=weights.type.dtype)
    return add_at(empty, weights, at, key=(Slot(0),))


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    a = as_array(ar)
    if axis is not None:
        axis = axis_of(int(static(axis, "the axis must be known")), a.type.ndim)
    rows = {"axis": axis, "equal_nan": bool(equal_nan)}
    wanted = {"index": return_index, "inverse": return_inverse, "counts": return_counts}
    extra = [unique_part(a, part=name, **rows) for name, on in wanted.items() if on]
    return (unique(a, **rows), *extra) if extra else unique(a, **rows)


NUMPY = {
    np.bincount: _bincount,
    np.digitize: _digitize,
    np.histogram: _histogram,
    np.unique: _unique,
}
