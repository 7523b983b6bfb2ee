"""Defines polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, defining_statement, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.linalg.least_squares import least_squares
from tapeless.transforms.ops.linalg.products import conjugate_if_complex, matmul
from tapeless.transforms.ops.linalg.solve import inv as inverse
from tapeless.transforms.ops.numerics.calculus import convolve_vectors
from tapeless.transforms.ops.numpy.creation import NUMPY as CREATION
from tapeless.transforms.ops.numpy.diagonals import smaller_size
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.run_time_errors import require, require_size
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import not_equal
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.joining import array, as_array, concatenate
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, count_up, ones
from tapeless.transforms.ops.primitives.shapes import (
    cast,
    cast_to,
    column,
    flatten,
    reshape,
    sum,
    swap,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import part


def _polyadd(a1: Any, a2: Any) -> Any:
    a, b = flatten(as_array(a1)), flatten(as_array(a2))
    n, m = a.type.shape[0], b.type.shape[0]
    if n == m:
        return add(a, b)
    shorter = smaller_size(n, m)
    return add(_led_by_zeros(a, m - shorter), _led_by_zeros(b, n - shorter))


def _led_by_zeros(p: Atom, count: Size) -> Any:
    return p if count == 0 else pad(p, before=(count,), after=(0,))


def _polysub(a1: Any, a2: Any) -> Any:
    return _polyadd(a1, neg(as_array(a2)))


def _polymul(a1: Any, a2: Any) -> Any:
    a, b = (_without_zeros(flatten(as_array(p))) for p in (a1, a2))
    return convolve_vectors(a, b)


def _without_zeros(p: Atom) -> Atom:
    """Without the zeros in front that are known; of others the length would depend on data."""
    let = defining_statement(p, array)
    is_zero = [is_number(a, 0) for a in let.args] if let else []
    first = is_zero.index(False) if False in is_zero else max(len(is_zero) - 1, 0)
    p = part(p, 0, first, p.type.shape[0])
    if p.type.shape[0] != 1 and not (let and isinstance(let.args[first], Literal)):
        fine = not_equal(get(p, 0), 0)
        require(fine, ValueError, "np.polymul: a leading coefficient is zero; use np.convolve")
    return p


def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    p, constants = as_array(p), flatten(as_array(0 if k is None else k))
    order = static(m, "the order of the integral must be known")
    if order < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    for j in range(order):
        p = truediv(p, flip(add(count_up(p.type.shape[0]), 1)))
        constant = get(constants, slice(0, 1) if constants.type.shape == (1,) else slice(j, j + 1))
        p = concatenate(p, constant, axis=0)
    return p


def _poly(seq_of_zeros: Any) -> Any:
    roots = as_array(seq_of_zeros)
    if roots.type.dtype.kind not in "fc" or roots.type.dtype == np.float16:
        roots = cast(roots, dtype=FLOAT)
    if roots.type.ndim != 1:
        raise UnsupportedError("np.poly of a matrix", "give it the eigenvalues")
    n = static(atom_of_size(roots.type.shape[0]), "the number of roots must be known")
    if n == 0:
        return atom(1.0)
    constant_one = ones(shape=(1,), dtype=roots.type.dtype)
    factors = [
        concatenate(constant_one, neg(get(roots, slice(j, j + 1))), axis=0) for j in range(n)
    ]
    return functools.reduce(convolve_vectors, factors, constant_one)


def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    if full or rcond is not None:
        raise UnsupportedError(
            "np.polyfit with full= or rcond=", "use np.linalg.lstsq on np.vander(x, deg + 1)"
        )
    degree = int(static(deg, "the degree must be known"))
    if degree < 0:
        raise ValueError("expected deg >= 0")
    x, y = as_array(x), as_array(y)
    x = cast_to(x, np.result_type(x.type.dtype, np.float32))
    if x.type.ndim != 1:
        raise TypeError("expected 1D vector for x")
    (n,) = x.type.shape
    require_size(y.type.shape[0], n, TypeError, "expected x and y to have same length")
    table = CREATION[np.vander](x, degree + 1)
    if w is not None:
        w = as_array(w)
        require_size(w.type.shape[0], n, TypeError, "expected w and y to have the same length")
        table, y = mul(table, column(w)), mul(y, column(w) if y.type.ndim > 1 else w)
    coefficients = least_squares(table, y)
    return (coefficients, _covariance(table, y, coefficients, cov)) if cov else coefficients


def _covariance(table: Atom, y: Atom, coefficients: Atom, cov: Any) -> Any:
    """The inverse of the normal equations, by the mean square of what is left of them."""
    base = inverse(matmul(swap(table), table))
    if cov == "unscaled":
        return base
    rows, columns = table.type.shape
    residuals = sub(y, matmul(table, coefficients))
    squares = mul(residuals, conjugate_if_complex(residuals))
    squares = real(squares) if squares.type.dtype.kind == "c" else squares
    factor = truediv(sum(squares, axes=(0,), keepdims=False), atom_of_size(rows - columns))
    return mul(reshape(base, shape=(*base.type.shape, *(1,) * factor.type.ndim)), factor)


NUMPY = {
    np.polyadd: _polyadd,
    np.polysub: _polysub,
    np.polymul: _polymul,
    np.polyint: _polyint,
    np.poly: _poly,
    np.polyfit: _polyfit,
}
