"""Interpolates points by piecewise polynomials, as scipy.interpolate does."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

ENDS = ("not-a-knot", "natural", "clamped")
KINDS = ("linear", "slinear", "nearest", "previous", "zero", "next", "cubic")


class Pieces:
    """A polynomial for each interval between the points x: c has the highest powers first, shape
    (4, intervals, ...). A call takes places of any shape, and which derivative is wanted.

    Outside, the polynomial at the edge goes on, unless extrapolate is False: nan is given there.
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: int = 0) -> None:
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return of_pieces(self.c, self.x, extrapolate, self.axis, x, nu)

    def derivative(self, nu: int = 1) -> Pieces:
        """The derivative, by pieces."""
        return Pieces(_slopes(self.c, nu), self.x, self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any) -> Any:
        """The integral from a to b."""
        powers = np.arange(self.c.shape[0], 0, -1).reshape(-1, *[1] * (self.c.ndim - 1))
        whole = self.c / powers
        widths = np.diff(self.x)
        each = _values(whole, widths) * _column(widths, whole.ndim - 1)
        before = np.concatenate([np.zeros_like(each[:1]), np.cumsum(each, axis=0)])

        def integral_until(t: Any) -> Any:
            k, part = _place(self.x, np.asarray(t))
            return before[k] + _values(whole[:, k], part) * part

        return integral_until(b) - integral_until(a)


def of_pieces(c: Any, x: Any, extrapolate: Any, axis: int, at: Any, nu: int = 0) -> Any:
    """The values of `Pieces`."""
    if extrapolate == "periodic":
        raise ArgumentError(
            "splines: extrapolate='periodic' is not supported", "take places modulo"
        )
    at = np.asarray(at)
    c = _slopes(c, nu)
    k, part = _place(x, at)
    values = _values(c[:, k], part)
    if extrapolate is not None and not extrapolate:
        outside = (at < x[0]) | (at > x[-1])
        values = np.where(_column(outside, values.ndim), np.nan, values)
    return _move_axes_behind(values, at.ndim, axis)


def _move_axes_behind(values: Any, n: int, axis: int) -> Any:
    """The first n axes behind as many others as `axis` says."""
    return np.moveaxis(values, tuple(range(n)), tuple(range(axis, axis + n))) if axis else values


def _place(x: Any, at: Any) -> Any:
    """The interval of each place, and how far into it that lies."""
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, x.shape[0] - 2)
    return k, at - np.asarray(x)[k]


def _column(x: Any, ndim: int) -> Any:
    """With as many axes behind as are missing."""
    x = np.asarray(x)
    return np.expand_dims(x, tuple(range(x.ndim - ndim, 0))) if x.ndim < ndim else x


def _values(c: Any, part: Any) -> Any:
    value = c[0]
    for k in range(1, operator.index(c.shape[0])):
        value = value * _column(part, value.ndim) + c[k]
    return value


def _slopes(c: Any, nu: int) -> Any:
    """The coefficients of derivatives."""
    c = np.asarray(c)
    n = operator.index(c.shape[0])
    if nu == 0 or n == 1:
        return c if nu == 0 else 0 * c
    return _slopes(c[:-1] * np.arange(n - 1, 0, -1).reshape(-1, *[1] * (c.ndim - 1)), nu - 1)


def _cubics_through(x: Any, y: Any, slopes: Any) -> Any:
    """The coefficients of the cubics through points with these slopes."""
    h = _column(np.diff(x), y.ndim)
    secants = np.diff(y, axis=0) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * secants) / h
    return np.stack([bend / h, (secants - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


def _points(name: str, x: Any, y: Any, axis: int, least: int = 2) -> Any:
    x, y = np.asarray(x) * 1.0, np.moveaxis(np.asarray(y), axis, 0) * 1.0
    if x.ndim != 1 or y.shape[0] != x.shape[0] or operator.index(x.shape[0]) < least:
        raise ArgumentError(
            f"{name}: needs at least {least} points, and a value for each along the axis"
        )
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return x, y


class CubicSpline(Pieces):
    """The curve through points whose second derivative has no jumps.

    x         increasing numbers (n,), at least 4 for 'not-a-knot'
    y         the values there: an array with n along `axis`
    bc_type   at the ends: 'not-a-knot', 'natural' or 'clamped'; a pair (order, value), for each end
              one, for a first or second derivative

    Differentiable in x, y and places. Raises ValueError for other shapes and ends.

    >>> curve = CubicSpline(np.arange(4.0), np.arange(4.0) ** 3)
    >>> curve(1.5).round(9), curve(1.5, 1).round(9)
    (np.float64(3.375), np.float64(6.75))
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ) -> None:
        ends = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
        if any(isinstance(end, str) and end not in ENDS for end in ends):
            raise ArgumentError(f"CubicSpline: bc_type must be one of {', '.join(ENDS)}, or a pair")
        x, y = _points("CubicSpline", x, y, axis, 4 if "not-a-knot" in ends else 2)
        slopes = _smooth_slopes(x, y, ends)
        super().__init__(_cubics_through(x, y, slopes), x, extrapolate is not False, axis)


def _smooth_slopes(x: Any, y: Any, ends: list[Any]) -> Any:
    """Those without jumps of second derivatives: C. de Boor, A Practical Guide to Splines."""
    h = np.diff(x)
    secants = np.diff(y, axis=0) / _column(h, y.ndim)
    n = x.shape[0]
    matrix, right = np.zeros((n, n)), np.zeros_like(y)
    inner = np.arange(1, n - 1)
    matrix[inner, inner - 1], matrix[inner, inner + 1] = h[1:], h[:-1]
    matrix[inner, inner] = 2 * (h[:-1] + h[1:])
    right[1:-1] = 3 * (
        _column(h[1:], y.ndim) * secants[:-1] + _column(h[:-1], y.ndim) * secants[1:]
    )
    last = operator.index(n) - 2
    for end, k, step, at in ((ends[0], 0, 1, 0), (ends[1], -1, -1, last)):
        beside = at + step if last else at
        matrix[k, k], matrix[k, k + step], right[k] = _end(
            end, step, h[at], h[beside], secants[at], secants[beside]
        )
    flat = np.linalg.solve(matrix, right.reshape(n, -1))
    return flat.reshape(y.shape)


def _end(end: Any, step: int, a: Any, b: Any, secant: Any, beside: Any) -> Any:
    """The equation of an end: its two factors, and what stands on the right."""
    if end == "not-a-knot":
        return b, a + b, ((3 * a + 2 * b) * b * secant + a * a * beside) / (a + b)
    order, value = {"natural": (2, 0.0), "clamped": (1, 0.0)}[end] if isinstance(end, str) else end
    if order == 1:
        return 1.0, 0.0, value
    return 2 * a, a, 3 * a * secant - step * 0.5 * a * a * value


class PchipInterpolator(Pieces):
    """The curve through points that rises and falls only where they do.

    Arguments and errors are those of `CubicSpline`, without bc_type. F. N. Fritsch, J. Butland,
    SIAM J. Sci. Stat. Comput. 5, 1984.

    >>> PchipInterpolator(np.arange(4.0), np.array([0.0, 1.0, 1.0, 3.0]))(1.5)
    np.float64(1.0)
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        x, y = _points("PchipInterpolator", x, y, axis)
        c = _cubics_through(x, y, _monotone_slopes(x, y))
        super().__init__(c, x, extrapolate is not False, axis)


def _monotone_slopes(x: Any, y: Any) -> Any:
    h = _column(np.diff(x), y.ndim)
    m = np.diff(y, axis=0) / h
    if operator.index(x.shape[0]) == 2:
        return np.concatenate([m, m])
    turns = np.sign(m[:-1]) * np.sign(m[1:]) <= 0
    left, right = np.where(turns, 1.0, m[:-1]), np.where(turns, 1.0, m[1:])
    first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    mean = (first + second) / (first / left + second / right)
    low, high = _end_slope(h[0], h[1], m[0], m[1]), _end_slope(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate([low[None], np.where(turns, 0.0, mean), high[None]])


def _end_slope(h: Any, next_h: Any, m: Any, next_m: Any) -> Any:
    slope = ((2 * h + next_h) * m - h * next_m) / (h + next_h)
    steep = (np.sign(m) != np.sign(next_m)) & (np.abs(slope) > 3 * np.abs(m))
    return np.where(np.sign(slope) != np.sign(m), 0.0, np.where(steep, 3 * m, slope))


class interp1d:  # noqa: N801 (SciPy's)
    """Values between points along one axis.

    x, y            n numbers, and an array with n along `axis`
    kind            'linear', 'cubic', or a neighbour: 'nearest', 'previous', 'next'
    bounds_error    whether places outside are errors; they are, if no fill_value is given
    fill_value      what is given there; a pair: below and above; 'extrapolate'
    assume_sorted   whether x increases already

    Differentiable in x, y and places. Raises ValueError for other kinds, shapes and places.

    >>> interp1d(np.array([0.0, 2.0]), np.array([1.0, 3.0]))(0.5)
    np.float64(1.5)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: Any = None,
        fill_value: Any = None,
        assume_sorted: bool = False,
    ) -> None:
        kind = {1: "linear", 3: "cubic", 0: "zero"}.get(kind, kind)
        if kind not in KINDS:
            raise ArgumentError(f"interp1d: kind must be one of {', '.join(KINDS)}, not {kind!r}")
        y = np.asarray(y)
        self.kind, self.axis, self.fill = kind, axis % y.ndim, fill_value
        self.on = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.strict = not self.on and (fill_value is None if bounds_error is None else bounds_error)
        x, y = np.asarray(x) * 1.0, np.moveaxis(y, axis, 0)
        order = np.argsort(x, kind="stable")
        self.x, self.y = (x, y) if assume_sorted else (x[order], y[order])
        self.curve = CubicSpline(self.x, self.y) if kind == "cubic" else None

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) * 1.0
        low, high = at < self.x[0], at > self.x[-1]
        if self.strict and np.any(low | high):
            raise ValueError("A value in x_new is outside of the interpolation range.")
        values = self.interpolate_inside(at)
        if not self.on and not self.strict:
            below, above = self.fill if isinstance(self.fill, tuple) else (self.fill, self.fill)
            below, above = (np.nan if v is None else v for v in (below, above))
            values = np.where(_column(low, values.ndim), below, values)
            values = np.where(_column(high, values.ndim), above, values)
        return _move_axes_behind(values, at.ndim, self.axis)

    def interpolate_inside(self, at: Any) -> Any:
        if self.curve is not None:
            return self.curve(at)
        n = self.x.shape[0]
        if self.kind in ("linear", "slinear"):
            k = np.clip(np.searchsorted(self.x, at) - 1, 0, n - 2)
            part = _column(
                (at - self.x[k]) / (self.x[k + 1] - self.x[k]), self.y.ndim + at.ndim - 1
            )
            return self.y[k] + part * (self.y[k + 1] - self.y[k])
        if self.kind == "nearest":
            middles = (self.x[1:] + self.x[:-1]) / 2
            return self.y[np.searchsorted(middles, at)]
        if self.kind == "next":
            return self.y[np.clip(np.searchsorted(self.x, at), 0, n - 1)]
        return self.y[np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, n - 1)]
