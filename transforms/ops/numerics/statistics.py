"""Defines averages, variances, quantiles and their like, also of what is not nan."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, static
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.cumulative import cumprod, cumsum, run_along
from tapeless.transforms.ops.numpy.indexing import INDEX, get, take_along
from tapeless.transforms.ops.numpy.quantiles import (
    MEDIAN,
    by_sorting,
    check_levels,
    middle,
    weighted_quantile,
)
from tapeless.transforms.ops.numpy.reductions import NUMPY as MOMENTS
from tapeless.transforms.ops.numpy.reductions import (
    amax,
    amin,
    count,
    freedom,
    mean,
    merge_reduced_axes,
    prod,
    reduction,
    sum,
    without_dtype,
)
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_shape
from tapeless.transforms.ops.numpy.sorting import argsort, permute
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.batch_rules import reducing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    floor,
    isnan,
    less_equal,
    not_equal,
)
from tapeless.transforms.ops.primitives.elementwise import conjugate, minimum, real, sqrt
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axes_of,
    axis_of,
    concatenate,
    reduced_axis,
    stack,
)
from tapeless.transforms.ops.primitives.make_elementwise import as_floats
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast,
    cast_to,
    reduced_shape,
    reshape,
    transpose,
)


def _without_nan(rule: Any, filler: Any) -> Any:
    @functools.wraps(rule)
    def run(a: Any, *args: Any, **kwargs: Any) -> Any:
        a = as_array(a)
        if a.type.dtype.kind not in "fc":
            return rule(a, *args, **kwargs)
        return rule(select(isnan(a), a.type.dtype.type(filler), a), *args, **kwargs)

    return run


def _nanextreme(op: Op, filler: float) -> Any:
    """The largest or smallest element that is not nan; nan if there is none."""
    rule = without_dtype(op)

    @functools.wraps(rule)
    def run(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        a = as_array(a)
        options = {} if where is True else {"where": where}
        first_value = initial.value if isinstance(initial, Literal) else initial
        if isinstance(first_value, float) and first_value != first_value:
            initial = None  # left out, as any other element
        options |= {} if initial is None else {"initial": initial}
        value = _without_nan(rule, filler)(a, axis, keepdims=keepdims, **options)
        if a.type.dtype.kind != "f" or options:
            return value
        some = not_equal(_present(a, axis, keepdims), 0)
        return select(some, value, value.type.dtype.type(np.nan))

    return run


def _nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = None,
) -> Any:
    a = as_array(a)
    if a.type.dtype.kind not in "fc":
        return reduction(mean)(a, axis, dtype, None, keepdims, where=where)
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    a = _mask_with_nan(a, where)
    total = _without_nan(reduction(sum), 0)(a, axis, dtype, None, keepdims)
    return truediv(total, cast_to(_present(a, axis, keepdims), total.type.dtype))


def _mask_with_nan(a: Atom, where: Any) -> Any:
    """The array with nan in the place of elements that a mask leaves out."""
    if where is None or where is True:
        return a
    return select(as_array(where), a, a.type.dtype.type(np.nan))


def _present(a: Atom, axis: Any, keepdims: Any) -> Any:
    """How many elements are not nan."""
    axes = axes_of(reduced_axis(axis, a.type.ndim), a.type.ndim)
    return sum(cast(equal(a, a), dtype=INDEX), axes=axes, keepdims=bool(keepdims))


def _nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    a, ddof = as_array(a), freedom(ddof, correction)
    if a.type.dtype.kind not in "fc":
        return MOMENTS[np.var](a, axis, dtype, None, ddof, keepdims, where=where, mean=mean)
    if mean is not None:
        raise UnsupportedError("np.nanvar with mean=", "leave it out: it is computed")
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    a, axis = _mask_with_nan(a, where), reduced_axis(axis, a.type.ndim)
    centred = a - _nanmean(a, axis, dtype, None, True)
    axes = axes_of(axis, a.type.ndim)
    filled = select(isnan(a), a.type.dtype.type(0), centred)
    squares = real(mul(filled, conjugate(filled))) if a.type.dtype.kind == "c" else filled**2
    total = sum(squares, axes=axes, keepdims=bool(keepdims))
    degrees = cast_to(_present(a, axis, keepdims) - ddof, total.type.dtype)
    variance = truediv(
        total, select(less_equal(degrees, 0), degrees.type.dtype.type(np.nan), degrees)
    )
    if dtype is None:
        return variance
    sample = np.zeros((), dtype)
    return cast_to(variance, (sample.real if a.type.dtype.kind == "c" else sample).dtype)


def _nanstd(a: Any, *args: Any, **kwargs: Any) -> Any:
    a = as_array(a)
    if a.type.dtype.kind not in "fc":
        return MOMENTS[np.std](a, *args, **kwargs)
    variance = _nanvar(a, *args, **kwargs)
    flat_at = equal(variance, 0)
    return select(flat_at, variance, sqrt(select(flat_at, 1.0, variance)))  # 0 has slope 0


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return reduction(amax)(a, axis, keepdims=keepdims) - reduction(amin)(a, axis, keepdims=keepdims)


OTHER_SHAPE = "Axis must be specified when shapes of a and weights differ."
OTHER_SHAPE_ALONG = "Shape of weights must be consistent with shape of a along specified axis."


def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    a = as_array(a)
    if weights is None:
        average = reduction(mean)(a, axis, keepdims=keepdims)
        total = cast_to(count(a.type, axes_of(axis, a.type.ndim)), average.type.dtype)
    else:
        w = as_array(weights)
        if axis is None or w.type.ndim == a.type.ndim:
            error = TypeError if axis is None else ValueError
            message = OTHER_SHAPE if axis is None else OTHER_SHAPE_ALONG
            require_shape(w.type.shape, a.type.shape, error, message)
        else:
            axes_given = axis if isinstance(axis, (tuple, list)) else (axis,)
            places = [axis_of(k, a.type.ndim) for k in axes_given]
            lengths = tuple(a.type.shape[k] for k in places)
            require_shape(w.type.shape, lengths, ValueError, OTHER_SHAPE_ALONG)
            order = tuple(sorted(range(len(places)), key=places.__getitem__))
            w = transpose(w, axes=order) if order != (*range(len(order)),) else w
            shape = tuple(s if j in places else 1 for j, s in enumerate(a.type.shape))
            w = reshape(w, shape=shape)
        kind = np.result_type(as_floats(a, FLOAT).type.dtype, w.type.dtype)
        a, w = cast_to(a, kind), broadcast_to(cast_to(w, kind), shape=a.type.shape)
        total = reduction(sum)(w, axis, keepdims=keepdims)
        raise_where(equal(total, 0), ZeroDivisionError, "Weights sum to zero, can't be normalized")
        average = reduction(sum)(mul(a, w), axis, keepdims=keepdims) / total
    return (average, broadcast_to(total, shape=average.type.shape)) if returned else average


# -- quantiles


def _level(q: float | None) -> float:
    return 0.5 if q is MEDIAN else q


def _quantile_infer(x: Atom, *, q: float | None, axes: tuple[int, ...], keepdims: bool) -> Type:
    dtype = np.quantile(np.zeros(1, x.type.dtype), _level(q)).dtype
    return Type(dtype, reduced_shape(x.type.shape, axes, keepdims))


def _quantile_source(args: Atoms, params: Params) -> str:
    axes, q = params["axes"], params["q"]
    axis = "" if len(axes) == args[0].type.ndim else f", axis={axes[0] if len(axes) == 1 else axes}"
    keep = ", keepdims=True" if params["keepdims"] else ""
    if q is MEDIAN:
        return f"np.median({{0}}{axis}{keep})"
    return f"np.quantile({{0}}, {q!r}{axis}{keep})"


def _with_one(a: Atom, axis: int) -> Atom:
    """An array that has an element along an axis: where there may be none, a zero at the end."""
    if dims.at_least(a.type.shape[axis], 1):
        return a
    shape = tuple(1 if k == axis else n for k, n in enumerate(a.type.shape))
    return concatenate(a, zeros(shape=shape, dtype=a.type.dtype), axis=axis)  # type: ignore[no-any-return]


def _quantile_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """The tangents of the two elements that the quantile lies between."""
    if tangents[0] is None:
        return (None,)
    x, tangent, axis = merge_reduced_axes(primals[0], tangents[0], params["axes"])
    order = argsort(x, axis=axis)
    rank = _level(params["q"]) * (atom_of_size(x.type.shape[axis]) - 1)
    low = cast(floor(rank), dtype=INDEX)
    high = minimum(low + 1, atom_of_size(x.type.shape[axis]) - 1)
    lead = (slice(None),) * axis
    sorted_tangent = _with_one(permute(tangent, order, axis=axis), axis)
    below, above = (get(sorted_tangent, (*lead, k)) for k in (low, high))
    between = below + (above - below) * cast_to(rank - low, outs[0].type.dtype)
    return (reshape(between, shape=outs[0].type.shape),)


quantile = Op(
    "quantile", _quantile_infer, _quantile_source, _quantile_jvp, costly=True, batch=reducing
)


def _nanquantile_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """The same where the elements that are nan come last, and do not count."""
    if tangents[0] is None:
        return (None,)
    x, tangent, axis = merge_reduced_axes(primals[0], tangents[0], params["axes"])
    holes = isnan(x)
    order = argsort(select(holes, x.type.dtype.type(np.inf), x), axis=axis)
    moved = _with_one(permute(select(holes, 0.0, tangent), order, axis=axis), axis)
    last = _present(x, axis, True) - 1
    rank = _level(params["q"]) * last
    low = cast(floor(rank), dtype=INDEX)
    below, above = (take_along(moved, k, axis) for k in (low, minimum(low + 1, last)))
    between = below + (above - below) * cast_to(rank - low, outs[0].type.dtype)
    return (reshape(between, shape=outs[0].type.shape),)


def _nanquantile_source(args: Atoms, params: Params) -> str:
    text = _quantile_source(args, params)
    return text.replace("np.", "np.nan", 1)


nanquantile = Op(
    "nanquantile",
    _quantile_infer,
    _nanquantile_source,
    _nanquantile_jvp,
    costly=True,
    batch=reducing,
)


def _quantile(scale: float, op: Op = quantile) -> Any:
    def run(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        q = zeros(shape=(0,), dtype=FLOAT) if isinstance(q, (list, tuple)) and not q else q
        a, level = as_array(a), q if q is MEDIAN or isinstance(q, (list, tuple)) else as_array(q)
        if weights is not None:
            if op is not quantile or keepdims:
                raise UnsupportedError(
                    "np.nanquantile with weights=, or with keepdims=", "use np.quantile without"
                )
            check_levels(as_array(level), scale)
            shares = truediv(as_array(level), scale)
            return weighted_quantile(a, shares, as_array(weights), axis, method)
        if method != "linear" or isinstance(level, Var):
            if op is not quantile:
                raise UnsupportedError(
                    "np.nanquantile of levels that depend on data, or with method=",
                    "use known levels and method='linear'",
                )
            check_levels(as_array(level), scale)
            level = truediv(as_array(level), scale) if scale != 1 else as_array(level)
            return by_sorting(a, level, axes_of(axis, a.type.ndim), bool(keepdims), method)
        if isinstance(q, (list, tuple)):
            quantiles = stack([run(a, e, axis, keepdims=keepdims) for e in q])
            return cast_to(quantiles, np.result_type(quantiles.type.dtype, float))
        level_of_q = q if q is MEDIAN else float(static(q, "the quantile must be known")) / scale
        return op(a, q=level_of_q, axes=axes_of(axis, a.type.ndim), keepdims=bool(keepdims))

    return run


def _numbers(a: Any) -> Any:
    """Truth values as numbers: they have a median, though no other quantiles."""
    a = as_array(a)
    return cast(a, dtype=np.dtype(float)) if a.type.dtype.kind == "b" else a


def _median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    a = _numbers(a)
    if a.type.dtype.kind == "c":
        return middle(a, axes_of(axis, a.type.ndim), bool(keepdims))
    return _quantile(1.0)(a, MEDIAN, axis, keepdims=keepdims)


def _nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    a = _numbers(a)
    if a.type.dtype.kind == "c":
        raise UnsupportedError("np.nanmedian of complex numbers", "use np.median of x[~isnan(x)]")
    return _quantile(1.0, nanquantile)(a, MEDIAN, axis, keepdims=keepdims)


NUMPY = {
    np.nanmedian: _nanmedian,
    np.nanquantile: _quantile(1.0, nanquantile),
    np.nanpercentile: _quantile(100.0, nanquantile),
    np.ptp: _ptp,
    np.average: _average,
    np.median: _median,
    np.quantile: _quantile(1.0),
    np.percentile: _quantile(100.0),
    np.nansum: _without_nan(reduction(sum), 0),
    np.nanprod: _without_nan(reduction(prod), 1),
    np.nanmax: _nanextreme(amax, -np.inf),
    np.nanmin: _nanextreme(amin, np.inf),
    np.nancumsum: _without_nan(run_along(cumsum), 0),
    np.nancumprod: _without_nan(run_along(cumprod), 1),
    np.nanmean: _nanmean,
    np.nanvar: _nanvar,
    np.nanstd: _nanstd,
}
