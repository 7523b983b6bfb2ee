"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import broadcast, join
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.elementwise import add, mul, result_dtype
from tapeless.transforms.ops.shapes import array_of, reshape, sum_to, transpose


def _matmul_infer(a: Atom, b: Atom) -> Type:
    s, t = a.type.shape, b.type.shape
    if not s or not t:
        raise ShapeError("matmul: an operand is a scalar; use * instead")
    inner_a, inner_b = s[-1], t[-2] if len(t) > 1 else t[0]
    if inner_a != inner_b and (1 in (inner_a, inner_b) or _differ(inner_a, inner_b)):
        raise ShapeError(f"matmul: shapes {_show(s)} and {_show(t)} do not fit: {inner_a} and {inner_b} differ")
    lead = broadcast(s[:-2], t[:-2])
    shape = (*lead, *s[-2:-1], *t[-1:]) if len(t) > 1 else (*lead, *s[-2:-1])
    return Type(result_dtype(np.matmul, (a.type, b.type)), shape)


def _differ(a: Size, b: Size) -> bool:
    try:
        join(a, b)
    except ShapeError:
        return True
    return False


def _show(shape: tuple[Size, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def swap(x: Atom) -> Atom:
    """The transpose of the last two axes."""
    axes = list(range(x.type.ndim))
    axes[-2:] = axes[:-3:-1]
    return transpose(x, axes=tuple(axes))  # type: ignore[no-any-return]


def column(x: Atom) -> Atom:
    return reshape(x, shape=(*x.type.shape, 1))  # type: ignore[no-any-return]


def row(x: Atom) -> Atom:
    return reshape(x, shape=(*x.type.shape[:-1], 1, x.type.shape[-1]))  # type: ignore[no-any-return]


def _matmul_jvp(primals: tuple[Atom, ...], tangents: tuple[Any, ...], outs: Any, params: Any) -> Any:
    (a, b), (a_dot, b_dot) = primals, tangents
    left = None if a_dot is None else matmul(a_dot, b)
    right = None if b_dot is None else matmul(a, b_dot)
    return (left if right is None else right if left is None else add(left, right),)


def _matmul_transpose(ct: Atom, args: tuple[Atom, ...], linear: tuple[bool, ...], params: Any) -> tuple[Any, ...]:
    a, b = args
    return (_left_bar(ct, a, b) if linear[0] else None, _right_bar(ct, a, b) if linear[1] else None)


def _left_bar(ct: Atom, a: Atom, b: Atom) -> Atom:
    if b.type.ndim == 1:
        return mul(column(ct), b) if a.type.ndim > 1 else mul(ct, b)  # type: ignore[no-any-return]
    if a.type.ndim == 1:
        return matmul(b, ct) if b.type.ndim == 2 else sum_to(matmul(b, column(ct)), column(a).type)  # type: ignore[no-any-return]
    return sum_to(matmul(ct, swap(b)), a.type)


def _right_bar(ct: Atom, a: Atom, b: Atom) -> Atom:
    if a.type.ndim == 1:
        return mul(column(a), ct) if b.type.ndim == 2 else mul(column(a), row(ct)) if b.type.ndim > 2 else mul(ct, a)  # type: ignore[no-any-return]
    if b.type.ndim == 1:
        if a.type.ndim == 2:
            return matmul(swap(a), ct)  # type: ignore[no-any-return]
        return sum_to(reshape_to_vector(matmul(swap(a), column(ct))), b.type)
    return sum_to(matmul(swap(a), ct), b.type)


def reshape_to_vector(x: Atom) -> Atom:
    return reshape(x, shape=x.type.shape[:-1])  # type: ignore[no-any-return]


matmul = Op("matmul", _matmul_infer, "{0} @ {1}", _matmul_jvp, _matmul_transpose, costly=True)


def tri_mask(n: Size, dtype: np.dtype[Any]) -> Atom:
    """An n x n array of ones on and below the diagonal."""
    return tri(shape=(n, n), k=0, dtype=dtype)  # type: ignore[no-any-return]


def _tri_source(args: Any, params: dict[str, Any]) -> str:
    n, m = params["shape"]
    columns = "" if n == m else ", {shape[1]}"
    return "np.tri({shape[0]}" + columns + (f", k={params['k']}" if params["k"] else "") + f", dtype=np.{params['dtype'].name})".replace("np.bool)", "bool)")


tri = Op("tri", lambda *, shape, k, dtype: Type(dtype, shape), _tri_source, lambda p, t, o, q: (None,))


# The NumPy functions ---------------------------------------------------------------------------


def _matmul(x1: Any, x2: Any) -> Atom:
    return matmul(array_of(x1), array_of(x2))  # type: ignore[no-any-return]


def _dot(a: Any, b: Any) -> Atom:
    a, b = array_of(a), array_of(b)
    if not a.type.shape or not b.type.shape:
        return mul(a, b)  # type: ignore[no-any-return]
    if b.type.ndim <= 2:
        return matmul(a, b)  # type: ignore[no-any-return]
    inner = b.type.shape[-2]
    others = (*b.type.shape[:-2], b.type.shape[-1])
    order = (b.type.ndim - 2, *range(b.type.ndim - 2), b.type.ndim - 1)
    flat = reshape(transpose(b, axes=order), shape=(inner, dims.product(others)))
    return reshape(matmul(a, flat), shape=(*a.type.shape[:-1], *others))  # type: ignore[no-any-return]


def _outer(a: Any, b: Any) -> Atom:
    a, b = array_of(a), array_of(b)
    flat_a, flat_b = (reshape(x, shape=(dims.product(x.type.shape),)) for x in (a, b))
    return mul(column(flat_a), flat_b)  # type: ignore[no-any-return]


NUMPY = {np.matmul: _matmul, np.dot: _dot, np.outer: _outer}
METHODS = {"dot": _dot}
