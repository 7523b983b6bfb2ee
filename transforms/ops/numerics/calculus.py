"""Defines differences, integrals, interpolation, polynomials and convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, current, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.argument_words import require_word
from tapeless.transforms.ops.numpy.diagonals import smaller_size
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.run_time_errors import (
    raise_where,
    require_at_least,
    require_size,
)
from tapeless.transforms.ops.numpy.sorting import argsort, searchsorted
from tapeless.transforms.ops.primitives.arithmetic import add, mod, mul, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater_equal,
    less,
    less_equal,
    logical_and,
    not_equal,
)
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    conjugate,
    cos,
    maximum,
    minimum,
    nonzero,
    power,
    sin,
)
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axes_of,
    axis_of,
    concatenate,
    known_integer,
)
from tapeless.transforms.ops.primitives.make_elementwise import as_floats
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, count_up
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast,
    cast_to,
    column,
    flatten,
    reshape,
    sum,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import part

# -- differences and integrals


def _slice_axis(x: Atom, axis: int, start: Any, stop: Any) -> Any:
    """x[start:stop] along an axis; negative bounds count from the end."""
    return get(x, (*(slice(None),) * axis, slice(start, stop)))


def _diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    n = known_integer(n, "the order of the difference must be known")
    if n == 0:  # NumPy looks at nothing else then
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = as_array(a)
    if not a.type.shape:
        raise ValueError("diff requires input that is at least one dimensional")
    k = axis_of(axis, a.type.ndim)
    pieces = [_edge(a, p, k) for p in (prepend, a, append) if p is not None]
    a = pieces[0] if len(pieces) == 1 else concatenate(*pieces, axis=k)
    for _ in range(n):
        later, earlier = _slice_axis(a, k, 1, None), _slice_axis(a, k, None, -1)
        a = (not_equal if a.type.dtype.kind == "b" else sub)(later, earlier)
    return a


def _edge(a: Atom, piece: Any, axis: int) -> Any:
    piece = as_array(piece)
    if piece.type.shape:
        return piece
    shape = tuple(1 if k == axis else s for k, s in enumerate(a.type.shape))
    return broadcast_to(piece, shape=shape)


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    line = flatten(as_array(ary))
    inner = sub(_slice_axis(line, 0, 1, None), _slice_axis(line, 0, None, -1))
    for name, end in (("to_begin", to_begin), ("to_end", to_end)):
        if end is not None and not np.can_cast(
            as_array(end).type.dtype, line.type.dtype, "same_kind"
        ):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
    ends = [
        None if e is None else cast_to(_line(as_array(e)), inner.type.dtype)
        for e in (to_begin, to_end)
    ]
    pieces = [p for p in (ends[0], inner, ends[1]) if p is not None]
    return inner if len(pieces) == 1 else concatenate(*pieces, axis=0)


def _line(x: Atom) -> Any:
    return reshape(x, shape=(1,)) if not x.type.shape else flatten(x)


OTHER_DISTANCES = "when 1d, distances must match the length of the corresponding dimension"
TOO_SMALL = (
    "Shape of array too small to calculate a numerical gradient, "
    "at least (edge_order + 1) elements are required."
)


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f, edge_order = as_array(f), static(edge_order, "the order at the edges must be known")
    axes = axes_of(axis, f.type.ndim)
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    for k in axes:
        require_at_least(f.type.shape[k], edge_order + 1, ValueError, TOO_SMALL)
    for h, k in zip(steps, axes, strict=True):
        if as_array(h).type.shape:
            lengths = as_array(h).type.shape[0], f.type.shape[k]
            require_size(*lengths, ValueError, OTHER_DISTANCES)
    if f.type.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if f.type.dtype.kind not in "fc":
        f = cast(f, dtype=np.dtype(float))
    slopes_by_axis = tuple(
        _in_dtype_of(
            f,
            _uneven_slope(f, as_array(h), k, edge_order)
            if as_array(h).type.shape
            else _slope(f, as_array(h), k, edge_order),
        )
        for h, k in zip(steps, axes, strict=True)
    )
    return slopes_by_axis[0] if len(slopes_by_axis) == 1 else slopes_by_axis


def _in_dtype_of(f: Atom, slopes: Atom) -> Any:
    """NumPy stores slopes of float32 in float32, whatever the distances are."""
    same_kind = slopes.type.dtype.kind == f.type.dtype.kind
    return cast_to(slopes, f.type.dtype) if same_kind else slopes


def _slope(f: Atom, h: Atom, k: int, edge_order: int) -> Any:
    inner = truediv(sub(_slice_axis(f, k, 2, None), _slice_axis(f, k, None, -2)), 2.0 * h)
    if edge_order == 2:
        a, b, c = (_slice_axis(f, k, j, j + 1) for j in range(3))
        first = truediv(sub(4.0 * b - 3.0 * a, c), 2.0 * h)
        a, b, c = _slice_axis(f, k, -1, None), _slice_axis(f, k, -2, -1), _slice_axis(f, k, -3, -2)
        end = truediv(add(3.0 * a - 4.0 * b, c), 2.0 * h)
    else:
        first = truediv(sub(_slice_axis(f, k, 1, 2), _slice_axis(f, k, 0, 1)), h)
        end = truediv(sub(_slice_axis(f, k, -1, None), _slice_axis(f, k, -2, -1)), h)
    return concatenate(first, inner, end, axis=k)


def _uneven_slope(f: Atom, x: Atom, k: int, edge_order: int) -> Any:
    """The slopes of parabolas through three neighbours, and of lines or these at the ends."""
    width = _diff(as_floats(x, FLOAT))
    sizes = (width.type.shape[0] if j == k else 1 for j in range(f.type.ndim))
    width = reshape(width, shape=tuple(sizes))
    left, right = _slice_axis(width, k, None, -1), _slice_axis(width, k, 1, None)
    slopes = truediv(sub(_slice_axis(f, k, 1, None), _slice_axis(f, k, None, -1)), width)
    before, after = _slice_axis(slopes, k, None, -1), _slice_axis(slopes, k, 1, None)
    inner = truediv(add(mul(right, before), mul(left, after)), add(left, right))
    ends = [_slice_axis(slopes, k, 0, 1), _slice_axis(slopes, k, -1, None)]
    if edge_order == 2:
        bend = truediv(sub(after, before), add(left, right))
        ends[0] = sub(ends[0], mul(_slice_axis(left, k, 0, 1), _slice_axis(bend, k, 0, 1)))
        ends[1] = add(ends[1], mul(_slice_axis(right, k, -1, None), _slice_axis(bend, k, -1, None)))
    return concatenate(ends[0], inner, ends[1], axis=k)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    areas_between, k = areas(y, x, dx, axis)
    return sum(areas_between, axes=(k,), keepdims=False)


def areas(y: Any, x: Any, dx: Any, axis: Any) -> tuple[Any, int]:
    """The areas between neighbours along an axis, and that axis."""
    y = as_array(y)
    k = axis_of(axis, y.type.ndim)
    if x is None:
        width = as_array(dx)
    else:
        x = as_array(x)
        width = _diff(x) if x.type.ndim == 1 else _diff(x, 1, axis)
        if x.type.ndim == 1 and y.type.ndim > 1:
            sizes = (width.type.shape[0] if j == k else 1 for j in range(y.type.ndim))
            width = reshape(width, shape=tuple(sizes))
    pairs = add(_slice_axis(y, k, 1, None), _slice_axis(y, k, None, -1))
    return truediv(mul(width, pairs), 2.0), k


# -- interpolation and polynomials


def _interp_infer(x: Atom, xp: Atom, fp: Atom) -> Type:
    dtype = complex if fp.type.dtype.kind == "c" else float
    return Type(np.dtype(dtype), x.type.shape)


def _interp_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """y = fp_i + slope_i (x - xp_i), constant outside."""
    (x, xp, fp), (x_dot, xp_dot, fp_dot) = primals, tangents
    if xp.type.shape[0] == 1:
        level = None if fp_dot is None else cast_to(get(fp_dot, 0), outs[0].type.dtype)
        return (None if level is None else broadcast_to(level, shape=x.type.shape),)
    x, xp, fp = (as_floats(a, FLOAT) for a in (x, xp, fp))
    n, several = atom_of_size(xp.type.shape[0]), current().at_least(xp.type.shape[0], 2)
    i = minimum(maximum(searchsorted(xp, x, side="right") - 1, 0), n - 2)
    i = i if several.certain else maximum(i, 0)
    j = i + 1 if several.certain else minimum(i + 1, n - 1)
    x0, x1, f0, f1 = get(xp, i), get(xp, j), get(fp, i), get(fp, j)
    left, right = get(xp, 0), get(xp, -1)
    inside = logical_and(greater_equal(x, left), less_equal(x, right))
    width = sub(x1, x0)
    width = width if several.certain else nonzero(width)
    slope = truediv(sub(f1, f0), width)
    weight = minimum(maximum(truediv(sub(x, x0), width), 0.0), 1.0)
    total = None
    if fp_dot is not None:
        total = add(mul(get(fp_dot, i), sub(1.0, weight)), mul(get(fp_dot, j), weight))
    moved = x_dot
    if xp_dot is not None:
        back = add(mul(get(xp_dot, i), sub(1.0, weight)), mul(get(xp_dot, j), weight))
        moved = -back if moved is None else sub(moved, back)
    if moved is not None:
        term = select(inside, mul(moved, slope), 0.0)
        total = term if total is None else add(total, term)
    return (None if total is None else cast_to(total, outs[0].type.dtype),)


interp = Op(
    "interp",
    _interp_infer,
    "np.interp({0}, {1}, {2})",
    _interp_jvp,
    costly=True,
    batch=batch_elementwise,
)


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    message = "fp and xp are not of the same length."
    require_size(fp.type.shape[0], xp.type.shape[0], ValueError, message)
    if period is not None:
        return interp(*_periodic(x, xp, fp, absolute(as_floats(as_array(period), FLOAT))))
    value = interp(x, xp, fp)
    if left is not None:
        value = select(less(x, get(xp, 0)), as_array(left), value)
    if right is not None:
        value = select(less(get(xp, -1), x), as_array(right), value)
    return value


def _periodic(x: Atom, xp: Atom, fp: Atom, period: Atom) -> tuple[Any, Any, Any]:
    """Points and knots within one period; the knots with their neighbours of the next ones."""
    raise_where(equal(period, 0), ValueError, "period must be a non-zero value")
    x, xp = (mod(as_floats(v, FLOAT), period) for v in (x, xp))
    order = argsort(xp, axis=0)
    xp, fp = get(xp, order), get(fp, order)
    first, last = slice(0, 1), slice(-1, None)
    xp = concatenate(sub(get(xp, last), period), xp, add(get(xp, first), period), axis=0)
    return x, xp, concatenate(get(fp, last), fp, get(fp, first), axis=0)


def _polyval_infer(p: Atom, x: Atom) -> Type:
    return Type(np.result_type(p.type.dtype, x.type.dtype), x.type.shape)


def _polyval_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    (p_dot, x_dot), dtype = tangents, outs[0].type.dtype
    p, x = (as_floats(a, dtype) for a in primals)
    total = None if p_dot is None else polyval(p_dot, x)
    if x_dot is not None and p.type.shape[0] != 1:
        term = mul(x_dot, polyval(cast_to(_derivative(p), p.type.dtype), x))
        total = term if total is None else add(total, term)
    return (total,)


def _derivative(p: Atom) -> Any:
    return mul(_slice_axis(p, 0, None, -1), flip(add(count_up(p.type.shape[0] - 1), 1)))


def _polyval_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    p, x = args
    n = atom_of_size(p.type.shape[0])
    table = power(column(flatten(x)), n - 1 - count_up(p.type.shape[0]))
    return (matmul(flatten(ct), table), None)


polyval = Op(
    "polyval",
    _polyval_infer,
    "np.polyval({0}, {1})",
    _polyval_jvp,
    _polyval_transpose,
    costly=True,
    batch=lambda op, args, axes, params: (op(*args), axes[1]) if axes[0] is None else None,
)


def _polyder(p: Any, m: Any = 1) -> Any:
    p = as_array(p)
    order = static(m, "the order of the derivative must be known")
    if order < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(order):
        p = _derivative(p)
    return p


# -- convolution


def cut(n: Size, m: Size, mode: str, ordered: bool) -> tuple[Size, Size]:
    """Where the result for a mode starts in the full convolution, and its length; `ordered`: the
    second operand is not the longer one, which else the run says."""
    shorter = m if ordered else smaller_size(n, m)
    longer = n + m - shorter
    match mode:
        case "full":
            return 0, n + m - 1
        case "same":
            return (shorter - 1) // 2, longer
        case _:
            return shorter - 1, longer - shorter + 1


def _convolve_infer(a: Atom, v: Atom, *, mode: str, ordered: bool) -> Type:
    length = cut(a.type.shape[0], v.type.shape[0], mode, ordered)[1]
    return Type(np.result_type(a.type.dtype, v.type.dtype), (length,))


def _convolve_source(args: Atoms, params: Params) -> str:
    mode = "" if params["mode"] == "full" else f", {params['mode']!r}"
    return f"np.convolve({{0}}, {{1}}{mode})"


def _convolve_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    (a, v), (a_dot, v_dot) = primals, tangents
    left = None if a_dot is None else convolve(a_dot, v, **params)
    right = None if v_dot is None else convolve(a, v_dot, **params)
    return (left if right is None else right if left is None else add(left, right),)


def _convolve_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    n, m = (a.type.shape[0] for a in args)
    start, length = cut(n, m, **params)
    if params["mode"] != "full":
        ct = pad(ct, before=(start,), after=(n + m - 1 - start - length,))
    return tuple(_correlation(ct, args[1 - k], long=k == 1) if linear[k] else None for k in (0, 1))


convolve = Op(
    "convolve", _convolve_infer, _convolve_source, _convolve_jvp, _convolve_transpose, costly=True
)


def _correlation(x: Atom, window: Atom, long: bool) -> Any:
    """The sums of the elements of x times those of a window, wherever all of it lies in x."""
    if "c" in (x.type.dtype.kind, window.type.dtype.kind):  # np.correlate conjugates the window
        return convolve(x, flip(window), mode="valid", ordered=True)
    return correlate(x, window, long=long)


def _correlate_infer(x: Atom, window: Atom, *, long: bool) -> Type:
    length = x.type.shape[0] - window.type.shape[0] + 1
    return Type(np.result_type(x.type.dtype, window.type.dtype), (length,))


def _correlate_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    (x, window), (x_dot, window_dot) = primals, tangents
    moved = None if x_dot is None else correlate(x_dot, window, **params)
    weighted = None if window_dot is None else correlate(x, window_dot, **params)
    return (moved if weighted is None else weighted if moved is None else add(moved, weighted),)


def _correlate_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    x, window = args
    return (
        convolve(*((window, ct) if params["long"] else (ct, window)), mode="full", ordered=True)
        if linear[0]
        else None,
        _correlation(x, ct, long=not params["long"]) if linear[1] else None,
    )


#: `long`: whether the window is expected to be longer than the result.
correlate = Op(
    "correlate",
    _correlate_infer,
    'np.correlate({0}, {1}, "valid")',
    _correlate_jvp,
    _correlate_transpose,
    costly=True,
)


def convolve_vectors(a: Atom, v: Atom, mode: str = "full") -> Any:
    """The convolution of two vectors, of which the second may be the longer one."""
    ordered = current().at_least(a.type.shape[0], v.type.shape[0])
    if not ordered.possible:
        a, v = v, a
    return convolve(a, v, mode=mode, ordered=ordered is not Ternary.UNKNOWN)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = as_array(a), as_array(v)
    _check_lines(a, v, mode)
    return convolve_vectors(_line(a), _line(v), mode)


def _check_lines(a: Atom, v: Atom, mode: str) -> None:
    if a.type.ndim > 1 or v.type.ndim > 1:
        raise ValueError("object too deep for desired array")
    require_word(mode, ("valid", "same", "full"), "mode")


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = as_array(a), as_array(v)
    if not (a.type.shape and v.type.shape):
        raise ValueError("object of too small depth for desired array")
    _check_lines(a, v, mode)
    a, v = _line(a), _line(v)
    if v.type.dtype.kind == "c":
        v = conjugate(v)
    ordered = current().at_least(a.type.shape[0], v.type.shape[0])
    if ordered is Ternary.UNKNOWN and mode == "same":
        return _correlate_same(a, v)
    if not ordered.possible:
        return flip(convolve_vectors(v, flip(a), mode))
    if mode == "valid" and ordered is not Ternary.UNKNOWN:
        return _correlation(a, v, long=False)
    return convolve_vectors(a, flip(v), mode)


def _correlate_same(a: Atom, v: Atom) -> Any:
    """The middle of all correlations: which one is in the middle of an even number depends on which
    operand is the longer one."""
    n, m = a.type.shape[0], v.type.shape[0]
    shorter, swapped = smaller_size(n, m), dims.minimum(dims.maximum(m - n, 0), 1)
    start = (shorter - 1 + swapped) // 2
    return part(convolve_vectors(a, flip(v)), 0, start, start + n + m - shorter)


# -- sinc


def _sinc_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    return (None if tangents[0] is None else mul(tangents[0], _sinc_slope(primals[0], outs[0])),)


def _sinc_slope(x: Atom, y: Atom) -> Any:
    """(cos pi x - sinc x) / x, by its series near 0, where all derivatives stay right."""
    near = less(mul(x, x), 0.01)
    square = mul(np.pi**2 * x, x)
    series = (
        -(np.pi**2)
        / 3
        * x
        * (
            1
            - square
            / 10
            * (1 - square / 28 * (1 - square / 54 * (1 - square / 88 * (1 - square / 130))))
        )
    )
    away = select(near, 1.0, x)
    return select(near, series, (cos(np.pi * away) - sin(np.pi * away) / (np.pi * away)) / away)


sinc = Op(
    "sinc",
    lambda x: Type(np.sinc(np.ones((), x.type.dtype)).dtype, x.type.shape),
    "np.sinc({0})",
    _sinc_jvp,
    costly=True,
    elementwise=True,
    finite="always",
)

NUMPY = {
    np.diff: _diff,
    np.ediff1d: _ediff1d,
    np.gradient: _gradient,
    np.trapezoid: _trapezoid,
    np.interp: _interp,
    np.polyval: lambda p, x: polyval(as_array(p), as_array(x)),
    np.polyder: _polyder,
    np.convolve: _convolve,
    np.correlate: _correlate,
    np.sinc: lambda x: sinc(as_array(x)),
}
