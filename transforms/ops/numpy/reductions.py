"""Defines reductions over axes: sums, means, variances, extremes, products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, current, size_of, stretch
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.cumulative import cumprod
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.primitives.arithmetic import mul, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import reducing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    logical_and,
    logical_or,
)
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    conjugate,
    maximum,
    minimum,
    real,
    sqrt,
)
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axes_of,
    concatenate,
    reduced_axis,
    refuse_truth,
)
from tapeless.transforms.ops.primitives.make_elementwise import Over, scale
from tapeless.transforms.ops.primitives.new_arrays import ones, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_reduced,
    broadcast_to,
    cast,
    cast_to,
    keep_reduced_axes,
    linear,
    reduction_infer,
    reduction_source,
    reshape,
    transpose,
)
from tapeless.transforms.ops.primitives.shapes import sum as sum
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def count(t: Type, axes: tuple[int, ...]) -> Atom:
    """How many elements are reduced to one."""
    return atom_of_size(dims.product(t.shape[k] for k in axes))


def left_of(number: Atom, ddof: Any) -> Any:
    """What a sum of squares is divided by; not negative, as in NumPy."""
    if isinstance(ddof, Var):
        return maximum(number - ddof, 0)
    if not isinstance(number, Var):
        return number - ddof if ddof <= number.value else 0
    if type(ddof) is int and dims.at_least(size_of(number), ddof):
        return number - ddof
    return maximum(number - ddof, 0)


def freedom(ddof: Any, correction: Any) -> Any:
    """What is subtracted from the number of elements, under either of its names."""
    if correction is None:
        return ddof
    if type(ddof) is not int or ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _reduction(name: str, reduce: Any, jvp: Any = None, word: str = "") -> Op:
    source = reduction_source(f"np.{name}")
    return Op(name, reduction_infer(reduce), source, jvp, costly=True, batch=reducing, word=word)


def _at_least_one(number: Any) -> Any:
    """A number of elements by which derivatives are divided: of none there is no derivative, and
    Python's numbers are not divided by zero."""
    if isinstance(number, Literal) or current().at_least(size_of(number), 1).certain:
        return number
    return maximum(number, 1)


def _mean_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    t, axes = args[0].type, params["axes"]
    if any(t.shape[k] == 0 for k in axes):
        return (zeros(shape=t.shape, dtype=ct.type.dtype),)
    return (broadcast_reduced(truediv(ct, _at_least_one(count(t, axes))), t, axes),)


mean = linear(
    "mean",
    reduction_infer(np.mean),
    reduction_source("np.mean"),
    _mean_transpose,
    costly=True,
    batch=reducing,
)


def _like_mean(x: Atom, tangent: Atom, params: Params, factor: Any) -> Atom:
    """factor * sum of (x - mean) * tangent / (n - ddof)."""
    axes = params["axes"]
    centred = x - mean(x, axes=axes, keepdims=True)
    product = mul(tangent, centred)
    if x.type.dtype.kind == "c":
        product = real(mul(tangent, conjugate(centred)))
    total = sum(product, axes=axes, keepdims=params["keepdims"])
    number = count(x.type, axes)
    divisor = number - params["ddof"]
    return scale(truediv(total, _at_least_one(divisor) if params["ddof"] == 0 else divisor), factor)


def _var_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    return (None if tangents[0] is None else _like_mean(primals[0], tangents[0], params, 2.0),)


def _std_jvp(primals: Any, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    constant = equal(outs[0], 0)  # a subgradient where all values are equal
    factor = Over(select(constant, 1.0, outs[0]))
    return (select(constant, 0.0, _like_mean(primals[0], tangents[0], params, factor)),)


var = _reduction("var", np.var, _var_jvp)
std = _reduction("std", np.std, _std_jvp)


# -- extremes, products and tests


def _extremum_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """The mean of the tangents of all elements that attain the extremum (as JAX)."""
    if tangents[0] is None:
        return (None,)
    (x,), axes, keep = primals, params["axes"], params["keepdims"]
    attained = equal(x, keep_reduced_axes(outs[0], x.type, axes))
    hits = sum(cast(attained, dtype=outs[0].type.dtype), axes=axes, keepdims=keep)
    return (truediv(sum(select(attained, tangents[0], 0.0), axes=axes, keepdims=keep), hits),)


amax = _reduction("max", np.max, _extremum_jvp, word="largest")
amin = _reduction("min", np.min, _extremum_jvp, word="smallest")


def _prod_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """Products of all other elements, from the left times from the right: exact for zeros too."""
    if tangents[0] is None:
        return (None,)
    x, tangent, axis = merge_reduced_axes(primals[0], tangents[0], params["axes"])
    shape = tuple(1 if k == axis else s for k, s in enumerate(x.type.shape))
    first_factor = ones(shape=shape, dtype=x.type.dtype)
    before = cumprod(_drop_last(concatenate(first_factor, x, axis=axis), axis), axis=axis)
    backwards = _drop_last(concatenate(first_factor, flip(x, axis), axis=axis), axis)
    after = flip(cumprod(backwards, axis=axis), axis)
    total = sum(mul(tangent, mul(before, after)), axes=(axis,), keepdims=False)
    return (reshape(total, shape=outs[0].type.shape),)


def merge_reduced_axes(x: Atom, tangent: Atom, axes: tuple[int, ...]) -> tuple[Atom, Atom, int]:
    """All reduced axes moved to the end and merged into one."""
    if len(axes) == 1:
        return x, tangent, axes[0]
    others = tuple(k for k in range(x.type.ndim) if k not in axes)
    sizes = (*(x.type.shape[k] for k in others), dims.product(x.type.shape[k] for k in axes))
    x, tangent = (reshape(transpose(a, axes=(*others, *axes)), shape=sizes) for a in (x, tangent))
    return x, tangent, len(others)


def _drop_last(x: Atom, axis: int) -> Any:
    return index(x, key=(*(slice(None),) * axis, slice(None, -1)))


prod = _reduction("prod", np.prod, _prod_jvp)
any_ = _reduction("any", np.any)
all_ = _reduction("all", np.all)
count_nonzero = _reduction("count_nonzero", lambda x: np.zeros((), INDEX))
# The NumPy functions ---------------------------------------------------------------------------
EMPTY: dict[Op, Any] = {sum: 0, prod: 1, any_: False, all_: True}
JOINS: dict[Op, Any] = {sum: lambda a, b: a + b, prod: mul, amax: maximum, amin: minimum}
JOINS |= {any_: logical_or, all_: logical_and}
#: Those that combine elements along axes by an operation on two of them.
REDUCTIONS = frozenset(JOINS)


def reduction(op: Op, default: Any = None) -> Any:
    def reduce(
        a: Any,
        axis: Any = default,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        a = as_array(a)
        if op is not mean:
            refuse_truth(axis)
            axis = reduced_axis(axis, a.type.ndim)
        where = None if where is None or where is True else as_array(where)
        wraps = dtype is not None and np.dtype(dtype).kind in "iub"
        if op is mean and (where is not None or wraps):
            return _mean_where(a, where, axes_of(axis, a.type.ndim), bool(keepdims), dtype)
        if where is not None:
            a = _mask_with_neutral(op, a, where, initial)
        if dtype is not None:
            a = cast_to(a, np.dtype(dtype))
        axes = axes_of(axis, a.type.ndim)
        joins = initial is not None and not (
            isinstance(initial, Literal) and op in EMPTY and initial.value == EMPTY[op]
        )
        if joins and any(a.type.shape[k] == 0 for k in axes):
            kind = op.infer(a, axes=axes, keepdims=bool(keepdims))
            return broadcast_to(cast(as_array(initial), dtype=kind.dtype), shape=kind.shape)
        if joins and op in (amax, amin):
            empty = [k for k in axes if not dims.at_least(a.type.shape[k], 1)]
            if empty:
                a, joins = _with_one_more(a, empty[0], as_array(initial)), False
        reduced_value = _reduce(op, a, axes, bool(keepdims))
        if dtype is not None:
            reduced_value = cast_to(
                reduced_value, np.dtype(dtype)
            )  # small integers are added up in wide ones
        return (
            JOINS[op](reduced_value, cast_to(as_array(initial), reduced_value.type.dtype))
            if joins
            else reduced_value
        )

    return reduce


def _with_one_more(a: Atom, axis: int, initial: Atom) -> Any:
    """The array with an element more along an axis that may have none."""
    shape = (*a.type.shape[:axis], 1, *a.type.shape[axis + 1 :])
    return concatenate(a, broadcast_to(cast_to(initial, a.type.dtype), shape=shape), axis=axis)


def without_dtype(op: Op) -> Any:
    """The signature of reductions that keep the dtype, or have one of their own."""

    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        return reduction(op)(a, axis, None, None, keepdims, initial, where)

    return reduce


def _mask_with_neutral(op: Op, a: Atom, where: Any, initial: Any) -> Any:
    """The array with what changes nothing in the place of elements that are left out."""
    if op not in EMPTY and initial is None:
        raise ValueError(f"np.{op.name} with where= needs initial=")
    neutral = as_array(EMPTY.get(op, initial))
    return select(as_array(where), a, cast_to(neutral, a.type.dtype))


def _mean_where(
    a: Atom, where: Any, axes: tuple[int, ...], keepdims: bool, dtype: Any = None, ddof: Any = 0
) -> Any:
    """The mean of the elements where a mask is true; of all if there is none."""
    kind = np.mean(np.ones(1, a.type.dtype), dtype=dtype).dtype
    a, number = cast_to(a, kind), count(a.type, axes)
    if where is not None:
        stretch(where.type.shape, a.type.shape)
        chosen = broadcast_to(where, shape=a.type.shape)
        a = select(chosen, a, 0)
        number = sum(cast_to(chosen, np.dtype(np.intp)), axes=axes, keepdims=keepdims)
    total = sum(a, axes=axes, keepdims=keepdims)
    total = cast_to(total, kind) if kind.kind in "iub" else total  # where sums wrap around
    return cast_to(truediv(total, left_of(number, ddof)), kind)


def _reduce(op: Op, a: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    if not axes and (a.type.ndim or op not in (any_, all_)):
        dtype = op.infer(a, axes=(), keepdims=False).dtype
        if op in (any_, all_, count_nonzero):
            a = cast_to(a, np.dtype(bool))  # each element by itself
        return cast(a, dtype=dtype) if a.type.weak else cast_to(a, dtype)  # numbers get a dtype
    return op(a, axes=axes, keepdims=keepdims)


def _moment(op: Op) -> Any:
    def moment(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = None,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        a = as_array(a)
        axes, keepdims = axes_of(axis, a.type.ndim), bool(keepdims)
        ddof = freedom(ddof, correction)
        mask = None if where is None or where is True else as_array(where)
        if a.type.dtype.kind not in "fc":
            a = cast(a, dtype=np.dtype(float))
        is_ddof_constant = not isinstance(ddof, Var)
        real = a.type.dtype.kind == "f"  # of complex numbers, NumPy gives real ones without dtype
        same = dtype is None or (real and np.dtype(dtype) == a.type.dtype)
        if mask is None and mean is None and same and is_ddof_constant:
            return op(a, axes=axes, keepdims=keepdims, ddof=ddof)
        centre = _mean_where(a, mask, axes, True, dtype) if mean is None else as_array(mean)
        off = absolute(sub(a, centre))
        variance = _mean_where(mul(off, off), mask, axes, keepdims, dtype, ddof)
        flat_at = equal(variance, 0)
        root = sqrt(select(flat_at, 1.0, variance))
        return cast_to(select(flat_at, 0.0, root), variance.type.dtype) if op is std else variance

    return moment


NUMPY = {
    np.sum: reduction(sum),
    np.mean: reduction(mean),
    np.prod: reduction(prod),
    np.max: without_dtype(amax),
    np.min: without_dtype(amin),
    np.amax: without_dtype(amax),
    np.amin: without_dtype(amin),
    np.any: without_dtype(any_),
    np.all: without_dtype(all_),
    np.count_nonzero: reduction(count_nonzero),
    np.var: _moment(var),
    np.std: _moment(std),
    np.add.reduce: reduction(sum, 0),
    np.multiply.reduce: reduction(prod, 0),
    np.maximum.reduce: reduction(amax, 0),
    np.minimum.reduce: reduction(amin, 0),
    np.logical_and.reduce: reduction(all_, 0),
    np.logical_or.reduce: reduction(any_, 0),
}
METHODS = {
    f.__name__: NUMPY[f]
    for f in (np.sum, np.mean, np.prod, np.max, np.min, np.any, np.all, np.var, np.std)
}
