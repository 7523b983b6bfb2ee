"""Defines norms and condition numbers of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.factorisations import reduced_svd, singular_values
from tapeless.transforms.ops.linalg.products import conjugate_if_complex, matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import stacks
from tapeless.transforms.ops.linalg.solve import inv
from tapeless.transforms.ops.numpy.reductions import amax, amin, any_, reduction
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, reducing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, logical_or, not_equal
from tapeless.transforms.ops.primitives.elementwise import absolute, conjugate, nonzero, power, real
from tapeless.transforms.ops.primitives.identities import known_number
from tapeless.transforms.ops.primitives.joining import as_array, axes_of
from tapeless.transforms.ops.primitives.lapack_types import check_matrix
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    axes_text,
    cast,
    cast_to,
    flatten,
    front,
    keep_reduced_axes,
    move,
    reduced_shape,
    reshape,
    sum,
    transpose,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def _norm_infer(x: Atom, *, axes: tuple[int, ...], keepdims: bool) -> Type:
    dtype = x.type.dtype  # no LAPACK: float16 stays so
    return Type(np.zeros((), dtype).real.dtype, reduced_shape(x.type.shape, axes, keepdims))


def _norm_source(args: Atoms, params: Params) -> str:
    keep = ", keepdims=True" if params["keepdims"] else ""
    return f"np.linalg.norm({{0}}{axes_text(params['axes'], args[0].type.ndim)}{keep})"


def _norm_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """x.x_dot / |x|: 0 at 0."""
    if tangents[0] is None:
        return (None,)
    (x,), axes = primals, params["axes"]
    unit = truediv(x, keep_reduced_axes(nonzero(outs[0]), x.type, axes))
    product = mul(tangents[0], unit)
    if x.type.dtype.kind == "c":
        product = real(mul(tangents[0], conjugate(unit)))
    return (cast_to(sum(product, axes=axes, keepdims=params["keepdims"]), outs[0].type.dtype),)


def _norm_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """NumPy takes norms over one or two axes; over all others they are one."""
    over = params["axes"]
    if len(over) <= 2:
        return reducing(op, args, axes, params)  # type: ignore[return-value]
    x = front(args[0], axes[0])
    size, *inner = x.type.shape
    norms = op(reshape(x, shape=(size, dims.product(inner))), axes=(1,), keepdims=False)
    return reshape(norms, shape=(size, *(1,) * len(inner))) if params["keepdims"] else norms, 0


norm = Op("norm", _norm_infer, _norm_source, _norm_jvp, costly=True, batch=_norm_batch)


def _nuclear_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """By the unitary factor u v^H, which changes smoothly also where singular values are equal."""
    if tangents[0] is None:
        return (None,)
    _, u, _, vt = primals
    unitary, last = matmul(u, vt), u.type.ndim - 1
    product = mul(tangents[0], conjugate_if_complex(unitary))
    product = real(product) if product.type.dtype.kind == "c" else product
    return (sum(product, axes=(last - 1, last), keepdims=False),)


#: (a, u, s, vt) -> the sum of s, for the singular values and vectors of a.
nuclear = Op(
    "nuclear",
    lambda a, u, s, vt: Type(s.type.dtype, s.type.shape[:-1]),
    lambda args, params: f"np.sum({{2}}{axes_text((args[2].type.ndim - 1,), args[2].type.ndim)})",
    _nuclear_jvp,
    costly=True,
    batch=stacks(2, 2, 1, 2),
)


# -- the NumPy functions


def _floats(x: Any) -> Any:
    x = as_array(x)
    return x if x.type.dtype.kind in "fc" else cast(x, dtype=np.dtype(float))


def _order(ord: Any) -> Any:
    """The order of a norm, which decides what is computed: a number or a word."""
    return known_number(ord, "the order of a norm must be known")


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x, ndim, ord = _floats(x), as_array(x).type.ndim, _order(ord)
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    axes, keepdims = axes_of(axis, ndim), bool(keepdims)
    if axis is None and ord is None:
        return norm(x, axes=axes, keepdims=keepdims)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if ord in (None, "fro", "f"):
        return norm(x, axes=axes, keepdims=keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Atom, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The norm of all elements of some axes, taken as those of a vector."""
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == 2 and axes:
        return _root_of_squares(x, axes, keepdims)
    size = absolute(x)
    if ord == np.inf:
        return _largest(size, axes, keepdims)
    if ord == -np.inf:
        return amin(size, axes=axes, keepdims=keepdims)
    if ord == 0:
        return sum(cast_to(not_equal(x, 0), size.type.dtype), axes=axes, keepdims=keepdims)
    if ord == 1 or not axes:
        return sum(size, axes=axes, keepdims=keepdims)
    p = float(ord)
    total = sum(power(size, p), axes=axes, keepdims=keepdims)
    if p < 0:
        return power(total, 1 / p)
    flat_at = equal(total, 0)
    return select(flat_at, total, power(select(flat_at, 1.0, total), 1 / p))


def _root_of_squares(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The Euclidean norm over any axes; NumPy's function takes one, two or all of them."""
    if len(axes) in (1, 2, x.type.ndim):
        return norm(x, axes=axes, keepdims=keepdims)
    others = tuple(k for k in range(x.type.ndim) if k not in axes)
    size = dims.product(x.type.shape[k] for k in axes)
    rows = reshape(
        transpose(x, axes=(*others, *axes)), shape=(*(x.type.shape[k] for k in others), size)
    )
    norms = norm(rows, axes=(len(others),), keepdims=False)
    return reshape(norms, shape=reduced_shape(x.type.shape, axes, True)) if keepdims else norms


def _largest(size: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The largest of numbers that are not negative; 0 where there are none."""
    if all(dims.at_least(size.type.shape[k], 1) for k in axes):
        return amax(size, axes=axes, keepdims=keepdims)
    return reduction(amax)(size, axes, keepdims=keepdims, initial=atom(0))


def _matrix_norm(x: Atom, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    rows, columns = axes
    if ord in (1, -1, np.inf, -np.inf):
        along, over = (rows, columns) if ord in (1, -1) else (columns, rows)
        sums = sum(absolute(x), axes=(along,), keepdims=keepdims)
        place = (over if keepdims else over - (over > along),)
        if ord in (1, np.inf):
            return _largest(sums, place, keepdims)
        return amin(sums, axes=place, keepdims=keepdims)
    if ord not in (2, -2, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    x_last = move(x, axes, (x.type.ndim - 2, x.type.ndim - 1))
    u, s, vt = reduced_svd(x_last)
    last = (s.type.ndim - 1,)
    if ord == "nuc":
        norms = nuclear(x_last, u, s, vt)
    else:
        norms = _largest(s, last, False) if ord == 2 else amin(s, axes=last, keepdims=False)
    return reshape(norms, shape=reduced_shape(x.type.shape, axes, True)) if keepdims else norms


def _cond(x: Any, p: Any = None) -> Any:
    x, p = as_array(x), _order(p)
    check_matrix(x)
    axes = (x.type.ndim - 2, x.type.ndim - 1)
    if p in (None, 2, -2):
        values = singular_values(x)
        lead = (slice(None),) * (values.type.ndim - 1)
        first, last = index(values, key=(*lead, 0)), index(values, key=(*lead, -1))
        above, below = (last, first) if p == -2 else (first, last)
        nothing = equal(below, 0)
        return select(nothing, np.inf, truediv(above, select(nothing, 1.0, below)))
    condition = _norm(x, p, axes) * _norm(inv(x), p, axes)
    spoilt = any_(not_equal(x, x), axes=axes, keepdims=False)
    return select(logical_or(equal(condition, condition), spoilt), condition, np.inf)


def _vector_norm_api(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    x, keepdims, ord = _floats(x), bool(keepdims), _order(ord)
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    if axis is None and x.type.ndim != 1:
        length = _vector_norm(flatten(x), 2 if ord is None else ord, (0,), False)
        return reshape(length, shape=(1,) * x.type.ndim) if keepdims else length
    return _vector_norm(x, 2 if ord is None else ord, axes_of(axis, x.type.ndim), keepdims)


def _matrix_norm_api(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return _norm(x, ord, (-2, -1), keepdims)


NUMPY: dict[Any, Any] = {
    np.linalg.norm: _norm,
    np.linalg.cond: _cond,
    np.linalg.vector_norm: _vector_norm_api,
    np.linalg.matrix_norm: _matrix_norm_api,
}
