"""Defines factorisations of matrices: Cholesky, eigenvalues of symmetric ones, singular values,
QR."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.linalg.products import adjoint, conjugate_if_complex, matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import (
    divided,
    half,
    hermitian_from_triangle,
    inverse_gaps,
    inverse_sums,
    parted,
)
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import smaller_size, tril
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.elementwise import nonzero, real
from tapeless.transforms.ops.primitives.joining import as_array, concatenate
from tapeless.transforms.ops.primitives.lapack_types import (
    check_matrix,
    identity_of,
    lapack_dtype,
    square_shape,
)
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, batch_of_stack, row, sum, swap
from tapeless.transforms.ops.primitives.slices_and_gathers import part


def _lower_half(x: Atom) -> Any:
    """The lower triangle, with half of the diagonal."""
    return tril(mul(x, sub(1.0, 0.5 * identity_of(x))), k=0)


def _turning(x: Atom) -> Any:
    """The diagonal matrix with the imaginary parts of the diagonal."""
    return mul(sub(x, real(x)), identity_of(x))


def _cholesky_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None,)
    (low,), moved = outs, hermitian_from_triangle(tangents[0])
    return (matmul(low, _lower_half(solve(low, adjoint(solve(low, moved))))),)


cholesky = Op(
    "cholesky",
    lambda a: Type(lapack_dtype(a), square_shape(a)),
    "np.linalg.cholesky({0})",
    _cholesky_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    a = as_array(a)
    return swap(cholesky(swap(a))) if upper else cholesky(a)


# -- eigenvalues of symmetric matrices


def _eigh_infer(a: Atom, *, lower: bool, free: bool = False) -> tuple[Type, Type]:
    shape, dtype = square_shape(a), lapack_dtype(a)
    return Type(np.zeros((), dtype).real.dtype, shape[:-1]), Type(dtype, shape)


def _eigh_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None)
    w, v = outs
    a_dot = hermitian_from_triangle(tangents[0], params["lower"])
    if params.get("free"):
        return (_along_vectors(v, a_dot, v), None)
    moved = matmul(matmul(adjoint(v), a_dot), v)
    of = "lower" if params["lower"] else "upper"
    w_dot, turn = parted(primals[0], v, v, inverse_gaps(w), moved, of=of)
    return (w_dot, matmul(v, turn))


def _along_vectors(u: Atom, a_dot: Atom, v: Atom) -> Any:
    """The diagonal of u^H a_dot v."""
    moved = mul(conjugate_if_complex(u), matmul(a_dot, v))
    return real(sum(moved, axes=(moved.type.ndim - 2,), keepdims=False))


def _eigh_source(args: Atoms, params: Params) -> str:
    return "np.linalg.eigh({0})" if params["lower"] else "np.linalg.eigh({0}, 'U')"


#: free: nothing reads the vectors but what does not depend on how those of equal eigenvalues are
#: turned. Then equal eigenvalues have tangents, of which the sum over them is right.
eigh = Op("eigh", _eigh_infer, _eigh_source, _eigh_jvp, costly=True, batch=batch_of_stack)


def _eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803 (NumPy's)
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return type(np.linalg.eigh(np.eye(1)))(*eigh(as_array(a), lower=UPLO.upper() == "L"))


# -- singular values


def _svd_infer(a: Atom, *, k: Size, free: bool = False) -> tuple[Type, ...]:
    check_matrix(a)
    *lead, n, m = a.type.shape
    dtype = lapack_dtype(a)
    values = Type(np.zeros((), dtype).real.dtype, (*lead, k))
    return Type(dtype, (*lead, n, k)), values, Type(dtype, (*lead, k, m))


def _svd_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    if tangents[0] is None:
        return (None, None, None)
    (a,), (u, s, vt), a_dot, k = primals, outs, tangents[0], params["k"]
    v = adjoint(vt)
    if params.get("free"):
        return (None, _along_vectors(u, a_dot, v), None)
    left, right = matmul(adjoint(u), a_dot), matmul(a_dot, v)
    core = matmul(left, v)
    basis = (a, u, v, inverse_gaps(s))
    # u and v turn together by what of the core is Hermitian, and else in opposite directions
    s_dot, together = parted(*basis, half(core), of="svd")
    apart = divided(
        *basis, inverse_sums(s), sub(core, half(core)), of="svd", by="sum", flipped=False
    )
    if core.type.dtype.kind == "c":  # u turns, and v does not
        together = add(together, mul(apart, identity_of(apart)))
    u_dot, v_dot = matmul(u, add(together, apart)), matmul(v, sub(together, apart))
    n, m = a.type.shape[-2:]
    if n != k:
        u_dot = add(
            u_dot, _divide_by_singular_values(basis, _inverse(s), sub(right, matmul(u, core)))
        )
    if m != k:
        v_dot = add(
            v_dot,
            _divide_by_singular_values(
                basis, _inverse(s), sub(adjoint(left), matmul(v, adjoint(core)))
            ),
        )
    return (u_dot, s_dot, adjoint(v_dot))


def _divide_by_singular_values(basis: Atoms, factor: Atom, y: Atom, by: str = "value") -> Any:
    """Divided by the singular values of columns, or by sums of two."""
    return divided(*basis, factor, y, of="svd", by=by, flipped=False)


def _inverse(s: Atom) -> Any:
    return row(truediv(1.0, nonzero(s)))


svd = Op(
    "svd",
    _svd_infer,
    "np.linalg.svd({0}, full_matrices=False)",
    _svd_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _full_svd_infer(a: Atom, *, k: Size) -> tuple[Type, ...]:
    *lead, n, m = a.type.shape
    u, s, vt = _svd_infer(a, k=k)
    return u.with_shape((*lead, n, n)), s, vt.with_shape((*lead, m, m))


def _full_svd_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Vectors that a matrix maps to zero are determined up to a rotation, if they are several: they
    turn no more than they have to."""
    if tangents[0] is None:
        return (None, None, None)
    (u, s, vt), k = outs, params["k"]
    v = adjoint(vt)
    reduced = (_first_columns(u, k), s, adjoint(_first_columns(v, k)))
    u_dot, s_dot, vt_dot = _svd_jvp(primals, tangents, reduced, params)
    return (
        _tangent_of_all_columns(u, u_dot, k),
        s_dot,
        adjoint(_tangent_of_all_columns(v, adjoint(vt_dot), k)),
    )


def _first_columns(u: Atom, k: Size) -> Atom:
    n = u.type.shape[-1]
    return u if n == k else part(u, u.type.ndim - 1, 0, k)


def _rest(u: Atom, k: Size) -> Any:
    return part(u, u.type.ndim - 1, k, u.type.shape[-1])


def _tangent_of_all_columns(u: Atom, u_dot: Atom, k: Size) -> Atom:
    """The tangent of all columns of a unitary matrix, given that of the first k."""
    n, last = u.type.shape[-1], u.type.ndim - 1
    if n == k:
        return u_dot
    turned = matmul(_first_columns(u, k), matmul(adjoint(u_dot), _rest(u, k)))
    return concatenate(u_dot, neg(turned), axis=last)  # type: ignore[no-any-return]


full_svd = Op(
    "full_svd",
    _full_svd_infer,
    "np.linalg.svd({0})",
    _full_svd_jvp,
    costly=True,
    batch=batch_of_stack,
)


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    a = as_array(a)
    check_matrix(a)
    if not compute_uv:
        return singular_values(a)
    n, m = a.type.shape[-2:]
    full = full_matrices and not current().equals(n, m).certain
    factors = full_svd(a, k=smaller_size(n, m)) if full else reduced_svd(a)
    return type(np.linalg.svd(np.eye(1)))(*factors)


def reduced_svd(a: Any) -> Any:
    return svd(a, k=smaller_size(*a.type.shape[-2:]))


def singular_values(a: Any) -> Any:
    return reduced_svd(as_array(a))[1]


# -- QR


def _qr_infer(a: Atom, *, k: Size) -> tuple[Type, Type]:
    *lead, n, m = a.type.shape
    return Type(lapack_dtype(a), (*lead, n, k)), Type(lapack_dtype(a), (*lead, k, m))


def _qr_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """As many columns as q has decide q; r has q^H times the others, if there are more."""
    if tangents[0] is None:
        return (None, None)
    (a,), (a_dot,), (q, r), k = primals, tangents, outs, params["k"]
    q_dot, r_dot = _qr_tangents(q, _first_columns(r, k), _first_columns(a_dot, k))
    if k != a.type.shape[-1]:
        moved, kept = matmul(adjoint(q_dot), _rest(a, k)), matmul(adjoint(q), _rest(a_dot, k))
        r_dot = concatenate(r_dot, add(moved, kept), axis=r.type.ndim - 1)
    return (q_dot, r_dot)


def _qr_tangents(q: Atom, r: Atom, a_dot: Atom) -> tuple[Any, Any]:
    """The tangents of both factors, where r is square."""
    scaled = swap(solve(swap(r), swap(a_dot)))  # a_dot r^-1
    inside = matmul(adjoint(q), scaled)
    below = tril(inside, k=-1)
    turn = sub(below, adjoint(below))
    if inside.type.dtype.kind == "c":  # the diagonal of r stays real
        turn = add(turn, _turning(inside))
    return add(matmul(q, sub(turn, inside)), scaled), matmul(sub(inside, turn), r)


qr = Op("qr", _qr_infer, "np.linalg.qr({0})", _qr_jvp, costly=True, batch=batch_of_stack)


def _qr(a: Any, mode: str = "reduced") -> Any:
    a = as_array(a)
    if a.type.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.type.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    factors = qr(a, k=smaller_size(*a.type.shape[:-3:-1]))
    if mode == "r":
        return factors[1]
    if mode != "reduced":
        raise UnsupportedError(
            f"np.linalg.qr with mode={mode!r}", "use 'reduced', 'complete' or 'r'"
        )
    return type(np.linalg.qr(np.eye(1)))(*factors)


NUMPY: dict[Any, Any] = {
    np.linalg.cholesky: _cholesky,
    np.linalg.eigh: _eigh,
    np.linalg.eigvalsh: lambda a, UPLO="L": _eigh(a, UPLO)[0],  # noqa: N803 (NumPy's)
    np.linalg.svd: _svd,
    np.linalg.svdvals: singular_values,
    np.linalg.qr: _qr,
}
