"""Expresses the NumPy functions that make arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import (
    atom,
    atom_of_size,
    current,
    size_of,
    stretch,
)
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Literal, Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.cast_rules import as_elements, check_bounds, refuse_complex
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_at_least
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, floor, less, sign
from tapeless.transforms.ops.primitives.dtypes import result_dtype
from tapeless.transforms.ops.primitives.elementwise import log10, maximum, power
from tapeless.transforms.ops.primitives.joining import array as array
from tapeless.transforms.ops.primitives.joining import as_array as as_array
from tapeless.transforms.ops.primitives.joining import axis_of, known_integer, stack
from tapeless.transforms.ops.primitives.make_elementwise import as_floats
from tapeless.transforms.ops.primitives.new_arrays import (
    FLOAT,
    arange,
    count_up,
    eye,
    full,
    natural_arange,
    ones,
    tri,
    zeros,
)
from tapeless.transforms.ops.primitives.new_arrays import empty as empty
from tapeless.transforms.ops.primitives.new_arrays import zero as zero
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    broadcast_to,
    cast,
    column,
    copy,
    move,
    reshape,
)
from tapeless.transforms.ops.primitives.shapes import cast_to as cast_to


def lengths_of(
    shape: Any, message: str = "negative dimensions are not allowed", truths: bool = False
) -> tuple[Size, ...]:
    """The shape of a new array, given by the user."""
    sizes = shape_of(shape, truths)
    for n in sizes:
        if not (dims.at_least(n, 0) or current().not_negative(n)):
            raise_where(less(atom_of_size(n), 0), ValueError, message)
    return sizes


def _lengths_or_none(shape: Any) -> tuple[Size, ...]:
    """The same, where fewer than none are none."""
    return tuple(dims.maximum(n, 0) for n in shape_of(shape, truths=True))


def one_kind(dtype: Any) -> np.dtype[Any]:
    """The dtype of a new array, which holds one kind of elements."""
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.names is not None or kind.subdtype is not None:
        raise UnsupportedError("an array with named fields", "use an array for each of them")
    if kind.hasobject:
        raise UnsupportedError("an array of Python objects", "use a list, or lists of lists")
    return kind


def _with_value(make: Any) -> Any:
    def new(shape: Any, dtype: Any = None, order: str = "C") -> Any:
        return make(shape=lengths_of(shape), dtype=one_kind(dtype or float))

    return new


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    value = as_array(fill_value)
    sizes, dtype = lengths_of(shape), one_kind(dtype or value.type.dtype)
    if value.type.shape:
        stretch(value.type.shape, sizes)
        return copy(broadcast_to(cast_to(value, dtype), shape=sizes))
    check_bounds(value, dtype)
    return full(value, shape=sizes, dtype=dtype)


def _with_shape_of(make: Any) -> Any:
    def new_like(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
    ) -> Any:
        a = as_array(a)
        sizes = a.type.shape if shape is None else lengths_of(shape)
        return make(shape=sizes, dtype=one_kind(dtype or a.type.dtype))

    return new_like


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    a = as_array(a)
    sizes = a.type.shape if shape is None else tuple(shape_of(shape))
    return _full([*sizes] if not sizes else _atoms(sizes), fill_value, dtype or a.type.dtype)


def _atoms(sizes: tuple[Size, ...]) -> Any:
    return [s if isinstance(s, int) else atom(s) for s in sizes]


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    if stop is None:
        start, stop = 0, start
    start, stop, step = atom(start), atom(stop), atom(step)
    if any(x.type.dtype.kind == "c" for x in (start, stop, step)):
        raise UnsupportedError("np.arange of complex numbers", "take their real parts")
    natural = natural_arange(start, stop, step)
    return arange(start, stop, step, dtype=np.dtype(dtype or natural))


def _end(value: Any) -> Any:
    """One end of a range of numbers: truth values and integers of NumPy are floats there."""
    x = as_array(value)
    return cast(x, dtype=FLOAT) if x.type.dtype.kind == "b" else as_floats(x, FLOAT)


def _steps(start: Any, stop: Any, num: Any) -> Any:
    """0 to num - 1 along a new first axis of what both ends broadcast to."""
    (count,) = lengths_of(num, "the number of samples must be non-negative", True)
    k, wide = count_up(count), max(start.type.ndim, stop.type.ndim)
    return reshape(k, shape=(k.type.shape[0], *(1,) * wide)) if wide else k


def _linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """start + k * step, the last one exactly `stop`, as NumPy."""
    start, stop, num = _end(start), _end(stop), atom(num)
    k = _steps(start, stop, num)
    last = _not_zero(num - 1)
    kind = result_dtype(np.divide, (start.type, stop.type))
    k = k if kind == FLOAT else cast_to(k, kind)
    count = last if endpoint else _not_zero(num)
    is_wider = isinstance(count, Var) and kind != FLOAT  # float32 by an int64 is float64
    step = (stop - start) / (cast_to(count, kind) if is_wider else count)
    out = k * step + start
    if endpoint:
        out = select(equal(k, last), cast_to(stop, out.type.dtype), out)
    if dtype is not None:
        out = cast_to(floor(out) if np.dtype(dtype).kind in "iu" else out, np.dtype(dtype))
    out = out if axis == 0 else move(out, (0,), (axis_of(axis, out.type.ndim),))
    return (out, select(less(num, 2 if endpoint else 1), np.nan, step)) if retstep else out


def _not_zero(count: Any) -> Any:
    """How many steps lead from start to stop; one where there are none, and no number takes it."""
    if isinstance(count, Literal):
        return max(count.value, 1)
    return count if current().at_least(size_of(count), 1).certain else maximum(count, 1)


def _logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    out = power(as_array(base), _linspace(start, stop, num, endpoint, axis=axis))
    return out if dtype is None else cast_to(out, np.dtype(dtype))


def _geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """start * (stop / start) ** (k / n), the ends exact, as NumPy."""
    start, stop, num = _end(start), _end(stop), atom(num)
    for end in (start, stop):
        raise_where(equal(end, 0), ValueError, "Geometric sequence cannot include zero")
    wide = np.result_type(start.type.dtype, stop.type.dtype, float, np.dtype(dtype))
    start, stop = cast_to(start, wide), cast_to(stop, wide)
    k = _steps(start, stop, num)
    last = _not_zero(num - 1)
    steps = last if endpoint else _not_zero(num)
    if wide.kind == "c":
        out = start * power(10.0, log10(stop / start) * (k / steps))
    else:
        side = sign(start)
        low = log10(side * start)
        out = side * power(10.0, k * ((log10(side * stop) - low) / steps) + low)
    out = select(equal(k, 0), start, out)
    if endpoint:
        out = select(equal(k, last), stop, out)
    out = out if dtype is None else cast_to(out, np.dtype(dtype))
    return out if axis == 0 else move(out, (0,), (axis_of(axis, out.type.ndim),))


def _square(op: Any, lengths: Any = lengths_of) -> Any:
    def make(
        N: Any,  # noqa: N803 (NumPy's)
        M: Any = None,  # noqa: N803
        k: int = 0,
        dtype: Any = float,
        order: str = "C",
    ) -> Any:
        (n,) = lengths(N)
        return op(sides=(n, n if M is None else lengths(M)[0]), k=k, dtype=np.dtype(dtype))

    return make


def _identity(n: Any, dtype: Any = float) -> Any:
    return _square(eye)(n, dtype=dtype)


def _of_numpy(a: Any, dtype: Any = None) -> Any:
    """An array: the dtype of a Python number does not adapt any more."""
    if dtype is not None and isinstance(a, (list, tuple)):
        refuse_complex(a, one_kind(dtype))
        a = as_elements(a, np.dtype(dtype))
    elif dtype is not None and as_array(a).type.weak:
        a = as_elements(a, one_kind(dtype))
    converted = as_array(a, dtype)
    return cast(converted, dtype=converted.type.dtype) if converted.type.weak else converted


def _asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    converted = _of_numpy(a, dtype)
    return _copy_of(converted) if copy and converted is a else converted


def _at_least_line(x: Any) -> Any:
    return x if x.type.shape else reshape(x, shape=(1,))


def _array(
    object: Any,
    dtype: Any = None,
    copy: Any = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    converted = _of_numpy(object, dtype)
    least = known_integer(ndmin, "how many axes there are must be known")
    lead = max(least - converted.type.ndim, 0)
    if lead:
        converted = reshape(converted, shape=(1,) * lead + converted.type.shape)
    return _copy_of(converted) if converted is object and copy else converted


_copy_of = copy


def _require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    return _of_numpy(a, dtype)


def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803 (NumPy's)
    x = as_array(x)
    if x.type.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.type.shape[0] if N is None else shape_of(N, truths=True)[0]
    require_at_least(n, 0, ValueError, "negative dimensions are not allowed")
    exponents = count_up(n)
    return power(column(x), exponents if increasing else atom(n) - 1 - exponents)


def _indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    sizes = lengths_of(dimensions)
    grids = []
    for k, n in enumerate(sizes):
        line = reshape(
            cast_to(count_up(n), np.dtype(dtype)),
            shape=tuple(n if j == k else 1 for j in range(len(sizes))),
        )
        grids.append(line if sparse else broadcast_to(line, shape=sizes))
    return tuple(grids) if sparse else stack(grids)


def empty_to_fill(shape: Any, dtype: Any) -> Any:
    """`numpy.empty`, of which the caller sets all elements before any is read."""
    return np.empty(shape, dtype)


#: Functions of our own that our libraries call.
OURS: dict[Any, Any] = {empty_to_fill: _with_value(empty)}
NUMPY: dict[Any, Any] = {
    np.zeros: _with_value(zeros),
    np.ones: _with_value(ones),
    np.empty: _with_value(zeros),
    np.full: _full,
    np.zeros_like: _with_shape_of(zeros),
    np.ones_like: _with_shape_of(ones),
    np.empty_like: _with_shape_of(zeros),
    np.full_like: _full_like,
    np.arange: _arange,
    np.diag_indices: lambda n, ndim=2: (_arange(n),) * ndim,
    np.linspace: _linspace,
    np.logspace: _logspace,
    np.geomspace: _geomspace,
    np.eye: _square(eye),
    np.tri: _square(tri, _lengths_or_none),
    np.identity: _identity,
    np.array: _array,
    np.asarray: _asarray,
    np.ascontiguousarray: lambda a, dtype=None: _at_least_line(_of_numpy(a, dtype)),
    np.asanyarray: _asarray,
    np.asfortranarray: lambda a, dtype=None: _at_least_line(_of_numpy(a, dtype)),
    np.require: _require,
    np.vander: _vander,
    np.indices: _indices,
}
