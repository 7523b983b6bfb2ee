"""Interpolates by B-splines and by one polynomial through all points: BSpline, make_interp_spline,
splrep, splev, BarycentricInterpolator and KroghInterpolator of scipy.interpolate.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

#: Which derivative is 0 at both ends.
ENDS = {"natural": 2, "clamped": 1}


class BSpline:
    """A spline of degree k with knots t: c has the heights of its bumps along `axis`.

    A call takes places of any shape, and which derivative is wanted. Outside, the polynomial at the
    edge goes on, unless extrapolate is False: nan is given there. Differentiable in places, c and
    t. C. de Boor, "On calculating with B-splines", J. of Approximation Theory 6, 1972.

    >>> BSpline(np.array([0.0, 0.0, 1.0, 2.0, 2.0]), np.array([1.0, 3.0, 0.0]), 1)(0.25)
    np.float64(1.5)
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        self.t, self.k, self.extrapolate = np.asarray(t) * 1.0, operator.index(k), extrapolate
        c = np.asarray(c)
        self.axis = axis % c.ndim
        self.c = np.moveaxis(c, self.axis, 0)
        if extrapolate == "periodic":
            raise ArgumentError(
                "BSpline: extrapolate='periodic' is not supported", "take places modulo"
            )

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return of_bumps(self.t, self.c, self.k, extrapolate, self.axis, x, nu)

    def derivative(self, nu: int = 1) -> BSpline:
        """The derivative, a spline of lower degree."""
        t, c, k = _slopes(self.t, self.c, self.k, nu)
        spline = BSpline(t, c, k, self.extrapolate)
        spline.axis = self.axis
        return spline


def of_bumps(t: Any, c: Any, k: int, extrapolate: Any, axis: int, at: Any, nu: int = 0) -> Any:
    """The values of a `BSpline`, whose heights lie along the first axis."""
    at, k = np.asarray(at) * 1.0, operator.index(k)
    first, last = t[k], t[operator.index(t.shape[0]) - k - 1]
    t, c, k = _slopes(np.asarray(t), np.asarray(c), k, operator.index(nu))
    count = operator.index(t.shape[0]) - k - 1
    i = np.clip(np.searchsorted(t, at, side="right") - 1, k, count - 1)
    ndim = at.ndim + c.ndim - 1
    heights = [c[i - k + j] for j in range(k + 1)]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            low, high = t[i - k + j], t[i + j + 1 - r]
            part = _column((at - low) / (high - low), ndim)
            heights[j] = (1 - part) * heights[j - 1] + part * heights[j]
    values = heights[k]
    if not extrapolate:
        values = np.where(_column((at < first) | (at > last), ndim), np.nan, values)
    return np.moveaxis(values, range(at.ndim), range(axis, axis + at.ndim)) if axis else values


def _column(x: Any, ndim: int) -> Any:
    return np.expand_dims(x, tuple(range(np.ndim(x) - ndim, 0)))


def _slopes(t: Any, c: Any, k: int, nu: int) -> Any:
    """Knots, heights and degree of a derivative."""
    if nu > k:
        return t, c * 0, k
    if nu == 0:
        return t, c, k
    far = t[k + 1 : -1] - t[1 : -k - 1]
    steps = np.diff(c[: operator.index(t.shape[0]) - k - 1], axis=0)
    c = steps * _column(k / np.where(far == 0, 1.0, far), c.ndim)
    return _slopes(t[1:-1], c, k - 1, nu - 1)


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> BSpline:
    """The spline of degree k through points.

    x        increasing numbers (n,)
    y        the values there: an array with n along `axis`
    t        the knots, if they are given
    bc_type  None or 'not-a-knot'; of cubic splines also 'natural' and 'clamped'

    Differentiable in x, y and t. One system of n equations is solved. Raises ValueError for another
    bc_type and too few points.

    >>> make_interp_spline(np.arange(5.0), np.arange(5.0) ** 2)(2.5).round(9)
    np.float64(6.25)
    """
    x, y, k = np.asarray(x) * 1.0, np.moveaxis(np.asarray(y), axis, 0) * 1.0, operator.index(k)
    axis %= y.ndim
    n = operator.index(x.shape[0])
    if bc_type not in (None, "not-a-knot") and not (bc_type in ENDS and k == 3 and t is None):
        raise ArgumentError(
            "make_interp_spline: bc_type must be None, 'not-a-knot', or, for k=3, "
            "'natural' or 'clamped'"
        )
    if n <= k and bc_type not in ENDS:
        raise ArgumentError(f"make_interp_spline: degree {k} needs at least {k + 1} points")
    if bc_type in ENDS:
        t = np.concatenate([x[:1]] * 3 + [x] + [x[-1:]] * 3)
    elif t is None:
        t = _knots(x, n, k)
    t = np.asarray(t)
    bumps = np.eye(operator.index(t.shape[0]) - k - 1)
    rows = of_bumps(t, bumps, k, True, 0, x)
    values = y.reshape(n, -1)
    if bc_type in ENDS:
        ends = [
            of_bumps(t, bumps, k, True, 0, x[at], ENDS[bc_type])
            for at in (slice(1), slice(n - 1, n))
        ]
        rows = np.concatenate([ends[0], rows, ends[1]])
        none = np.zeros((1, operator.index(values.shape[1])))
        values = np.concatenate([none, values, none])
    c = np.linalg.solve(rows, values)
    spline = BSpline(t, c.reshape(-1, *y.shape[1:]), k)
    spline.axis = axis
    return spline


def _knots(x: Any, n: int, k: int) -> Any:
    """All points, or the middles between them, but some at the ends."""
    inner, off = (x, (k + 1) // 2) if k % 2 else ((x[1:] + x[:-1]) / 2, k // 2)
    inner = inner[off : operator.index(inner.shape[0]) - off]
    return np.concatenate([*[x[:1]] * (k + 1), inner, *[x[-1:]] * (k + 1)])


def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    per: int = 0,
    quiet: int = 1,
) -> Any:
    """Knots, heights and degree of the spline through points, as `splev` takes them.

    Raises ValueError for other options than k and s=0: a spline is not smoothed.

    >>> float(splev(2.5, splrep(np.arange(5.0), np.arange(5.0) ** 2)).round(9))
    6.25
    """
    unsupported = (w, xb, xe, t, task or None, full_output or None, per or None)
    if any(v is not None for v in unsupported) or s not in (None, 0):
        raise ArgumentError("splrep: only k and s=0 are supported")
    spline = make_interp_spline(x, y, k)
    return spline.t, np.concatenate([spline.c, np.zeros(spline.k + 1)]), spline.k


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """The values, or a derivative, of the spline that `splrep` gives.

    ext  outside: 0: the polynomial at the edge goes on; 1: 0; 3: the value at the edge (for
         der > 0, the polynomial goes on, as in SciPy)

    Raises ValueError for another ext.
    """
    if ext not in (0, 1, 3):
        raise ArgumentError("splev: ext must be 0, 1 or 3")
    t, c, k = (tck.t, tck.c, tck.k) if isinstance(tck, BSpline) else tck
    t, c, x = np.asarray(t), np.asarray(c), np.asarray(x) * 1.0
    first, last = t[k], t[operator.index(t.shape[0]) - k - 1]
    values = of_bumps(
        t, c, k, True, 0, np.clip(x, first, last) if ext == 3 and der == 0 else x, der
    )
    return np.where((x < first) | (x > last), 0.0, values) if ext == 1 else values


class BarycentricInterpolator:
    """The polynomial through points, by Lagrange's formula: exact at the points, too.

    xi    places, which differ (n,)
    yi    the values there: an array with n along `axis`

    Differentiable in all, and in the places of a call. Raises ValueError without values.

    >>> BarycentricInterpolator(np.arange(3.0), np.arange(3.0) ** 2)(1.5).round(9)
    np.float64(2.25)
    """

    def __init__(self, xi: Any, yi: Any = None, axis: int = 0) -> None:
        if yi is None:
            raise ArgumentError(f"{type(self).__name__}: needs yi")
        self.x, y = np.asarray(xi) * 1.0, np.asarray(yi)
        self.axis = axis % y.ndim
        self.y = np.moveaxis(y, self.axis, 0)

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x) * 1.0
        n = operator.index(self.x.shape[0])
        total: Any = 0.0
        for j in range(n):
            weight: Any = np.ones_like(x)
            for k in range(n):
                if k != j:
                    weight = weight * ((x - self.x[k]) / (self.x[j] - self.x[k]))
            total = total + _column(weight, x.ndim + self.y.ndim - 1) * self.y[j]
        axis = self.axis
        return np.moveaxis(total, range(x.ndim), range(axis, axis + x.ndim)) if axis else total


class KroghInterpolator(BarycentricInterpolator):
    """The same polynomial. Places must differ: derivatives are not interpolated."""
