"""Rewrites functions of matrices by their singular values, for targets without LAPACK.

p = pinv(a)      becomes      u, s, vt = svd(a); p = (vt.T / s) @ u.T

What derivatives of eigenvalues and singular values leave to be computed, once their own derivative
has been taken, is a product or a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.linalg.factorisations import reduced_svd
from tapeless.transforms.ops.linalg.least_squares import least_squares, matrix_rank, pinv
from tapeless.transforms.ops.linalg.norms import nuclear
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.linalg.repeated_eigenvalues import divided
from tapeless.transforms.ops.numpy.reductions import amax
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import greater
from tapeless.transforms.ops.primitives.elementwise import maximum
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to, reshape, swap
from tapeless.transforms.ops.primitives.shapes import sum as total_of

SMALL = 1e-15  # what np.linalg.pinv takes for zero, as a part of the largest one


def _factors(a: Atom) -> Any:
    if a.type.dtype.kind == "c" or a.type.ndim != 2:
        raise NotTaken
    return reduced_svd(a)


def _rounding(a: Atom, s: Atom) -> Any:
    """What is small beside the largest singular value: rounding errors of a matrix of this size."""
    n, m = a.type.shape
    side = maximum(atom_of_size(n), atom_of_size(m))
    return mul(cast_to(side, s.type.dtype), float(np.finfo(s.type.dtype).eps))


def _inverses(s: Atom, part: Any) -> Any:
    """1 / s, and 0 for those that are small."""
    is_large = greater(s, mul(amax(s, axes=(0,), keepdims=True), part))
    return select(is_large, truediv(1.0, select(is_large, s, 1.0)), 0.0)


def _pinv(out: Type, a: Atom, scaled: bool = False) -> Any:
    u, s, vt = _factors(a)
    inverses = _inverses(s, _rounding(a, s) if scaled else SMALL)
    return matmul(mul(swap(vt), reshape(inverses, shape=(1, *s.type.shape))), swap(u))


def _least_squares(out: Type, a: Atom, b: Atom) -> Any:
    if b.type.dtype.kind == "c":
        raise NotTaken
    u, s, vt = _factors(a)
    inverses = _inverses(s, _rounding(a, s))
    inverses = inverses if b.type.ndim == 1 else reshape(inverses, shape=(*s.type.shape, 1))
    return matmul(swap(vt), mul(inverses, matmul(swap(u), cast_to(b, out.dtype))))


def _rank(out: Type, a: Atom) -> Any:
    _, s, _ = _factors(a)
    least = mul(amax(s, axes=(0,), keepdims=True), _rounding(a, s))
    return total_of(cast_to(greater(s, least), out.dtype), axes=(0,), keepdims=False)


def _nuclear(out: Type, a: Atom, u: Atom, s: Atom, vt: Atom) -> Any:
    return total_of(s, axes=(s.type.ndim - 1,), keepdims=False)


def _quotient_by_gaps(out: Type, *args: Atom, **params: Any) -> Any:
    *_, factor, y = args
    return mul(factor, y)


#: By the type of the result, the arguments and the parameters.
BY_SINGULAR_VALUES: dict[Op, Callable[..., Any]] = {
    pinv: _pinv,
    least_squares: _least_squares,
    matrix_rank: _rank,
    nuclear: _nuclear,
    divided: _quotient_by_gaps,
}
