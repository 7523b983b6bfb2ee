"""Solves and factorises small matrices by elimination, in loops.

x = solve(a, b)      becomes      w = [a | b]; eliminate_in_place(w); substitute_in_place(w)

Golub and Van Loan, "Matrix Computations" (2013), algorithms 3.4.1 and 4.2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite import array_routines
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken, store_range
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.lowering.sizes.size_equalities import check_equal, fitted
from tapeless.transforms.ops.linalg import factorisations
from tapeless.transforms.ops.linalg.lu_solutions import lu_solve, row_order
from tapeless.transforms.ops.linalg.solve import adjugate, det, inv, slogdet, solve
from tapeless.transforms.ops.linalg.triangular_systems import solve_triangular
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.reductions import prod
from tapeless.transforms.ops.numpy.sorting import argsort
from tapeless.transforms.ops.primitives.comparisons_and_rounding import sign
from tapeless.transforms.ops.primitives.elementwise import absolute, log
from tapeless.transforms.ops.primitives.new_arrays import count_up, empty, eye, ones, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to, column, copy, swap
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, part, update

LIMIT = 2 * 64**3  # multiplications, from which LAPACK is worth a call
FLOATS = (np.dtype("f4"), np.dtype("f8"))
Outs = tuple[Var, ...]


def _matrix(small: Any, a: Atom, out: Var, columns: Any = 0) -> Any:
    """The matrix in the dtype of the result, if it is small."""
    n = a.type.shape[-1]
    if out.type.dtype not in FLOATS or n == 0:
        raise NotTaken
    small.require_small(LIMIT, n * n * (n + columns))
    return cast_to(a, out.type.dtype)


def for_each_matrix(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The formula for each matrix of a stack."""

    def apply_to_stack(small: Any, outs: Outs, a: Atom, **params: Any) -> Any:
        if a.type.ndim == 2:
            return formula(small, outs, a, **params)
        kinds = [v.type for v in outs]
        inner = tuple(Var(t.with_shape(t.shape[1:])) for t in kinds)

        def body(i: Any, *carried: Any) -> tuple[Any, ...]:
            parts = apply_to_stack(small, inner, element(a, i, 0), **params)
            parts = parts if isinstance(parts, tuple) else (parts,)
            return tuple(_row_stored(y, p, i) for y, p in zip(carried, parts, strict=True))

        inits = tuple(empty(shape=t.shape, dtype=t.dtype) for t in kinds)
        return loop(a.type.shape[0], inits, body)

    return apply_to_stack


def _row_stored(y: Atom, x: Atom, i: Atom) -> Any:
    """y[i] = x, where both are of square matrices."""
    if y.type.ndim > 1:
        x = fitted(x, shape=y.type.shape[1:])
    return update(y, x, i, key=(Slot(0),) + (slice(None),) * (y.type.ndim - 1))


def solve_small(small: Any, outs: Outs, a: Atom, b: Atom) -> Any:
    if a.type.ndim != 2 or b.type.ndim > 2:
        return _solved_stack(small, outs, a, b)
    a = _matrix(small, a, outs[0], b.type.shape[1] if b.type.ndim == 2 else 1)
    return _substitute_back(array_routines.eliminate(_augment(a, b)), b)


def _solved_stack(small: Any, outs: Outs, a: Atom, b: Atom) -> Any:
    lengths = a.type.shape[0], b.type.shape[0]
    if a.type.ndim != b.type.ndim or (1 in lengths and lengths != (1, 1)):
        raise NotTaken
    b = _as_long(b, lengths[0])
    kind = outs[0].type
    inner = (Var(kind.with_shape(kind.shape[1:])),)

    def body(i: Any, y: Any) -> tuple[Any, ...]:
        return (_row_stored(y, solve_small(small, inner, element(a, i, 0), element(b, i, 0)), i),)

    return loop(kind.shape[0], (empty(shape=kind.shape, dtype=kind.dtype),), body)[0]


def _augment(a: Atom, b: Atom) -> Any:
    """[a | b]"""
    b = b if b.type.ndim == 2 else column(b)
    n, m = a.type.shape[0], b.type.shape[1]
    b = _as_long(b, n)
    both = empty(shape=(n, n + m), dtype=a.type.dtype)
    return store_range(store_range(both, a, 1, 0, n), b, 1, n, n + m)


def _as_long(b: Atom, n: Size) -> Any:
    """The right-hand sides, whose length NumPy compares with the matrix when the program runs."""
    if b.type.shape[0] == n:
        return b
    check_equal(b.type.shape[0], n)
    return fitted(b, shape=(n, *b.type.shape[1:]))


def _substitute_back(work: Atom, b: Atom, tested: bool = True) -> Any:
    """The solutions, of the shape of b."""
    routine = array_routines.substitute if tested else array_routines.substitute_untested
    solved_system, n = routine(work), work.type.shape[0]
    if b.type.ndim == 2:
        return part(solved_system, 1, n, n + b.type.shape[1])
    if isinstance(n, int):
        return index(solved_system, key=(slice(None), n))
    return index(solved_system, atom_of_size(n), key=(slice(None), Slot(0)))


def invert_small(small: Any, outs: Outs, a: Atom) -> Any:
    n = a.type.shape[0]
    return solve_small(small, outs, a, eye(sides=(n, n), k=0, dtype=outs[0].type.dtype))


def _pivots(small: Any, a: Atom, out: Var) -> Any:
    return diagonal(array_routines.eliminate(copy(_matrix(small, a, out))), k=0)


def determinant(small: Any, outs: Outs, a: Atom) -> Any:
    return prod(_pivots(small, a, outs[0]), axes=(0,), keepdims=False)


def log_determinant(small: Any, outs: Outs, a: Atom) -> Any:
    pivots = _pivots(small, a, outs[1])
    signs = prod(sign(pivots), axes=(0,), keepdims=False)
    return signs, total_of(log(absolute(pivots)), axes=(0,), keepdims=False)


def cofactors(small: Any, outs: Outs, a: Atom) -> Any:
    """[[a, 1], [1, 0]] holds the transposed cofactors afterwards."""
    n = a.type.shape[0]
    a = _matrix(small, a, outs[0], 2 * n)
    identity = eye(sides=(n, n), k=0, dtype=a.type.dtype)
    work = zeros(shape=(2 * n, 2 * n), dtype=a.type.dtype)
    for corner, rows, columns in ((a, 0, 0), (identity, 0, n), (identity, n, 0)):
        work = _put(work, corner, rows, columns, n)
    inverse = part(array_routines.adjoin(work), 0, n, 2 * n)
    return part(inverse, 1, n, 2 * n)


def _put(work: Atom, a: Atom, row: Any, start: Any, n: Any) -> Any:
    """The array with a block at these rows and columns."""
    bounds = [atom_of_size(k) for k in (row, row + n, start, start + n)]
    key = (slice(Slot(0), Slot(1)), slice(Slot(2), Slot(3)))
    return update(work, a, *bounds, key=key)


def cholesky(small: Any, outs: Outs, a: Atom) -> Any:
    return array_routines.factorise(copy(_matrix(small, a, outs[0])))


def triangular(
    small: Any, outs: Outs, a: Atom, b: Atom, *, trans: bool, lower: bool, unit: bool
) -> Any:
    if a.type.ndim != 2 or b.type.ndim > 2:
        raise NotTaken
    a = _matrix(small, a, outs[0], b.type.shape[1] if b.type.ndim == 2 else 1)
    return _triangle_solved(a, b, trans, lower, unit)


def _triangle_solved(
    a: Atom, b: Atom, trans: bool, lower: bool, unit: bool, tested: bool = True
) -> Any:
    a = swap(a) if trans else a
    if lower == trans:
        return _substitute_back(_with_unit(_augment(a, b), unit), b, tested)
    work = _with_unit(_augment(_reverse(a), _reverse(b, 1)), unit)
    return _reverse(_substitute_back(work, b, tested), 1)


def by_factors(
    small: Any, outs: Outs, lu: Atom, exchanged: Atom, b: Atom, *, trans: bool, checked: bool
) -> Any:
    if b.type.ndim > 2:
        raise NotTaken
    lu = _matrix(small, lu, outs[0], b.type.shape[1] if b.type.ndim == 2 else 1)
    rows = row_order(exchanged)
    if not trans:
        half = _triangle_solved(lu, get(b, rows), trans=False, lower=True, unit=True, tested=False)
        return _triangle_solved(lu, half, trans=False, lower=False, unit=False, tested=False)
    half = _triangle_solved(lu, b, trans=True, lower=False, unit=False, tested=False)
    half = _triangle_solved(lu, half, trans=True, lower=True, unit=True, tested=False)
    return get(half, argsort(rows, axis=0))


def _reverse(x: Atom, axes: int = 2) -> Any:
    """From the last to the first, along so many axes."""
    key = tuple(slice(None, None, -1 if k < axes else None) for k in range(x.type.ndim))
    return index(x, key=key)


def _with_unit(work: Atom, unit: bool) -> Any:
    if not unit:
        return work
    n = work.type.shape[0]
    along = count_up(n)
    diagonal_of_ones = ones(shape=(n,), dtype=work.type.dtype)
    return update(work, diagonal_of_ones, along, along, key=(Slot(0), Slot(1)))


SOLVING: dict[Op, Callable[..., Any]] = {
    solve: solve_small,
    inv: for_each_matrix(invert_small),
    det: for_each_matrix(determinant),
    slogdet: for_each_matrix(log_determinant),
    adjugate: for_each_matrix(cofactors),
    factorisations.cholesky: for_each_matrix(cholesky),
    solve_triangular: triangular,
    lu_solve: by_factors,
}
