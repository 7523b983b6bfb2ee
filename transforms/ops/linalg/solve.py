"""Defines solutions of linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import join
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.primitives.arithmetic import mul, neg, sub
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.joining import as_array, known_integer
from tapeless.transforms.ops.primitives.lapack_types import identity_of, lapack_dtype, square_shape
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_first,
    batch_of_stack,
    broadcast_to,
    column,
    flatten,
    front,
    move,
    reshape,
    sum,
    sum_to,
    swap,
)


def _solve_infer(a: Atom, b: Atom) -> Type:
    join(square_shape(a)[-1], b.type.shape[-2 if b.type.ndim > 1 else 0])
    return Type(lapack_dtype(a, b), matmul.infer(a, b).shape)


def _solve_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    a_dot, b_dot = tangents
    if a_dot is not None:
        moved = matmul(a_dot, outs[0])
        b_dot = neg(moved) if b_dot is None else sub(b_dot, moved)
    return (None if b_dot is None else solve(primals[0], b_dot),)


def _solve_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return (None, sum_to(solve(swap(args[0]), ct), args[1].type))


def _solve_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """One factorisation for all right-hand sides that share a matrix."""
    (a, b), (i, j) = args, axes
    m, n = a.type.ndim - (i is not None), b.type.ndim - (j is not None)
    if i is None and m == 2:
        b = move(b, (j,), (1,))
        size, inner = b.type.shape[1], b.type.shape[2:]
        solution = op(a, reshape(b, shape=(b.type.shape[0], size * dims.product(inner))))
        return reshape(solution, shape=(solution.type.shape[0], size, *inner)), 1
    a, b = front(a, i), front(b, j)
    b = column(b) if n == 1 else b
    ndim = max(m, n)
    solution = op(
        batch_first(a, None if i is None else 0, ndim),
        batch_first(b, None if j is None else 0, ndim),
    )
    return reshape(solution, shape=solution.type.shape[:-1]) if n == 1 else solution, 0


solve = Op(
    "solve",
    _solve_infer,
    "np.linalg.solve({0}, {1})",
    _solve_jvp,
    _solve_transpose,
    costly=True,
    batch=_solve_batch,
)


def _solve(a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    if b.type.ndim == 1 and a.type.ndim > 2:  # a vector for each matrix
        solution = solve(a, column(b))
        return reshape(solution, shape=solution.type.shape[:-1])
    return solve(a, b)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:
        raise UnsupportedError("np.linalg.tensorsolve with axes=", "transpose the array first")
    a, b = as_array(a), as_array(b)
    unknown = a.type.shape[b.type.ndim :]
    n = dims.product(b.type.shape)
    solution = solve(reshape(a, shape=(n, dims.product(unknown))), flatten(b))
    return reshape(solution, shape=unknown)


# -- inverses


def _inv_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (neg(matmul(matmul(outs[0], tangents[0]), outs[0])),)


inv = Op(
    "inv",
    lambda a: Type(lapack_dtype(a), square_shape(a)),
    "np.linalg.inv({0})",
    _inv_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _tensorinv(a: Any, ind: int = 2) -> Any:
    a, ind = as_array(a), known_integer(ind, "how many axes are rows must be known")
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.type.shape
    n = dims.product(shape[ind:])
    inverse = inv(reshape(a, shape=(dims.product(shape[:ind]), n)))
    return reshape(inverse, shape=(*shape[ind:], *shape[:ind]))


def _matrix_power(a: Any, n: Any) -> Any:
    try:
        a, n = as_array(a), known_integer(n, "the exponent must be known")
    except TypeError:
        raise TypeError("exponent must be an integer") from None
    square_shape(a)
    if n == 0:
        return broadcast_to(identity_of(a), shape=a.type.shape)
    if n < 0:
        a, n = inv(a), -n
    done, square = None, a
    while True:
        if n % 2:
            done = square if done is None else matmul(done, square)
        n //= 2
        if not n:
            return done
        square = matmul(square, square)


# -- determinants


ADJUGATE = '''
def adjugate(a):
    """The transposed cofactors of a matrix, which need not have an inverse."""
    u, s, vh = np.linalg.svd(a)
    others = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., np.newaxis, :]), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    left, right = np.swapaxes(vh.conj(), -1, -2), np.swapaxes(u.conj(), -1, -2)
    return sign[..., np.newaxis, np.newaxis] * (left * others[..., np.newaxis, :]) @ right
'''


def _adjugate_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """tr(A^-1 dA) adj A - A^-1 dA adj A, for a matrix that has an inverse."""
    if tangents[0] is None:
        return (None,)
    moved = matmul(inv(primals[0]), tangents[0])
    trace = sum(diagonal(moved, k=0), axes=(moved.type.ndim - 2,), keepdims=False)
    return (sub(mul(column(column(trace)), outs[0]), matmul(moved, outs[0])),)


adjugate = Op(
    "adjugate",
    lambda a: Type(lapack_dtype(a), square_shape(a)),
    lambda args, params: ("adjugate({0})", ADJUGATE),
    _adjugate_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _total(x: Atom) -> Any:
    """The sum over both axes of each matrix."""
    return sum(x, axes=(x.type.ndim - 2, x.type.ndim - 1), keepdims=False)


def _det_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    return (_total(mul(tangents[0], swap(adjugate(primals[0])))),)


det = Op(
    "det",
    lambda a: Type(lapack_dtype(a), square_shape(a)[:-2]),
    "np.linalg.det({0})",
    _det_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _slogdet_infer(a: Atom) -> tuple[Type, Type]:
    shape, dtype = square_shape(a)[:-2], lapack_dtype(a)
    return Type(dtype, shape), Type(np.zeros((), dtype).real.dtype, shape)


def _slogdet_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None)
    moved = _total(mul(tangents[0], swap(inv(primals[0]))))
    if moved.type.dtype.kind != "c":
        return (None, moved)
    return (mul(sub(moved, real(moved)), outs[0]), real(moved))


slogdet = Op(
    "slogdet",
    _slogdet_infer,
    "np.linalg.slogdet({0})",
    _slogdet_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _slogdet(a: Any) -> Any:
    return type(np.linalg.slogdet(np.eye(1)))(*slogdet(as_array(a)))


NUMPY: dict[Any, Any] = {
    np.linalg.solve: _solve,
    np.linalg.inv: lambda a: inv(as_array(a)),
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.det: lambda a: det(as_array(a)),
    np.linalg.slogdet: _slogdet,
    np.linalg.matrix_power: _matrix_power,
}
