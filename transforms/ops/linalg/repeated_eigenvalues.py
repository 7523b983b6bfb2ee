"""Differentiates eigenvalues and singular values, and their vectors, where some values are equal.

Vectors of equal values may be turned among each other. They are taken to turn no more than they
must, so the values of a block of equal ones become a small matrix: a = v w v^H, with w diagonal but
for such blocks. What does not depend on how the vectors of a block are turned has right derivatives
of all orders: an isolated vector, the projection on a block. The values themselves are the diagonal
of w as long as w stays diagonal; else their tangents are nan. Backwards, first derivatives of what
reads values only are right for sums over blocks; a function that reads the values and the vectors
of one block gets nan, since it may be one of a matrix as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import broadcast, defining_statement
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import adjoint, matmul
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import tril
from tapeless.transforms.ops.numpy.reductions import any_
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, logical_or
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.lapack_types import identity_of
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_first,
    broadcast_to,
    swap,
    transpose,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update

GAPS = '''
def inverse_gaps(w):
    """1 / (w[j] - w[i]), and 0 where both are the same up to rounding."""
    rows, columns = w[..., np.newaxis, :], w[..., np.newaxis]
    near = 8 * np.finfo(w.dtype).eps * np.sum(np.abs(w), axis=-1)[..., np.newaxis, np.newaxis]
    same = np.abs(rows - columns) <= near
    return np.where(same, 0, 1 / np.where(same, 1, rows - columns))
'''
SUMS = '''
def inverse_sums(s):
    """1 / (s[i] + s[j]), and 0 where both are 0."""
    sums = s[..., np.newaxis, :] + s[..., np.newaxis]
    return np.where(sums == 0, 0, 1 / np.where(sums == 0, 1, sums))
'''
PARTED = '''
def values_and_turns(gaps, moved):
    """The diagonal of a matrix, and the matrix times gaps. On the diagonal is nan where equal
    values turn into each other: there they have no derivative one by one."""
    size = np.abs(moved)
    near = 1e4 * np.finfo(size.dtype).eps * np.max(size, axis=(-2, -1), keepdims=True, initial=0)
    others = (gaps == 0) & ~np.eye(gaps.shape[-1], dtype=bool)
    mixed = np.any(others & (size > near), axis=-1)
    return np.where(mixed, np.nan, np.diagonal(moved, 0, -2, -1){real}), gaps * moved
'''
CLEAR = '''
def nan_where_unclear(gaps, x, values=False, vectors=True):
    """1, or nan for vectors of equal values if something depends on how they are turned, or on
    both the values and the vectors (masks). It changes by x where they turn."""
    size, eps = np.max(np.abs(x), axis=(-2, -1), keepdims=True, initial=0), np.finfo(x.dtype).eps
    uneven = np.abs(x{minus}) > np.sqrt(eps) * np.maximum(size, eps**0.25)
    values, vectors = (
        m[..., np.newaxis] | m[..., np.newaxis, :] for m in map(np.atleast_1d, (values, vectors))
    )
    others = (gaps == 0) & ~np.eye(gaps.shape[-1], dtype=bool)
    return np.where(others & (uneven | values & vectors), np.nan, 1)
'''
BOOL = np.dtype(bool)


def stacks(*ranks: int) -> Any:
    """The batching rule of arguments that are stacks of numbers, vectors or matrices: those that
    have fewer axes in front get more."""

    def batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
        operands = list(zip(args, axes, ranks, strict=False))
        lead = max(a.type.ndim - (k is not None) - rank for a, k, rank in operands)
        results = op(*(batch_first(a, k, lead + rank) for a, k, rank in operands), **params)
        return results, (0,) * len(results) if isinstance(results, tuple) else 0

    return batch


inverse_gaps = Op(
    "gaps",
    lambda w: Type(w.type.dtype, (*w.type.shape, w.type.shape[-1])),
    ("inverse_gaps({0})", GAPS),
    costly=True,
    batch=stacks(1),
)
inverse_sums = Op(
    "inverses",
    lambda s: Type(s.type.dtype, (*s.type.shape, s.type.shape[-1])),
    ("inverse_sums({0})", SUMS),
    costly=True,
    batch=stacks(1),
)


def _clear_source(args: Atoms, params: Params) -> tuple[str, str]:
    """Turning vectors of length one is skew; others may also be scaled."""
    other = "" if params["of"] == "eig" else " - np.conj(np.swapaxes(x, -2, -1))"
    places = ", ".join(f"{{{k}}}" for k in range(len(args)))
    return f"nan_where_unclear({places})", CLEAR.replace("{minus}", other)


clear = Op(
    "clear",
    lambda gaps, x, *masks, of: Type(
        np.zeros((), x.type.dtype).real.dtype, broadcast(gaps.type.shape, x.type.shape)
    ),
    _clear_source,
    costly=True,
    batch=stacks(2, 2, 1, 1),
)


# -- quotients by values, of which equal ones may become a matrix


def hermitian_from_triangle(x: Atom, lower: bool = True) -> Any:
    """The Hermitian matrix with the triangle of x that is all that NumPy reads of it."""
    x = x if lower else adjoint(x)
    if x.type.dtype.kind != "c":
        return add(tril(x, k=0), swap(tril(x, k=-1)))
    below, middle = tril(x, k=-1), real(x)
    return add(add(below, adjoint(below)), mul(middle, identity_of(middle)))


def half(x: Atom) -> Any:
    """What of a matrix is Hermitian."""
    return truediv(add(x, adjoint(x)), 2.0)


def _block(a_dot: Atom, primals: Atoms, of: str) -> Any:
    """The tangent of w within the blocks."""
    _, u, v, gaps, *_ = primals
    a_dot = hermitian_from_triangle(a_dot, of == "lower") if of in ("lower", "upper") else a_dot
    moved = matmul(a_dot, v)
    moved = solve(v, moved) if of == "eig" else matmul(adjoint(u), moved)
    return select(equal(gaps, 0), half(moved) if of == "svd" else moved, 0.0)


def _divided_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    a_dot, y_dot = tangents[0], tangents[-1]
    if a_dot is not None:
        w_dot = _block(a_dot, primals, params["of"])
        w_dot = swap(w_dot) if params["flipped"] else w_dot
        moved = matmul(outs[0], w_dot)
        if params["by"] != "value":
            other = matmul(w_dot, outs[0])
            moved = sub(moved, other) if params["by"] == "gap" else add(moved, other)
        y_dot = neg(moved) if y_dot is None else sub(y_dot, moved)
    return (None if y_dot is None else divided(*primals[:-1], y_dot, **params),)


def _divided_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    params = {**params, "flipped": not params["flipped"]}
    return (*[None] * 5, divided(*args[:-1], ct, **params))


#: (a, u, v, gaps, factor, y) -> x, for the w of a = u w v^H and inverse gaps of its diagonal.
#: by='gap': x w - w x = y outside of the blocks, 'sum': x w + w x = y, 'value': x w = y; flipped:
#: with the transpose of w. The factor is that of y; `of` says what a is: a triangle of a Hermitian
#: matrix ('lower', 'upper'), another matrix with eigenvectors v, so that v^-1 is in place of u^H
#: ('eig'), or one with singular values ('svd').
divided: Op = Op(
    "divided",
    lambda a, u, v, gaps, factor, y, *, of, by, flipped: Type(
        np.result_type(factor.type.dtype, y.type.dtype), broadcast(factor.type.shape, y.type.shape)
    ),
    "{4} * {5}",
    _divided_jvp,
    _divided_transpose,
    batch=stacks(2, 2, 2, 2, 2, 2),
)


# -- values and vectors


def _parted_infer(
    a: Atom, u: Atom, v: Atom, gaps: Atom, moved: Atom, *, of: str
) -> tuple[Type, Type]:
    shape, kind = broadcast(gaps.type.shape, moved.type.shape), moved.type.dtype
    values = kind if of == "eig" else np.zeros((), kind).real.dtype
    return Type(values, shape[:-1]), Type(kind, shape)


def _parted_source(args: Atoms, params: Params) -> tuple[str, str]:
    part = ".real" if params["of"] != "eig" and args[4].type.dtype.kind == "c" else ""
    return "values_and_turns({3}, {4})", PARTED.replace("{real}", part)


def _parted_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    a_dot, y_dot = tangents[0], tangents[-1]
    if a_dot is not None:
        w_dot = _block(a_dot, primals, params["of"])
        moved = sub(matmul(outs[1], w_dot), matmul(w_dot, outs[1]))
        y_dot = neg(moved) if y_dot is None else sub(y_dot, moved)
    return (None, None) if y_dot is None else parted(*primals[:-1], y_dot, **params)


def _parted_transpose(cts: Any, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    """Nan between vectors of equal values where the result depends on how they are turned, or may
    depend on their block as a whole."""
    *basis, _ = args
    values, vectors = _read(cts[0]), _columns_read(cts[1])
    cotangent = None
    if vectors is not None:
        cotangent = divided(*basis, basis[3], cts[1], by="gap", flipped=True, **params)
    if values is not None:
        along = on_diagonal(*basis, cts[0], **params)
        cotangent = along if cotangent is None else add(cotangent, along)
    if vectors is not None:
        masks = () if values is None else (values, vectors)
        cotangent = mul(cotangent, clear(basis[3], cts[1], *masks, of=params["of"]))
    return (*[None] * 4, cotangent)


parted: Op = Op(
    "turns",
    _parted_infer,
    _parted_source,
    _parted_jvp,
    _parted_transpose,
    costly=True,
    batch=stacks(2, 2, 2, 2, 2),
)


def _on_diagonal_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    tangent = tangents[-1]
    return (None if tangent is None else on_diagonal(*primals[:-1], tangent, **params),)


def _on_diagonal_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    """As the values in forward mode: nan where equal ones turn into each other."""
    return (*[None] * 4, parted(*args[:-1], ct, **params)[0])


def _on_diagonal_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    *basis, d = args
    if axes[4] is None:  # the matrices are a batch, of which all get these values
        size = next(a.type.shape[k] for a, k in zip(args, axes, strict=True) if k is not None)
        args = (*basis, broadcast_to(d, shape=(size, *d.type.shape)))
        axes = (*axes[:4], 0)
    return stacks(2, 2, 2, 2, 1)(op, args, axes, params)  # type: ignore[no-any-return]


#: (a, u, v, gaps, d) -> the diagonal matrix of d.
on_diagonal: Op = Op(
    "on_diagonal",
    lambda a, u, v, gaps, d, *, of: Type(d.type.dtype, (*d.type.shape, d.type.shape[-1])),
    "{4}[..., np.newaxis] * np.eye({4}.shape[-1])",
    _on_diagonal_jvp,
    _on_diagonal_transpose,
    batch=_on_diagonal_batch,
)


def _read(ct: Atom) -> Any:
    """What a cotangent was put to: None if nothing, True if all may be, else a mask."""
    let = defining_statement(ct)
    if is_number(ct, 0) or (let is not None and let.op is zeros):
        return None
    if let is not None and let.op is select and is_number(let.args[2], 0):
        return broadcast_to(let.args[0], shape=ct.type.shape)
    if let is None or let.op not in (add, sub, transpose, add_at, update):
        return True
    if let.op in (add, sub):
        return _or_masks(*map(_read, let.args))
    mask = _read(let.args[0])
    if let.op is transpose:
        return mask if mask is None or mask is True else transpose(mask, **let.params)
    if mask is None:
        mask = zeros(shape=ct.type.shape, dtype=BOOL)
    return True if mask is True else update(mask, True, *let.args[2:], **let.params)


def _columns_read(ct: Atom) -> Any:
    """Of which columns, given a product of something with cotangents of them, or a sum of such."""
    let = defining_statement(ct)
    if let is not None and let.op in (add, sub):
        return _or_masks(*map(_columns_read, let.args))
    mask = _read(let.args[1] if let is not None and let.op is matmul else ct)
    if mask is None or mask is True:
        return mask
    return any_(mask, axes=(mask.type.ndim - 2,), keepdims=False)


def _or_masks(first: Any, second: Any) -> Any:
    if first is None or second is True:
        return second
    return first if second is None or first is True else logical_or(first, second)
