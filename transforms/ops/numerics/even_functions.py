"""Defines values with slopes of their own, and the slopes of even functions by the square of the
argument.

cos(m) is smooth in m**2: its slope by that is -sin(m) / (2 m), which is -1/2 at 0. So a cosine of a
magnitude has all derivatives, although a magnitude has none where it is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numerics.calculus import sinc
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.comparisons_and_rounding import less
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.elementwise import (
    conjugate,
    cos,
    cosh,
    imag,
    real,
    sin,
    sinh,
    sqrt,
    square,
)
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params


def _sloped_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    t = tangents[1]
    if t is None:
        return (None,)
    slope = params["slope"]
    return (t if slope is None else conform(mul(t, slope(*primals[1:])), outs[0].type),)


#: (y, d) -> y, with the derivative of d; (y, q, m; slope) -> y, by q = m**2. It stays until nothing
#: is differentiated any more.
sloped = Op(
    "sloped",
    lambda y, *others, slope: y.type,
    "{0}",
    _sloped_jvp,
    elementwise=True,
    finite="always",
)


def _magnitude_squared_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """2 Re(conj(z) z_dot)."""
    (z,), (t,) = primals, tangents
    return (None if t is None else conform(real(mul(t, 2 * conjugate(z))), outs[0].type),)


#: |z|**2 of a complex number.
magnitude_squared = Op(
    "magnitude_squared",
    lambda z: Type(np.zeros((), z.type.dtype).real.dtype, z.type.shape, z.type.weak),
    "({0}.real ** 2 + {0}.imag ** 2)",
    _magnitude_squared_jvp,
    elementwise=True,
    finite="always",
)


def parts_squared(z: Atom) -> Any:
    """|z|**2 by the parts of z."""
    return add(square(real(z)), square(imag(z)))


def _series(q: Atom, *divisors: int) -> Any:
    """1 + q/d0 (1 + q/d1 (1 + ...)), near 0."""
    total: Any = 1.0
    for d in reversed(divisors):
        total = 1 + mul(q, total) / d
    return total


def _near_zero(q: Atom) -> tuple[Any, Any]:
    """Whether a square is near 0, and its root, 1 where it is."""
    near = less(q, 0.01)
    return near, sqrt(select(near, 1.0, q))


def _cos_slope(q: Atom, m: Atom) -> Any:
    return -0.5 * sinc(m * (1 / np.pi))


def _cosh_slope(q: Atom, m: Atom) -> Any:
    near, root = _near_zero(q)
    return select(near, 0.5 * _series(q, 6, 20, 42, 72, 110), sinh(root) / (2 * root))


def _sinc_slope(q: Atom, m: Atom) -> Any:
    """(cos r - sin r / r) / (2 q) for r = pi m."""
    near, root = _near_zero(q)
    r = np.pi * root
    series = -(np.pi**2 / 6) * _series(-(np.pi**2) * q, 10, 28, 54, 88, 130)
    return select(near, series, (cos(r) - sin(r) / r) / (2 * square(root)))


#: Even functions, and their slopes by the square q of their argument m.
SLOPES_BY_SQUARE: dict[Op, Callable[[Atom, Atom], Any]] = {
    cos: _cos_slope,
    cosh: _cosh_slope,
    sinc: _sinc_slope,
}
