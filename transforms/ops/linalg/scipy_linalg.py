"""Expresses functions of scipy.linalg by those of NumPy, for programs that use it; nothing else
imports it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg.blas import find_best_blas_type

from tapeless.transforms.core.builder import static
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.linalg import factorisations, least_squares, norms
from tapeless.transforms.ops.linalg import solve as systems
from tapeless.transforms.ops.linalg.factorisations import cholesky
from tapeless.transforms.ops.linalg.finite_arguments import with_checked_arguments
from tapeless.transforms.ops.linalg.products import conjugate_if_complex
from tapeless.transforms.ops.linalg.solve import det, solve
from tapeless.transforms.ops.linalg.triangular_systems import solve_triangular
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.identities import known_number
from tapeless.transforms.ops.primitives.joining import as_array, concatenate
from tapeless.transforms.ops.primitives.shapes import (
    cast,
    cast_to,
    reshape,
    row,
    swap,
)

#: What rules NumPy's functions of the same names have.
LINALG = systems.NUMPY | factorisations.NUMPY | least_squares.NUMPY | norms.NUMPY


# -- triangular systems

TURNED = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def as_blas(a: Any) -> Any:
    """The array in the dtype in which SciPy hands it to BLAS and LAPACK: float32 for truth values,
    small integers and float16."""
    a = as_array(a)
    return cast_to(a, find_best_blas_type((np.zeros(0, a.type.dtype),))[1])


def _solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    trans = static(trans, "whether the matrix is turned must be known")
    if trans not in TURNED:
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    kind = TURNED[trans]
    a = conjugate_if_complex(as_array(a)) if kind == 2 else as_array(a)
    return solve_triangular(
        a, as_array(b), trans=kind > 0, lower=bool(lower), unit=bool(unit_diagonal)
    )


def _solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    a, b = (_as_floats(as_array(each)) for each in (a, b))
    if assume_a not in ASSUMED:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    a = ASSUMED[assume_a](a, bool(lower))
    a = swap(a) if transposed else a
    if assume_a in POSITIVE and a.type.ndim == 2:  # other matrices are errors
        return _cho_solve((cholesky(as_blas(a)), True), b)
    return solve(a, b)


def _as_floats(a: Atom) -> Any:
    """float16 is solved for as float32."""
    return cast(a, dtype=np.dtype(np.float32)) if a.type.dtype == np.float16 else a


def _general(a: Atom, lower: bool) -> Atom:
    return a


def _symmetric(a: Atom, lower: bool) -> Any:
    """The matrix that one of its triangles says."""
    half = tril(a, k=-1) if lower else triu(a, k=1)
    return add(tril(a, k=0) if lower else triu(a, k=0), swap(half))


def _hermitian(a: Atom, lower: bool) -> Any:
    """As _symmetric; LAPACK takes the diagonal as real."""
    half = tril(a, k=-1) if lower else triu(a, k=1)
    diagonal = tril(triu(a, k=0), k=0)
    diagonal = cast(real(diagonal), dtype=a.type.dtype) if a.type.dtype.kind == "c" else diagonal
    return add(add(half, diagonal), conjugate_if_complex(swap(half)))


POSITIVE = ("pos", "positive definite")
#: The part of a matrix that scipy reads.
ASSUMED: dict[Any, Any] = {
    **dict.fromkeys((None, "gen", "general", "banded", "tridiagonal"), _general),
    **dict.fromkeys(("sym", "symmetric"), _symmetric),
    **dict.fromkeys(("her", "hermitian", *POSITIVE), _hermitian),
    "diagonal": lambda a, lower: tril(triu(a, k=0), k=0),
    "upper triangular": lambda a, lower: triu(a, k=0),
    "lower triangular": lambda a, lower: tril(a, k=0),
}


def _cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    a = as_blas(a)
    return cholesky(a) if lower else swap(cholesky(swap(a)))


def _cho_factor(a: Any, lower: bool = False, **options: Any) -> Any:
    return _cholesky(a, lower), lower


def _cho_solve(c_and_lower: Any, b: Any, **options: Any) -> Any:
    factor, lower = c_and_lower
    # SciPy 1.18 gives an array without axes
    lower = bool(static(lower, "which triangle a factor is in decides what is computed"))
    first = 0 if lower else 2
    half = _solve_triangular(factor, b, first, lower)
    return _solve_triangular(factor, half, 2 - first, lower)


def _block_diag(*arrs: Any) -> Any:
    blocks = [as_array(a) for a in arrs]
    if any(a.type.ndim > 2 for a in blocks):
        raise UnsupportedError("scipy.linalg.block_diag of batches", "loop over them")
    blocks = [
        a if a.type.ndim == 2 else row(reshape(a, shape=(a.type.shape or (1,)))) for a in blocks
    ]
    widths = [a.type.shape[1] for a in blocks]
    padded, before = [], 0
    for k, a in enumerate(blocks):
        after = 0
        for w in widths[k + 1 :]:
            after = after + w
        padded.append(pad(a, before=(0, before), after=(0, after)))
        before = before + widths[k]
    return concatenate(*padded, axis=0)


# -- functions of NumPy under SciPy's names


def _plain(function: Any) -> Any:
    """NumPy's function under scipy's name, where no option is given."""

    def run(a: Any, **options: Any) -> Any:
        if any(v not in (False, None) for k, v in options.items() if k != "check_finite"):
            name = f"scipy.linalg.{function.__name__}"
            raise UnsupportedError(f"{name} with options", f"use np.linalg.{function.__name__}")
        return LINALG[function](as_blas(a))

    return run


def _det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    determinant = det(as_blas(a))
    return cast_to(determinant, np.result_type(determinant.type.dtype, float))


def _norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """BLAS and LAPACK give numbers of Python's, NumPy's function those of the array's dtype."""
    a, ord = as_array(a), known_number(ord, "the order of a norm must be known")
    value = LINALG[np.linalg.norm](a, ord, axis, keepdims)
    orders: tuple[Any, ...] = {1: (None, 2), 2: (1, np.inf)}.get(a.type.ndim, ())
    whole = axis is None and not keepdims and a.type.dtype.char in "fdFD"
    if whole and ord in orders and not any(s == 0 for s in a.type.shape):
        return cast(value, dtype=np.dtype(float), python=True)
    return value


UNCHECKED = {  # by rules that do not call SciPy's
    sl.solve: _solve,
    sl.cholesky: _cholesky,
    sl.cho_factor: _cho_factor,
    sl.inv: _plain(np.linalg.inv),
    sl.det: _det,
    sl.pinv: _plain(np.linalg.pinv),
    sl.svdvals: _plain(np.linalg.svdvals),
    sl.norm: _norm,
}
RULES = {
    **{f: with_checked_arguments(f, rule) for f, rule in UNCHECKED.items()},
    sl.solve_triangular: _solve_triangular,
    sl.cho_solve: _cho_solve,
    sl.block_diag: _block_diag,
}
