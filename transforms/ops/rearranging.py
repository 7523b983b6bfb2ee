"""The NumPy functions that rearrange, join, split and repeat arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, broadcast, current, size_atom, size_of, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import ShapeError, UnsupportedError
from tapeless.transforms.ops.batching import Axes, Batched, along
from tapeless.transforms.ops.creation import shape_of
from tapeless.transforms.ops.elementwise import mul, neg, select
from tapeless.transforms.ops.fresh import count_up, eye, ones
from tapeless.transforms.ops.indexing import get
from tapeless.transforms.ops.joining import as_array, axes_of, axis_of, joined, stack
from tapeless.transforms.ops.parts import Slot, add_at, index, part
from tapeless.transforms.ops.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast,
    cast_to,
    column,
    copy,
    flat,
    front,
    linear,
    move,
    reshape,
    row,
    stacked,
    sum,
    transpose,
)


def _broadcast_shapes(*args: Any) -> tuple[Any, ...]:
    return tuple(size_atom(n) for n in broadcast(*map(shape_of, args)))


def _reshape(
    a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    a = as_array(a)
    sizes = list(shape_of(newshape if shape is None else shape))
    if order == "F":
        turned = transpose(a, axes=tuple(reversed(range(a.type.ndim))))
        made = reshape(turned, shape=_filled_in(turned, sizes[::-1]))
        return transpose(made, axes=tuple(reversed(range(len(sizes)))))
    return reshape(a, shape=_filled_in(a, sizes))


def _filled_in(a: Atom, sizes: list[Size]) -> tuple[Size, ...]:
    """A shape for the elements of a, with -1 replaced by what is left."""
    total = dims.product(a.type.shape)
    if sizes.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in sizes:
        k = sizes.index(-1)
        rest = dims.product(s for j, s in enumerate(sizes) if j != k)
        sizes[k] = total // rest if rest != 0 else 0
    have = dims.product(sizes)
    if isinstance(have, int) and isinstance(total, int) and have != total:
        raise ShapeError(f"cannot reshape array of size {total} into shape {tuple(sizes)}")
    return tuple(sizes)


def _ravel(a: Any, order: str = "C") -> Any:
    a = as_array(a)
    return flat(transpose(a, axes=tuple(reversed(range(a.type.ndim)))) if order == "F" else a)


def _transpose(a: Any, axes: Any = None) -> Any:
    a = as_array(a)
    n = a.type.ndim
    order = tuple(reversed(range(n))) if axes is None else tuple(axis_of(k, n) for k in axes)
    return transpose(a, axes=order)


def _swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    a = as_array(a)
    order = list(range(a.type.ndim))
    i, j = axis_of(axis1, a.type.ndim), axis_of(axis2, a.type.ndim)
    order[i], order[j] = j, i
    return transpose(a, axes=tuple(order))


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    a = as_array(a)
    return move(a, axes_of(source, a.type.ndim), axes_of(destination, a.type.ndim))


def _rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    a = as_array(a)
    k, to = axis_of(axis, a.type.ndim), axis_of(start, a.type.ndim + 1)
    return move(a, (k,), (to - (k < to),))


def _expand_dims(a: Any, axis: Any) -> Any:
    a = as_array(a)
    extra = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = axes_of(axis, a.type.ndim + extra)
    sizes = iter(a.type.shape)
    shape = (1 if k in places else next(sizes) for k in range(a.type.ndim + extra))
    return reshape(a, shape=tuple(shape))


def _squeeze(a: Any, axis: Any = None) -> Any:
    a = as_array(a)
    ones = [k for k, s in enumerate(a.type.shape) if s == 1]
    places = ones if axis is None else axes_of(axis, a.type.ndim)
    if any(a.type.shape[k] != 1 for k in places):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return reshape(a, shape=tuple(s for k, s in enumerate(a.type.shape) if k not in places))


def _at_least(n: int) -> Any:
    def at_least(*arys: Any) -> Any:
        made = tuple(_raised(as_array(a), n) for a in arys)
        return made[0] if len(made) == 1 else made

    return at_least


def _raised(a: Atom, n: int) -> Any:
    lead = 1 if n > 1 and a.type.ndim < 2 else 0  # np.atleast_3d puts vectors in the middle
    lead = max(n - a.type.ndim, 0) if n < 3 else lead
    shape = (1,) * lead + a.type.shape
    return reshape(a, shape=shape + (1,) * (n - len(shape)))


# -- broadcasting


def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    a, target = as_array(array), shape_of(shape)
    if a.type.ndim > len(target):
        raise ShapeError(f"cannot broadcast shape {a.type.shape} to {target}")
    broadcast(a.type.shape, target)
    return broadcast_to(a, shape=target)


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [as_array(a) for a in args]
    shape = broadcast(*(a.type.shape for a in arrays))
    return tuple(broadcast_to(a, shape=shape) for a in arrays)


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    lines = [flat(as_array(x)) for x in xi]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = 1, 0
    sizes = tuple(lines[order.index(k)].type.shape[0] for k in range(len(lines)))
    grids = []
    for line, place in zip(lines, order, strict=True):
        shape = tuple(s if k == place else 1 for k, s in enumerate(sizes))
        grid = reshape(line, shape=shape)
        grids.append(grid if sparse else _copied(broadcast_to(grid, shape=sizes)))
    return grids


_copied = copy


# -- joining and splitting


def _concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Any:
    pieces = [as_array(a) for a in arrays]
    if axis is None:
        pieces, axis = [flat(p) for p in pieces], 0
    if not pieces[0].type.ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    made = joined(pieces, axis_of(axis, pieces[0].type.ndim))
    return made if dtype is None else cast_to(made, np.dtype(dtype))


def _stack(arrays: Any, axis: Any = 0) -> Any:
    return stack(arrays, axis)


def _vstack(tup: Any) -> Any:
    return _concatenate([_raised(as_array(a), 2) for a in tup], 0)


def _hstack(tup: Any) -> Any:
    pieces = [_raised(as_array(a), 1) for a in tup]
    return _concatenate(pieces, 0 if pieces[0].type.ndim == 1 else 1)


def _dstack(tup: Any) -> Any:
    return _concatenate([_raised(as_array(a), 3) for a in tup], 2)


def _column_stack(tup: Any) -> Any:
    pieces = [as_array(a) for a in tup]
    return _concatenate([_raised(a, 2) if a.type.ndim > 1 else _standing(a) for a in pieces], 1)


def _standing(a: Atom) -> Any:
    return reshape(a, shape=(*a.type.shape, 1) if a.type.shape else (1, 1))


def _block(arrays: Any) -> Any:
    def depth(a: Any) -> int:
        return 1 + depth(a[0]) if isinstance(a, list) else 0

    levels = depth(arrays)

    def leaves(a: Any) -> Any:
        return [x for e in a for x in leaves(e)] if isinstance(a, list) else [as_array(a)]

    ndim = max(levels, *(a.type.ndim for a in leaves(arrays)))

    def build(a: Any, level: int) -> Any:
        if not isinstance(a, list):
            x = as_array(a)
            return reshape(x, shape=(1,) * (ndim - x.type.ndim) + x.type.shape)
        return _concatenate([build(e, level - 1) for e in a], -level)

    return build(arrays, levels)


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate([arr, values], axis)


def _array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    a = as_array(ary)
    k = axis_of(axis, a.type.ndim)
    n = a.type.shape[k]
    if isinstance(indices_or_sections, (list, tuple)):
        inner = [_from_end(_size(b), n) for b in indices_or_sections]
        ends = [0, *inner, n]
    else:
        count = static(indices_or_sections, "the number of parts must be known")
        size, extra = n // count, n % count
        if not isinstance(extra, int):
            extra = static(atom(extra), "the lengths of the parts depend on it")
            size = (n - extra) // count
        ends = [j * size + min(j, extra) for j in range(count + 1)]
    return [part(a, k, start, stop) for start, stop in itertools.pairwise(ends)]


def _size(b: Any) -> Size:
    return size_of(b) if isinstance(b, (Var, Literal)) else int(b)


def _from_end(b: Size, n: Size) -> Size:
    return n + b if isinstance(b, int) and b < 0 else b


def _split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    a = as_array(ary)
    if not isinstance(indices_or_sections, (list, tuple)):
        n = a.type.shape[axis_of(axis, a.type.ndim)]
        rest = n % static(indices_or_sections, "the number of parts must be known")
        if static(rest if isinstance(rest, int) else atom(rest), "np.split divides evenly"):
            raise ValueError("array split does not result in an equal division")
    return _array_split(a, indices_or_sections, axis)


def _split_along(axis: int) -> Any:
    def split(ary: Any, indices_or_sections: Any) -> Any:
        a = as_array(ary)
        return _split(a, indices_or_sections, min(axis, a.type.ndim - 1) if axis < 2 else axis)

    return split


# -- flipping and rolling


def flip(m: Atom, axis: Any = None) -> Any:
    places = axes_of(axis, m.type.ndim)
    backwards = slice(None, None, -1)
    key = (backwards if k in places else slice(None) for k in range(m.type.ndim))
    return index(m, key=tuple(key))


def _rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    m = as_array(m)
    i, j = axes_of(axes, m.type.ndim)
    match static(k, "the number of turns must be known") % 4:
        case 1:
            return _swapaxes(flip(m, j), i, j)
        case 2:
            return flip(m, (i, j))
        case 3:
            return flip(_swapaxes(m, i, j), j)
    return m


def _roll_source(args: Atoms, params: Params) -> str:
    return "np.roll({0}, {1}" + (", axis={axis})" if args[0].type.ndim > 1 else ")")


roll: Op = linear(
    "roll",
    lambda x, shift, *, axis: x.type,
    _roll_source,
    lambda ct, args, linear, params: (roll(ct, neg(args[1]), **params), None),
    costly=True,
    batch=along,
)


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    a = as_array(a)
    if axis is None:
        return reshape(roll(flat(a), shift, axis=0), shape=a.type.shape)
    axes = axes_of(axis, a.type.ndim)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for s, k in zip(shifts, axes * (len(shifts) if len(axes) == 1 else 1), strict=True):
        a = roll(a, s, axis=k)
    return a


# -- repeating and padding


def _repeat_infer(x: Atom, *, repeats: Size, axis: int) -> Type:
    shape = list(x.type.shape)
    shape[axis] = shape[axis] * repeats
    return x.type.with_shape(tuple(shape))  # type: ignore[no-any-return]


def _repeat_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    shape, axis = args[0].type.shape, params["axis"]
    wide = (*shape[: axis + 1], params["repeats"], *shape[axis + 1 :])
    return (sum(reshape(ct, shape=wide), axes=(axis + 1,), keepdims=False),)


def _repeat_source(args: Atoms, params: Params) -> str:
    return "np.repeat({0}, {repeats}" + (", axis={axis})" if args[0].type.ndim > 1 else ")")


repeat = linear(
    "repeat", _repeat_infer, _repeat_source, _repeat_transpose, costly=True, batch=along
)
repeat_counts = Op(
    "repeat_counts",
    lambda x, counts: Type(x.type.dtype, (dims.symbol("n", 0),)),
    "np.repeat({0}, {1})",
    costly=True,
)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    a = as_array(a)
    if axis is None:
        a, axis = flat(a), 0
    k = axis_of(axis, a.type.ndim)
    counts = as_array(repeats)
    if not counts.type.shape:
        return repeat(a, repeats=size_of(counts), axis=k)
    where = repeat_counts(count_up(a.type.shape[k]), counts)
    return get(a, (*(slice(None),) * k, where))


def _tile_infer(x: Atom, *, reps: tuple[Size, ...]) -> Type:
    return Type(x.type.dtype, tuple(s * r for s, r in zip(x.type.shape, reps, strict=True)))


def _tile_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    wide: list[Size] = []
    axes: list[int] = []
    for s, r in zip(args[0].type.shape, params["reps"], strict=True):
        if r != 1:
            axes.append(len(wide))
            wide.append(r)
        wide.append(s)
    return (sum(reshape(ct, shape=tuple(wide)), axes=tuple(axes), keepdims=False),)


tile = linear(
    "tile",
    _tile_infer,
    "np.tile({0}, {reps})",
    _tile_transpose,
    costly=True,
    batch=lambda op, args, axes, params: (
        op(front(args[0], axes[0]), reps=(1, *params["reps"])),
        0,
    ),
)


def _tile(A: Any, reps: Any) -> Any:  # noqa: N803 (NumPy's)
    a, counts = as_array(A), shape_of(reps)
    n = max(a.type.ndim, len(counts))
    a = reshape(a, shape=(1,) * (n - a.type.ndim) + a.type.shape)
    counts = (1,) * (n - len(counts)) + counts
    return copy(a) if all(r == 1 for r in counts) else tile(a, reps=counts)


def _pad_infer(x: Atom, *, before: tuple[Size, ...], after: tuple[Size, ...]) -> Type:
    sizes = zip(x.type.shape, before, after, strict=True)
    return Type(x.type.dtype, tuple(s + b + a for s, b, a in sizes))


def _pad_source(args: Atoms, params: Params) -> str:
    pairs = [f"({{before[{k}]}}, {{after[{k}]}})" for k in range(args[0].type.ndim)]
    widths = pairs[0] if len(pairs) == 1 else f"({', '.join(pairs)})"
    return f"np.pad({{0}}, {widths})"


def _pad_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    for k, (n, start) in enumerate(zip(args[0].type.shape, params["before"], strict=True)):
        ct = part(ct, k, start, start + n)
    return (ct,)


def _pad_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    x = front(args[0], axes[0])
    return op(x, before=(0, *params["before"]), after=(0, *params["after"])), 0


pad = linear("pad", _pad_infer, _pad_source, _pad_transpose, costly=True, batch=_pad_batch)
pad_index = Op(
    "pad_index",
    lambda n, *, width, mode: Type(np.dtype(int), (size_of(n) + width[0] + width[1],)),
    lambda args, params: (
        f"np.pad(np.arange({{0}}), ({{width[0]}}, {{width[1]}}), {params['mode']!r})"
    ),
    costly=True,
)
GATHERED = ("edge", "reflect", "symmetric", "wrap")


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    a = as_array(array)
    before, after = _widths(pad_width, a.type.ndim)
    if mode == "constant":
        value = as_array(kwargs.get("constant_values", 0))
        if value.type.shape:
            raise UnsupportedError("np.pad with several constant_values", "pad axis by axis")
        made = pad(a, before=before, after=after)
        if isinstance(value, Literal) and value.value == 0:
            return made
        inside = pad(ones(shape=a.type.shape, dtype=np.dtype(bool)), before=before, after=after)
        return select(inside, made, cast_to(value, a.type.dtype))
    if mode not in GATHERED or kwargs:
        raise UnsupportedError(
            f"np.pad with mode={mode!r} and these options",
            f"use mode='constant' or one of {', '.join(GATHERED)}",
        )
    for k in range(a.type.ndim):
        if (before[k], after[k]) != (0, 0):
            where = pad_index(a.type.shape[k], width=(before[k], after[k]), mode=mode)
            a = get(a, (*(slice(None),) * k, where))
    return a


def _widths(pad_width: Any, ndim: int) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    w = pad_width
    if not isinstance(w, (tuple, list)):
        w = ((w, w),) * ndim
    elif not isinstance(w[0], (tuple, list)):
        w = ((w[0], w[-1]),) * ndim
    elif len(w) == 1:
        w = tuple(w) * ndim
    if len(w) != ndim:
        raise ValueError("pad_width must have a pair for each axis")
    return tuple(_size(p[0]) for p in w), tuple(_size(p[-1]) for p in w)


# -- triangles and diagonals


def _triangular(name: str) -> Op:
    def source(args: Atoms, params: Params) -> str:
        return f"np.{name}({{0}}" + (", {k})" if params["k"] else ")")

    op = linear(name, lambda x, *, k: x.type, source, costly=True, batch=stacked)
    op.transpose = lambda ct, args, linear, params: (op(ct, **params),)
    return op


tril, triu = _triangular("tril"), _triangular("triu")


def _triangle(op: Op) -> Any:
    def cut(m: Any, k: Any = 0) -> Any:
        m, k = as_array(m), int(static(k, "the diagonal must be known"))
        if m.type.ndim == 1:
            m = broadcast_to(m, shape=(m.type.shape[0], m.type.shape[0]))
        return op(m, k=k)

    return cut


def diagonal_length(n: Size, m: Size, k: int) -> Size:
    """How many elements the k-th diagonal of an n x m matrix has."""
    rows, columns = (n, m - k) if k >= 0 else (n + k, m)
    return current().length(0, least(rows, columns))


def least(a: Size, b: Size) -> Size:
    """The smaller of two axis lengths; which one it is becomes a fact of the program."""
    if a == b or dims.at_least(b, a):
        return a
    if dims.at_least(a, b):
        return b
    known = current().clamp(a, b)
    return -dims.maximum(-a, -b) if known is None else known


def _diagonal_infer(x: Atom, *, k: int) -> Type:
    *lead, n, m = x.type.shape
    return Type(x.type.dtype, (*lead, diagonal_length(n, m, k)))


def _diagonal_source(args: Atoms, params: Params) -> str:
    k = params["k"]
    if args[0].type.ndim == 2:
        return f"np.diagonal({{0}}{', {k}' if k else ''})"
    return f"np.diagonal({{0}}, {k}, -2, -1)"


def _diagonal_add(total: Atom, ct: Atom, args: Atoms, params: Params) -> Any:
    k, lead = params["k"], args[0].type.ndim - 2
    along = count_up(ct.type.shape[-1])
    key = (*(slice(None),) * lead, Slot(0), Slot(1))
    return add_at(total, ct, along + max(-k, 0), along + max(k, 0), key=key)


diagonal = linear(
    "diagonal",
    _diagonal_infer,
    _diagonal_source,
    accumulate=_diagonal_add,
    view=True,
    batch=stacked,
)


def _diag_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """Each vector along the diagonal of a matrix of its own, zeros elsewhere."""
    x, k = front(args[0], axes[0]), params["k"]
    x = pad(x, before=(0, 0), after=(0, abs(k))) if k else x
    n = x.type.shape[1]
    on = eye(sides=(n, n), k=k, dtype=np.dtype(bool))
    return select(on, column(x) if k >= 0 else row(x), x.type.dtype.type(0)), 0


diag = linear(
    "diag",
    lambda x, *, k: Type(x.type.dtype, (x.type.shape[0] + abs(k),) * 2),
    lambda args, params: "np.diag({0}" + (", {k})" if params["k"] else ")"),
    lambda ct, args, linear, params: (diagonal(ct, **params),),
    batch=_diag_batch,
)


def _diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    a, k = as_array(a), int(static(offset, "the offset must be known"))
    axes = axes_of((axis1, axis2), a.type.ndim)
    return diagonal(move(a, axes, (a.type.ndim - 2, a.type.ndim - 1)), k=k)


def _diag(v: Any, k: Any = 0) -> Any:
    v, k = as_array(v), int(static(k, "the diagonal must be known"))
    if v.type.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return diag(v, k=k) if v.type.ndim == 1 else diagonal(v, k=k)


def _trace_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    t = args[0].type
    return (mul(ct, eye(sides=t.shape, k=params["k"], dtype=ct.type.dtype)),)


trace = linear(
    "trace",
    lambda x, *, k: Type(np.trace(np.zeros((1, 1), x.type.dtype)).dtype),
    lambda args, params: "np.trace({0}" + (", {k})" if params["k"] else ")"),
    _trace_transpose,
    costly=True,
    batch=lambda op, args, axes, params: (
        sum(diagonal(front(args[0], axes[0]), **params), axes=(1,), keepdims=False),
        0,
    ),
)


def _trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    a = as_array(a)
    if a.type.ndim == 2 and axes_of((axis1, axis2), 2) == (0, 1) and dtype is None:
        return trace(a, k=int(static(offset, "the offset must be known")))
    made = _diagonal(a, offset, axis1, axis2)
    made = made if dtype is None else cast(made, dtype=np.dtype(dtype))
    return sum(made, axes=(made.type.ndim - 1,), keepdims=False)


# -- types


def _astype(
    x: Any,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    x, target = as_array(x), np.dtype(dtype)
    same = x.type.dtype == target and not x.type.weak
    if same:
        return _copied(x) if copy else x
    return cast(x, dtype=target)


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return copy(as_array(a))


def _reshape_method(a: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    return _reshape(a, shape[0] if len(shape) == 1 else shape, order)


def _transpose_method(a: Any, *axes: Any) -> Any:
    many = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return _transpose(a, many or None)


def _size_of_axes(a: Any, axis: Any = None) -> Any:
    a = as_array(a)
    return atom(dims.product(a.type.shape[k] for k in axes_of(axis, a.type.ndim)))


NUMPY = {
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: lambda x: _swapaxes(x, -1, -2),
    np.swapaxes: _swapaxes,
    np.moveaxis: _moveaxis,
    np.rollaxis: _rollaxis,
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.atleast_1d: _at_least(1),
    np.atleast_2d: _at_least(2),
    np.atleast_3d: _at_least(3),
    np.broadcast_to: _broadcast_to,
    np.broadcast_arrays: _broadcast_arrays,
    np.meshgrid: _meshgrid,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _vstack,
    np.hstack: _hstack,
    np.dstack: _dstack,
    np.column_stack: _column_stack,
    np.block: _block,
    np.append: _append,
    np.split: _split,
    np.array_split: _array_split,
    np.vsplit: _split_along(0),
    np.hsplit: _split_along(1),
    np.dsplit: _split_along(2),
    np.flip: lambda m, axis=None: flip(as_array(m), axis),
    np.flipud: lambda m: flip(as_array(m), 0),
    np.fliplr: lambda m: flip(as_array(m), 1),
    np.rot90: _rot90,
    np.roll: _roll,
    np.repeat: _repeat,
    np.tile: _tile,
    np.pad: _pad,
    np.tril: _triangle(tril),
    np.triu: _triangle(triu),
    np.diagonal: _diagonal,
    np.diag: _diag,
    np.diagflat: lambda v, k=0: _diag(flat(as_array(v)), k),
    np.trace: _trace,
    np.linalg.diagonal: lambda x, *, offset=0: _diagonal(x, offset, -2, -1),
    np.linalg.trace: lambda x, *, offset=0, dtype=None: _trace(x, offset, -2, -1, dtype),
    np.linalg.matrix_transpose: lambda x: _swapaxes(x, -1, -2),
    np.copy: _copy,
    np.astype: _astype,
    np.shape: lambda a: tuple(atom(s) for s in as_array(a).type.shape),
    np.ndim: lambda a: as_array(a).type.ndim,
    np.iterable: lambda y: bool(as_array(y).type.shape),
    np.broadcast_shapes: _broadcast_shapes,
    np.size: _size_of_axes,
    np.isscalar: lambda element: not as_array(element).type.shape,
    np.iscomplexobj: lambda x: as_array(x).type.dtype.kind == "c",
    np.isrealobj: lambda x: as_array(x).type.dtype.kind != "c",
    np.result_type: lambda *kinds: np.result_type(
        *(getattr(getattr(k, "type", None), "dtype", k) for k in kinds)
    ),
}
METHODS = {
    "reshape": _reshape_method,
    "transpose": _transpose_method,
    "ravel": _ravel,
    "flatten": lambda a, order="C": copy(_ravel(a, order)),
    "astype": _astype,
    "copy": _copy,
    "swapaxes": _swapaxes,
    "squeeze": _squeeze,
    "repeat": _repeat,
    "diagonal": _diagonal,
    "trace": _trace,
}
