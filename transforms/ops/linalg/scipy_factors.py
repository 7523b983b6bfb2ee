"""Defines factorisations and structured matrices of scipy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.linalg as sl

from tapeless.transforms.core.builder import atom_of_size, current, join, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError
from tapeless.transforms.ops.linalg.eigen import NUMPY as EIGEN
from tapeless.transforms.ops.linalg.factorisations import NUMPY as FACTORISATIONS
from tapeless.transforms.ops.linalg.factorisations import cholesky
from tapeless.transforms.ops.linalg.finite_arguments import with_checked_arguments
from tapeless.transforms.ops.linalg.lu_solutions import lower_and_upper, lu_solve, row_order
from tapeless.transforms.ops.linalg.products import conjugate_if_complex, matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import half
from tapeless.transforms.ops.linalg.scipy_linalg import ASSUMED, as_blas
from tapeless.transforms.ops.linalg.triangular_systems import solve_triangular
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.primitives.arithmetic import add, mod, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.joining import as_array, concatenate
from tapeless.transforms.ops.primitives.new_arrays import count_up, zeros
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    cast_to,
    column,
    flatten,
    reshape,
    row,
    swap,
)

#: Whether toeplitz and circulant take the last axis, and not all elements: from SciPy 1.17 on.
BATCHED = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)


def _refuse(name: str, options: dict[str, Any]) -> None:
    """Refuses options that change the result."""
    hints = ("check_finite", "overwrite_a", "overwrite_b", "lapack_driver", "lwork", "driver")
    if any(v not in (None, False) for k, v in options.items() if k not in hints):
        raise UnsupportedError(f"scipy.linalg.{name} with options", "leave them out")


# -- LU


def _lu_infer(a: Atom) -> tuple[Type, Type]:
    if a.type.ndim != 2:
        raise UnsupportedError("scipy.linalg.lu_factor of several matrices", "loop over them")
    n, m = a.type.shape
    if n != m and (1 in (n, m) or not current().same_size(n, m)):
        raise UnsupportedError("scipy.linalg.lu of matrices that need not be square", "fill up")
    join(*a.type.shape)
    kind = sl.lu_factor(np.eye(1, dtype=a.type.dtype))[0].dtype
    return Type(kind, a.type.shape), Type(np.dtype(np.int32), a.type.shape[:1])


def _lu_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """With x = L^-1 P^T a_dot U^-1: L_dot = L tril(x, -1), U_dot = triu(x) U."""
    if tangents[0] is None:
        return (None, None)
    low, high = lower_and_upper(outs[0])
    moved = get(tangents[0], row_order(outs[1]))
    inner = solve_triangular(low, moved, trans=False, lower=True, unit=True)
    inner = swap(solve_triangular(high, swap(inner), trans=True, lower=False, unit=False))
    factors_dot = add(matmul(low, tril(inner, k=-1)), matmul(triu(inner, k=0), high))
    return (cast_to(factors_dot, outs[0].type.dtype), None)


lu_factor = Op("lu_factor", _lu_infer, "scipy.linalg.lu_factor({0})", _lu_jvp, costly=True)


def _lu(a: Any, permute_l: bool = False, p_indices: bool = False, **options: Any) -> Any:
    if p_indices:
        raise UnsupportedError("scipy.linalg.lu with p_indices=True", "use the matrix p")
    _refuse("lu", options)
    packed, exchanged = lu_factor(as_array(a))
    (low, high), rows = lower_and_upper(packed), row_order(exchanged)
    is_one = equal(row(rows), column(count_up(rows.type.shape[0])))
    p = cast_to(is_one, np.zeros(0, packed.type.dtype).real.dtype)
    return (matmul(p, low), high) if permute_l else (p, low, high)


def _lu_factor(a: Any, **options: Any) -> Any:
    _refuse("lu_factor", options)
    return lu_factor.bind(as_array(a))


def _lu_solve(
    lu_and_piv: Any, b: Any, trans: Any = 0, check_finite: Any = True, **options: Any
) -> Any:
    _refuse("lu_solve", options)
    trans = static(trans, "whether the matrix is turned must be known")
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, not {trans!r}")
    packed, exchanged = map(as_array, lu_and_piv)
    packed = conjugate_if_complex(packed) if trans == 2 else packed
    if packed.type.ndim != 2:
        raise UnsupportedError("scipy.linalg.lu_solve of several matrices", "loop over them")
    return lu_solve(packed, exchanged, as_array(b), trans=trans != 0, checked=bool(check_finite))


# -- QR, singular values and eigenvalues are NumPy's


def _qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", **more: Any
) -> Any:
    _refuse("qr", more)
    a = as_blas(a)
    if a.type.ndim < 2:
        raise ValueError("expected a 2-D array")
    square = mode in ("full", "r") and current().equals(*a.type.shape[-2:]).certain
    if mode != "economic" and not square:
        raise UnsupportedError(f"scipy.linalg.qr with mode={mode!r}", "use mode='economic'")
    q, r = FACTORISATIONS[np.linalg.qr](a)
    return (r,) if mode == "r" else (q, r)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, **options: Any) -> Any:
    _refuse("svd", options)
    factors = FACTORISATIONS[np.linalg.svd](as_blas(a), full_matrices, compute_uv)
    return tuple(factors) if compute_uv else factors


def _eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    subset_by_index: Any = None,
    type: int = 1,
    **options: Any,
) -> Any:
    _refuse("eigh", {**options, "type": type != 1})
    uplo, factor = "L" if lower else "U", None
    a = as_blas(a)
    if b is not None:
        a, factor = _reduce_to_standard(
            _assume_hermitian(a, lower), _assume_hermitian(as_blas(b), lower)
        )
    w, v = FACTORISATIONS[np.linalg.eigh](a, uplo)
    if factor is not None:
        v = solve_triangular(factor, v, trans=True, lower=True, unit=False)
    if subset_by_index is not None:
        first, last = subset_by_index
        w, v = get(w, slice(first, last + 1)), get(v, (slice(None), slice(first, last + 1)))
    return w if eigvals_only else (w, v)


def _assume_hermitian(a: Atom, lower: bool) -> Any:
    """The Hermitian matrix that one of its triangles says."""
    return ASSUMED["hermitian"](a, lower)


def _reduce_to_standard(a: Atom, b: Atom) -> tuple[Any, Any]:
    """The matrix whose eigenvalues are those of a x = w b x, and the factor of b = l l^T."""
    if "c" in (a.type.dtype.kind, b.type.dtype.kind):
        raise UnsupportedError(
            "scipy.linalg.eigh(a, b) of complex matrices", "multiply by the inverse of cholesky(b)"
        )
    factor = cholesky(b)
    half = solve_triangular(factor, a, trans=False, lower=True, unit=False)
    return solve_triangular(factor, swap(half), trans=False, lower=True, unit=False), factor


def _eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    return _eigh(a, b, eigvals_only=True, **options)


def _eig(a: Any, b: Any = None, left: bool = False, right: bool = True, **options: Any) -> Any:
    _refuse("eig", {**options, "b": b, "left": left})
    w, v = EIGEN[np.linalg.eig](as_blas(a))
    return (w, v) if right else w


def _eigvals(a: Any, b: Any = None, **options: Any) -> Any:
    _refuse("eigvals", {**options, "b": b})
    return EIGEN[np.linalg.eigvals](as_blas(a))


def _polar(a: Any, side: str = "right") -> Any:
    """The Hermitian factor is made of the unitary one, which does not read singular values: both
    are smooth where these are equal."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    a = as_blas(a)
    u, _, vt = FACTORISATIONS[np.linalg.svd](a, full_matrices=False)
    unitary = matmul(u, vt)
    back = conjugate_if_complex(swap(unitary))
    return unitary, half(matmul(back, a) if side == "right" else matmul(a, back))


# -- matrices of which a row and a column say all


def _toeplitz(c: Any, r: Any = None) -> Any:
    c = as_array(c) if BATCHED else flatten(as_array(c))
    r = (conjugate(c) if c.type.dtype.kind == "c" else c) if r is None else as_array(r)
    r = r if BATCHED else flatten(r)
    c, r = (reshape(a, shape=a.type.shape or (1,)) for a in (c, r))
    n, m, last = c.type.shape[-1], r.type.shape[-1], c.type.ndim - 1
    if c.type.shape[:-1] != r.type.shape[:-1]:
        raise UnsupportedError("scipy.linalg.toeplitz of batches that differ", "broadcast them")
    line = concatenate(flip(c, last), get(r, (..., slice(1, None))), axis=last)
    places = add(sub(atom_of_size(n - 1), column(count_up(n))), row(count_up(m)))
    return get(line, (..., places))


def _hankel(c: Any, r: Any = None) -> Any:
    c = flatten(as_array(c))
    r = zeros(shape=c.type.shape, dtype=c.type.dtype) if r is None else flatten(as_array(r))
    n, m = c.type.shape[0], r.type.shape[0]
    line = concatenate(c, get(r, slice(1, None)), axis=0)
    return get(line, add(column(count_up(n)), row(count_up(m))))


def _circulant(c: Any) -> Any:
    c = as_array(c)
    c = reshape(c, shape=c.type.shape or (1,))
    n = c.type.shape[-1] if BATCHED else c.type.shape[0]
    places = mod(sub(column(count_up(n)), row(count_up(n))), atom_of_size(n))
    return get(c, (..., places) if BATCHED else places)


# -- Schur form


def _schur_infer(a: Atom, *, output: str) -> tuple[Type, Type]:
    if a.type.ndim != 2:
        raise UnsupportedError("scipy.linalg.schur of several matrices", "loop over them")
    join(*a.type.shape)
    kind = sl.schur(np.eye(1, dtype=a.type.dtype), output=output)[0].dtype
    return Type(kind, a.type.shape), Type(kind, a.type.shape)


def _schur_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    raise NotDifferentiableError(
        "scipy.linalg.schur has no derivative here",
        "of symmetric matrices take eigh; eigvals has one; or give it with custom_jvp",
    )


def _schur_source(args: Atoms, params: Params) -> str:
    real = params["output"] in ("real", "r")
    return "scipy.linalg.schur({0})" if real else 'scipy.linalg.schur({0}, output="complex")'


schur = Op("schur", _schur_infer, _schur_source, _schur_jvp, costly=True)


def _schur(a: Any, output: str = "real", **options: Any) -> Any:
    _refuse("schur", options)
    return schur.bind(as_array(a), output=output)


UNCHECKED = {  # by rules that do not call SciPy's
    sl.qr: _qr,
    sl.svd: _svd,
    sl.eigh: _eigh,
    sl.eigvalsh: _eigvalsh,
    sl.eig: _eig,
    sl.eigvals: _eigvals,
}
RULES = {
    **{f: with_checked_arguments(f, rule) for f, rule in UNCHECKED.items()},
    sl.schur: _schur,
    sl.lu: _lu,
    sl.lu_factor: _lu_factor,
    sl.lu_solve: _lu_solve,
    sl.polar: _polar,
    sl.toeplitz: _toeplitz,
    sl.hankel: _hankel,
    sl.circulant: _circulant,
}
