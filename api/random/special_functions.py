"""Computes the special functions behind the samplers, as plain NumPy code with derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.random.coefficients import LANCZOS, LANCZOS_BASE
from tapeless.transformations.custom_rules import CustomJvp
from tapeless.transforms.core.builder import active
from tapeless.transforms.ops.primitives import erfinv_coefficients, module_functions

__staged__ = True  # plain NumPy code: a staged run enters it


def polynomial(coefficients: Any, x: Any) -> Any:
    """Values of a polynomial, by Horner's rule in one array, which stays in the cache; the
    coefficient of the highest power is first."""
    value = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        value *= x
        value += c
    return value


def inside_erf_inv(x: Any) -> Any:
    """The inverse of the error function between -1 and 1 (M. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2012)."""
    if x.dtype.itemsize < 4:
        return inside_erf_inv(x.astype(np.float32)).astype(x.dtype)
    if active():
        return module_functions.erf_inv(x)
    w = np.asarray(x * x)
    np.subtract(1, w, out=w)
    np.log(w, out=w)  # log1p has more digits only near 0, where w is added to a number
    np.negative(w, out=w)
    value = _piecewise(_SINGLE if x.dtype.itemsize < 8 else _DOUBLE, w)
    value *= x
    return value[()]


def _erf_inv(x: Any) -> Any:
    """The inverse of the error function, which is infinite at -1 and 1."""
    edge = np.abs(x) == 1
    return np.where(
        edge, np.copysign(np.inf, x), inside_erf_inv(np.where(edge, np.zeros_like(x), x))
    )


def _piecewise(pieces: Any, w: Any) -> Any:
    """The first piece everywhere, the others only where they belong: in few elements."""
    value = np.asarray(pieces[0][1](w))
    (outside,) = np.nonzero(np.ravel(w >= pieces[0][0]))
    rest = np.ravel(w)[outside]
    for (start, _), (stop, piece) in itertools.pairwise(pieces):
        here = (rest >= start) & (rest < stop)
        if here.any():
            value.reshape(-1)[outside[here]] = piece(rest[here])
    return value


_SINGLE = (
    (5.0, lambda w: polynomial(erfinv_coefficients.SINGLE_CENTRE, w - w.dtype.type(2.5))),
    (np.inf, lambda w: polynomial(erfinv_coefficients.SINGLE_TAIL, np.sqrt(w) - w.dtype.type(3))),
)
_DOUBLE = (
    (6.25, lambda w: polynomial(erfinv_coefficients.DOUBLE_CENTRE, w - 3.125)),
    (16.0, lambda w: polynomial(erfinv_coefficients.DOUBLE_TAIL, np.sqrt(w) - 3.25)),
    (np.inf, lambda w: polynomial(erfinv_coefficients.DOUBLE_FAR, np.sqrt(w) - 5.0)),
)

erf_inv = CustomJvp(_erf_inv)


@erf_inv.defjvp
def _erf_inv_jvp(primals: Any, tangents: Any) -> Any:
    y = erf_inv(primals[0])
    return y, y.dtype.type(np.sqrt(np.pi) / 2) * np.exp(y * y) * tangents[0]


def log_gamma(x: Any) -> Any:
    """log(Gamma(x)) for x >= 1, by the Lanczos approximation in the precision of x."""
    number = x.dtype.type
    z = x - 1
    total = number(LANCZOS_BASE)
    for k, c in enumerate(LANCZOS):
        total = total + number(c) / (z + number(k + 1))
    t = number(7.5) + z
    log_t = number(np.log(7.5)) + np.log1p(z / number(7.5))
    root = number(np.log(2 * np.pi) / 2)
    return root + (z + number(0.5) - t / log_t) * log_t + np.log(total)
