"""Special functions behind the samplers, as plain NumPy code with derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.custom import CustomJvp
from tapeless.random.coefficients import (
    DOUBLE_CENTRE,
    DOUBLE_FAR,
    DOUBLE_TAIL,
    LANCZOS,
    LANCZOS_BASE,
    SINGLE_CENTRE,
    SINGLE_TAIL,
)
from tapeless.transforms.core.builder import active

__staged__ = True  # plain NumPy code: a staged run enters it


def polynomial(coefficients: Any, x: Any) -> Any:
    """A value of a polynomial; the coefficient of the highest power comes first.

    By Horner's rule, whose rounding is JAX's. Compiled, a loop would wait for each product: there
    every fourth coefficient makes a polynomial in x**4, and the four are computed side by side.
    """
    if not active():
        return horner(coefficients, x)
    square = x * x
    a, b, c, d = (horner(coefficients[::-1][k::4][::-1], square * square) for k in range(4))
    return (a + b * x) + (c + d * x) * square


def horner(coefficients: Any, x: Any) -> Any:
    """By one product for each coefficient but the first."""
    value = coefficients[0]
    for c in coefficients[1:]:
        value = value * x + c
    return value


def inside_erf_inv(x: Any) -> Any:
    """The inverse of the error function between -1 and 1 (M. Giles, "Approximating the erfinv
    function", GPU Computing Gems, 2012)."""
    w = -np.log(1 - x * x)  # log1p has more digits only near 0, where w is added to a number
    pieces = _SINGLE if x.dtype.itemsize < 8 else _DOUBLE
    if active():
        value = pieces[-1][1](w)
        for limit, piece in reversed(pieces[:-1]):
            value = np.where(w < limit, piece(w), value)
    else:
        value = _piecewise(pieces, w)
    return value * x


def _erf_inv(x: Any) -> Any:
    """The inverse of the error function, which is infinite at -1 and 1."""
    edge = np.abs(x) == 1
    return np.where(
        edge, np.copysign(np.inf, x), inside_erf_inv(np.where(edge, np.zeros_like(x), x))
    )


def _piecewise(pieces: Any, w: Any) -> Any:
    """The first piece everywhere, the others only where they belong: in few elements."""
    w = np.asarray(w)
    value = np.asarray(pieces[0][1](w))
    for (start, _), (stop, piece) in itertools.pairwise(pieces):
        here = (w >= start) & (w < stop)
        if here.any():
            value[here] = piece(w[here])
    return value


_SINGLE = (
    (5.0, lambda w: polynomial(SINGLE_CENTRE, w - w.dtype.type(2.5))),
    (np.inf, lambda w: polynomial(SINGLE_TAIL, np.sqrt(w) - w.dtype.type(3))),
)
_DOUBLE = (
    (6.25, lambda w: polynomial(DOUBLE_CENTRE, w - 3.125)),
    (16.0, lambda w: polynomial(DOUBLE_TAIL, np.sqrt(w) - 3.25)),
    (np.inf, lambda w: polynomial(DOUBLE_FAR, np.sqrt(w) - 5.0)),
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
