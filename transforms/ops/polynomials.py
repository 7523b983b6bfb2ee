"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current, size_atom, static
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.arithmetic import add, neg, truediv
from tapeless.transforms.ops.calculus import convolve
from tapeless.transforms.ops.creation import NUMPY as CREATION
from tapeless.transforms.ops.flipping import flip
from tapeless.transforms.ops.fresh import count_up, ones, zeros
from tapeless.transforms.ops.indexing import get
from tapeless.transforms.ops.joining import as_array, concatenate
from tapeless.transforms.ops.least_squares import least_squares
from tapeless.transforms.ops.padding import pad
from tapeless.transforms.ops.shapes import cast_to, flat


def _polyadd(a1: Any, a2: Any) -> Any:
    a, b = flat(as_array(a1)), flat(as_array(a2))
    n, m = a.type.shape[0], b.type.shape[0]
    if n == m:
        return add(a, b)
    if current().clamp(n, m) == n:
        return add(pad(a, before=(m - n,), after=(0,)), b)
    return add(a, pad(b, before=(n - m,), after=(0,)))


def _polysub(a1: Any, a2: Any) -> Any:
    return _polyadd(a1, neg(as_array(a2)))


def _polymul(a1: Any, a2: Any) -> Any:
    return _longer_first(flat(as_array(a1)), flat(as_array(a2)))


def _longer_first(a: Atom, b: Atom) -> Any:
    shorter = current().clamp(a.type.shape[0], b.type.shape[0]) == a.type.shape[0]
    return convolve(b, a, mode="full") if shorter else convolve(a, b, mode="full")


def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    if k is not None:
        raise UnsupportedError("np.polyint with constants", "add them to the last coefficients")
    p = as_array(p)
    for _ in range(static(m, "the order of the integral must be known")):
        p = truediv(p, flip(add(count_up(p.type.shape[0]), 1)))
        p = concatenate(p, zeros(shape=(1,), dtype=p.type.dtype), axis=0)
    return p


def _poly(seq_of_zeros: Any) -> Any:
    roots = as_array(seq_of_zeros)
    roots = cast_to(roots, np.dtype(np.mintypecode(roots.type.dtype.char)))
    if roots.type.ndim != 1:
        raise UnsupportedError("np.poly of a matrix", "give it the eigenvalues")
    n = static(size_atom(roots.type.shape[0]), "the number of roots must be known")
    one = ones(shape=(1,), dtype=roots.type.dtype)
    factors = [concatenate(one, neg(get(roots, slice(j, j + 1))), axis=0) for j in range(n)]
    return functools.reduce(lambda p, f: convolve(p, f, mode="full"), factors, one)


def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    if full or cov or w is not None or rcond is not None:
        raise UnsupportedError(
            "np.polyfit with more than x, y and deg", "use np.linalg.lstsq on np.vander(x, deg + 1)"
        )
    degree = int(static(deg, "the degree must be known"))
    x, y = as_array(x), as_array(y)
    x = cast_to(x, np.result_type(x.type.dtype, np.float32))
    return least_squares(CREATION[np.vander](x, degree + 1), y, tall=True)


NUMPY = {
    np.polyadd: _polyadd,
    np.polysub: _polysub,
    np.polymul: _polymul,
    np.polyint: _polyint,
    np.poly: _poly,
    np.polyfit: _polyfit,
}
