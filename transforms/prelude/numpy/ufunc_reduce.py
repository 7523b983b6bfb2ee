"""Implements the `reduce`, `accumulate` and `reduceat` methods of ufuncs that have no rule for
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _with_result_dtype(ufunc: Any, a: Any, dtype: Any) -> Any:
    """An array of the dtype that the results have."""
    wide = ufunc in (np.add, np.multiply) and dtype is None
    a = np.asarray(a) if dtype is None else np.asarray(a, dtype)
    sample = np.ones(1, a.dtype)
    kind = np.sum(sample).dtype if wide else ufunc(sample, sample).dtype
    return a if a.dtype == kind else a.astype(kind)


def _merge_axes(a: Any, axes: Sequence[int]) -> Any:
    """Several axes as one, in front."""
    a = np.moveaxis(a, axes, tuple(range(len(axes))))
    return a.reshape(math.prod(a.shape[: len(axes)]), *a.shape[len(axes) :])


def _put(values: Any, out: Any) -> Any:
    if out is None:
        return values
    out[...] = values
    return out


def _axes(ufunc: Any, a: Any, axis: Any) -> Any:
    """The axes of a reduction."""
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if a.ndim == 0 and axes in ((0,), (-1,)):
        return ()
    axes = np.lib.array_utils.normalize_axis_tuple(axes, a.ndim)
    if len(axes) > 1 and ufunc in IN_ORDER:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, "
            "so at most one axis may be specified"
        )
    return axes


def _axis(name: str, a: Any, axis: Any) -> int:
    """The one axis of a method that takes elements in their order."""
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if a.ndim == 0 and axes in ((), (0,), (-1,)):
        raise TypeError(f"cannot {name} on a scalar")
    axes = np.lib.array_utils.normalize_axis_tuple(axes, a.ndim)
    if len(axes) != 1:
        raise ValueError(f"{name} does not allow multiple axes")
    return axes[0]


def _begin(ufunc: Any, lines: Any, initial: Any, masked: bool) -> Any:
    """What a reduction begins with, and the first line that it takes."""
    if initial is None and not masked and len(lines):
        return np.abs(lines[0]) if ufunc in OF_SIZES else lines[0], 1
    if initial is None and ufunc.identity is None:
        raise ValueError(
            f"the reduction operation '{ufunc.__name__}' has no identity: without elements, "
            "or with where=, it needs initial="
        )
    if initial is None:
        initial = np.array(ufunc.identity).astype(lines.dtype)  # -1, all bits set, of any dtype
    return np.full(lines.shape[1:], initial, lines.dtype), 0


def _reduce(ufunc: Any) -> Callable[..., Any]:
    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        a = _with_result_dtype(ufunc, array, dtype)
        axes = _axes(ufunc, a, axis)
        lines, masked = _merge_axes(a, axes), where is not True
        mask: Any = _merge_axes(np.broadcast_to(where, a.shape), axes) if masked else None
        total, first = _begin(ufunc, lines, initial, masked)
        for k in range(first, len(lines)):
            joined = ufunc(total, lines[k])
            total = np.where(mask[k], joined, total) if masked else joined
        return _put(np.expand_dims(total, axes) if keepdims else total, out)

    return reduce


def _accumulate(ufunc: Any) -> Callable[..., Any]:
    def accumulate(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        a = _with_result_dtype(ufunc, array, dtype)
        axis = _axis("accumulate", a, axis)
        lines = np.moveaxis(a, axis, 0)
        totals = lines.copy()
        for k in range(1, len(lines)):
            totals[k] = ufunc(totals[k - 1], lines[k])
        return _put(np.moveaxis(totals, 0, axis), out)

    return accumulate


def _reduceat(ufunc: Any) -> Callable[..., Any]:
    def reduceat(
        array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        a = _with_result_dtype(ufunc, array, dtype)
        axis = _axis("reduceat", a, axis)
        lines = np.moveaxis(a, axis, 0)
        starts = np.asarray(indices)
        stops = np.append(starts[1:], len(lines))
        totals = np.zeros((len(starts), *lines.shape[1:]), lines.dtype)
        for k in range(len(starts)):
            totals[k] = lines[starts[k]]
            if ufunc is np.add:  # in NumPy's order: the first, and the sum of all others
                if stops[k] > starts[k] + 1:
                    rest = lines[starts[k] + 1 : stops[k]]
                    totals[k] += np.sum(rest, axis=0, dtype=lines.dtype)
                continue
            for j in range(starts[k] + 1, stops[k]):
                totals[k] = ufunc(totals[k], lines[j])
        return _put(np.moveaxis(totals, 0, axis), out)

    return reduceat


#: Their elements may be joined in one order only, as NumPy says.
IN_ORDER = (np.subtract, np.divide)
#: Of one number they are its size.
OF_SIZES = (np.hypot, np.gcd)
FLOATS = (np.hypot, np.fmax, np.fmin, *IN_ORDER)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor, np.gcd, np.lcm)
LOGS = (np.logaddexp, np.logaddexp2)
USUAL = (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or)
NUMPY: dict[Any, Any] = {
    **{ufunc.reduce: _reduce(ufunc) for ufunc in (*FLOATS, *BITS)},
    **{ufunc.accumulate: _accumulate(ufunc) for ufunc in (*FLOATS, *BITS, *LOGS)},
    **{ufunc.reduceat: _reduceat(ufunc) for ufunc in (*FLOATS, *BITS, *LOGS, *USUAL)},
}
