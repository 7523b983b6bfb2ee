"""Reductions over axes and cumulative sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.elementwise import Over, equal, mul, scale, select, square, truediv
from tapeless.transforms.ops.shapes import array_of, axes_of, axis_of, broadcast_to, cast, linear, reshape


def reduced(shape: tuple[Size, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Size, ...]:
    if keepdims:
        return tuple(1 if k in axes else s for k, s in enumerate(shape))
    return tuple(s for k, s in enumerate(shape) if k not in axes)


def _infer(reduce: Any) -> Any:
    def infer(x: Atom, *, axes: tuple[int, ...], keepdims: bool, **more: Any) -> Type:
        dtype = reduce(np.zeros((1,), x.type.dtype)).dtype
        return Type(dtype, reduced(x.type.shape, axes, keepdims))

    return infer


def _source(name: str) -> Any:
    def source(args: tuple[Atom, ...], params: dict[str, Any]) -> str:
        axes, ndim = params["axes"], args[0].type.ndim
        which = "" if len(axes) == ndim else f", axis={axes[0] if len(axes) == 1 else axes}"
        keep = ", keepdims=True" if params["keepdims"] else ""
        ddof = f", ddof={params['ddof']}" if params.get("ddof") else ""
        return f"np.{name}({{0}}{which}{ddof}{keep})"

    return source


def spread(value: Atom, t: Type, axes: tuple[int, ...]) -> Atom:
    """A reduced value, with its axes back, broadcast to the shape of what was reduced."""
    return broadcast_to(kept(value, t, axes), shape=t.shape)  # type: ignore[no-any-return]


def kept(value: Atom, t: Type, axes: tuple[int, ...]) -> Atom:
    """A reduced value with axes of length one in the place of the reduced ones."""
    return reshape(value, shape=reduced(t.shape, axes, True))  # type: ignore[no-any-return]


def count(t: Type, axes: tuple[int, ...]) -> Atom:
    return size_atom(dims.product(t.shape[k] for k in axes))


sum = linear("sum", _infer(np.sum), _source("sum"),
             lambda ct, args, linear, params: (spread(ct, args[0].type, params["axes"]),), costly=True)
mean = linear("mean", _infer(np.mean), _source("mean"),
              lambda ct, args, linear, params: (spread(truediv(ct, count(args[0].type, params["axes"])), args[0].type,
                                                       params["axes"]),), costly=True)


def _like_mean(primals: tuple[Atom, ...], tangent: Atom, params: dict[str, Any], factor: Any) -> Atom:
    """factor * sum of (x - mean) * tangent / (n - ddof)."""
    (x,), axes = primals, params["axes"]
    centred = x - mean(x, axes=axes, keepdims=True)
    total = sum(mul(tangent, centred), axes=axes, keepdims=params["keepdims"])
    return scale(truediv(total, count(x.type, axes) - params["ddof"]), factor)


def _var_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    return (None if tangents[0] is None else _like_mean(primals, tangents[0], params, 2.0),)


def _std_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    if tangents[0] is None:
        return (None,)
    flat = equal(outs[0], 0)  # a subgradient where all values are equal
    return (select(flat, 0.0, _like_mean(primals, tangents[0], params, Over(select(flat, 1.0, outs[0])))),)


var = Op("var", _infer(np.var), _source("var"), _var_jvp, costly=True)
std = Op("std", _infer(np.std), _source("std"), _std_jvp, costly=True)


def _extremum_jvp(primals: tuple[Atom, ...], tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    """The mean of the tangents of all elements that attain the extremum (as JAX)."""
    if tangents[0] is None:
        return (None,)
    (x,), axes, keep = primals, params["axes"], params["keepdims"]
    attained = equal(x, kept(outs[0], x.type, axes))
    hits = sum(cast(attained, dtype=outs[0].type.dtype), axes=axes, keepdims=keep)
    return (truediv(sum(select(attained, tangents[0], 0.0), axes=axes, keepdims=keep), hits),)


amax = Op("max", _infer(np.max), _source("max"), _extremum_jvp, costly=True)
amin = Op("min", _infer(np.min), _source("min"), _extremum_jvp, costly=True)


def _prod_jvp(primals: tuple[Atom, ...], tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    """Products of all other elements, from the left times from the right: right also where some are 0."""
    from tapeless.transforms.ops.shapes import _flip, concatenate

    if tangents[0] is None:
        return (None,)
    (x,), axes, keep = primals, params["axes"], params["keepdims"]
    x, tangent, axis = _merge(x, tangents[0], axes)
    one = _ones_like_part(x, axis)
    before = cumprod(_drop(concatenate(one, x, axis=axis), axis, last=True), axis=axis)
    after = _flip(cumprod(_drop(concatenate(one, _flip(x, axis), axis=axis), axis, last=True), axis=axis), axis)
    total = sum(mul(tangent, mul(before, after)), axes=(axis,), keepdims=False)
    return (reshape(total, shape=outs[0].type.shape) if keep else total,)


def _merge(x: Atom, tangent: Atom, axes: tuple[int, ...]) -> tuple[Atom, Atom, int]:
    """All reduced axes moved to the end and merged into one."""
    from tapeless.transforms.ops.shapes import transpose

    if len(axes) == 1:
        return x, tangent, axes[0]
    others = tuple(k for k in range(x.type.ndim) if k not in axes)
    shape = (*(x.type.shape[k] for k in others), dims.product(x.type.shape[k] for k in axes))
    x, tangent = (reshape(transpose(a, axes=(*others, *axes)), shape=shape) for a in (x, tangent))
    return x, tangent, len(others)


def _ones_like_part(x: Atom, axis: int) -> Atom:
    from tapeless.transforms.ops.creation import ones

    return ones(shape=tuple(1 if k == axis else s for k, s in enumerate(x.type.shape)), dtype=x.type.dtype)  # type: ignore[no-any-return]


def _drop(x: Atom, axis: int, last: bool) -> Atom:
    from tapeless.transforms.ops.indexing import index

    return index(x, key=(*(slice(None),) * axis, slice(None, -1) if last else slice(1, None)))  # type: ignore[no-any-return]


prod = Op("prod", _infer(np.prod), _source("prod"), _prod_jvp, costly=True)
any_ = Op("any", _infer(np.any), _source("any"), costly=True)
all_ = Op("all", _infer(np.all), _source("all"), costly=True)


def _arg_source(name: str) -> Any:
    return lambda args, params: (f"np.{name}({{0}}" + ("" if params["axis"] is None else f", axis={params['axis']}")
                                 + (", keepdims=True)" if params["keepdims"] else ")"))


def _arg_infer(x: Atom, *, axis: int | None, keepdims: bool) -> Type:
    axes = tuple(range(x.type.ndim)) if axis is None else (axis,)
    return Type(np.dtype(np.intp), reduced(x.type.shape, axes, keepdims))


argmax = Op("argmax", _arg_infer, _arg_source("argmax"), costly=True)
argmin = Op("argmin", _arg_infer, _arg_source("argmin"), costly=True)


def _cumulative_infer(reduce: Any) -> Any:
    return lambda x, *, axis: Type(reduce(np.zeros((1,), x.type.dtype)).dtype, x.type.shape)


def _cumulative_source(name: str) -> Any:
    return lambda args, params: f"np.{name}({{0}}" + (f", axis={params['axis']})" if args[0].type.ndim > 1 else ")")


def _cumsum_transpose(ct: Atom, args: Any, linear: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    from tapeless.transforms.ops.shapes import _flip

    return (_flip(cumsum(_flip(ct, params["axis"]), **params), params["axis"]),)


def _cumprod_jvp(primals: tuple[Atom, ...], tangents: Any, outs: tuple[Var, ...], params: dict[str, Any]) -> Any:
    """out_k' = out_(k-1)' x_k + out_(k-1) x_k': exact also where factors are zero, by an n x n table of
    products of all factors but one."""
    from tapeless.transforms.ops.creation import eye
    from tapeless.transforms.ops.linalg import tri_mask

    if tangents[0] is None:
        return (None,)
    (x,), axis = primals, params["axis"]
    n, ndim = x.type.shape[axis], x.type.ndim
    diagonal = reshape(eye(shape=(n, n), k=0, dtype=np.dtype(bool)), shape=(*(n if k == axis else 1 for k in range(ndim)), n))
    wide = (*x.type.shape, 1)
    without = select(diagonal, 1.0, broadcast_to(reshape(x, shape=wide), shape=(*x.type.shape, n)))
    products = cumprod(without, axis=axis)  # [.., k, .., j]: product of the first k factors but the j-th
    lower = reshape(tri_mask(n, x.type.dtype), shape=(*(n if k == axis else 1 for k in range(ndim)), n))
    order = tuple(k for k in range(ndim) if k != axis)
    from tapeless.transforms.ops.shapes import transpose

    moved = transpose(tangents[0], axes=(*order, axis))  # the factor axis last
    shape = (*(1 if k == axis else x.type.shape[k] for k in range(ndim)), n)
    return (sum(mul(mul(products, lower), reshape(moved, shape=shape)), axes=(ndim,), keepdims=False),)


cumsum = linear("cumsum", _cumulative_infer(np.cumsum), _cumulative_source("cumsum"), _cumsum_transpose, costly=True)
cumprod = Op("cumprod", _cumulative_infer(np.cumprod), _cumulative_source("cumprod"), _cumprod_jvp, costly=True)


# The NumPy functions ---------------------------------------------------------------------------


def _reduction(op: Op) -> Any:
    def reduce(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
               where: Any = None) -> Atom:
        a = array_of(a)
        if initial is not None or where is not None:
            raise UnsupportedError(f"np.{op.name} with initial= or where=", "use np.where on the array first")
        if dtype is not None:
            a = cast(a, dtype=np.dtype(dtype))
        axes = axes_of(axis, a.type.ndim)
        if not a.type.ndim and op in (sum, prod, amax, amin, mean):
            return cast(a, dtype=op.infer(a, axes=(), keepdims=False).dtype) if a.type.dtype.kind not in "fc" else a  # type: ignore[no-any-return]
        return op(a, axes=axes, keepdims=bool(keepdims))  # type: ignore[no-any-return]

    return reduce


def _moment(op: Op) -> Any:
    def reduce(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False) -> Atom:
        a = array_of(a)
        if a.type.dtype.kind not in "fc":
            a = cast(a, dtype=np.dtype(float))
        return op(a, axes=axes_of(axis, a.type.ndim), keepdims=bool(keepdims), ddof=ddof)  # type: ignore[no-any-return]

    return reduce


def _arg(op: Op) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Atom:
        a = array_of(a)
        return op(a, axis=None if axis is None else axis_of(axis, a.type.ndim), keepdims=bool(keepdims))  # type: ignore[no-any-return]

    return reduce


def _cumulative(op: Op) -> Any:
    def run(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Atom:
        a = array_of(a)
        if axis is None:
            a, axis = reshape(a, shape=(dims.product(a.type.shape),)), 0
        return op(a, axis=axis_of(axis, a.type.ndim))  # type: ignore[no-any-return]

    return run


NUMPY = {
    np.sum: _reduction(sum), np.mean: _reduction(mean), np.prod: _reduction(prod), np.max: _reduction(amax),
    np.min: _reduction(amin), np.amax: _reduction(amax), np.amin: _reduction(amin), np.any: _reduction(any_),
    np.all: _reduction(all_), np.var: _moment(var), np.std: _moment(std), np.argmax: _arg(argmax),
    np.argmin: _arg(argmin), np.cumsum: _cumulative(cumsum), np.cumprod: _cumulative(cumprod),
}
METHODS = {f.__name__: rule for f, rule in NUMPY.items() if f not in (np.amax, np.amin)}
