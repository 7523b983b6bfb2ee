"""Interpolates on grids, as jax.scipy.interpolate does, and finds what stands for
scipy.interpolate.
"""

from __future__ import annotations

import functools
import itertools
import types
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy import bsplines
from tapeless.scipy.bsplines import (
    BarycentricInterpolator,
    BSpline,
    KroghInterpolator,
    make_interp_spline,
    splev,
    splrep,
)
from tapeless.scipy.rbf import RBFInterpolator, checked_kernel, of_weights
from tapeless.scipy.splines import CubicSpline, PchipInterpolator, interp1d, of_pieces
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

METHODS = ("linear", "nearest")
OUTSIDE: dict[Any, int] = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


class RegularGridInterpolator:
    """Interpolates values on a grid with n axes, whose points need not be evenly spaced.

    points        n increasing vectors: the places along each axis
    values        array with an axis for each of them, and more behind
    method        'linear' or 'nearest'
    bounds_error  must be False, as in JAX
    fill_value    what is given outside; None: the polynomial of the edge goes on

    A call takes an array of shape (..., n) of places, or n arrays that broadcast, and `method`.
    Differentiable in places and values. Raises ValueError for other shapes and methods.

    >>> grid = RegularGridInterpolator((np.array([0.0, 1.0, 3.0]),), np.array([0.0, 2.0, 6.0]))
    >>> grid(np.array([[0.5], [2.0]]))
    array([1., 4.])
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        self.grid = tuple(np.asarray(p) for p in points)
        self.values = np.asarray(values)
        self.method, self.fill_value = _checked_method(method), fill_value
        if bounds_error:
            raise ArgumentError(
                "RegularGridInterpolator: bounds_error=True is not supported", "use fill_value"
            )
        if len(self.grid) > self.values.ndim or any(p.ndim != 1 for p in self.grid):
            raise ArgumentError(
                f"RegularGridInterpolator: {len(self.grid)} vectors of points for values of shape "
                f"{self.values.shape}"
            )

    @follow_arguments
    def __call__(self, xi: Any, method: Any = None) -> Any:
        """The values at places."""
        method = self.method if method is None else _checked_method(method)
        n = len(self.grid)
        if isinstance(xi, (tuple, list)):
            xi = np.stack(np.broadcast_arrays(*xi), axis=-1)
        xi = np.asarray(xi)
        if xi.ndim < 1 or xi.shape[-1] != n:
            raise ArgumentError(
                f"RegularGridInterpolator: places of shape {xi.shape} on a grid with {n} axes",
                "the last axis has one number for each axis of the grid",
            )
        sides = [self._sides(xi[..., k], k, method) for k in range(n)]
        total = 0.0
        for corner in itertools.product(*sides):
            weight: Any = 1.0
            for _, w in corner:
                weight = weight * w
            value = self.values[tuple(at for at, _ in corner)]
            more = value.ndim - np.ndim(weight)
            total = total + np.expand_dims(weight, tuple(range(-more, 0))) * value
        if self.fill_value is None:
            return total
        inside = np.ones(xi.shape[:-1], dtype=bool)
        for k, points in enumerate(self.grid):
            inside = inside & (xi[..., k] >= points[0]) & (xi[..., k] <= points[-1])
        more = np.ndim(total) - inside.ndim
        return np.where(np.expand_dims(inside, tuple(range(-more, 0))), total, self.fill_value)

    def _sides(self, x: Any, k: int, method: str) -> list[tuple[Any, Any]]:
        """The two points around each place, with their weights."""
        points = self.grid[k]
        low = np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 2)
        part = (x - points[low]) / (points[low + 1] - points[low])
        if method == "nearest":
            part = np.where(part <= 0.5, 0.0, 1.0)
        return [(low, 1 - part), (low + 1, part)]


def _checked_method(method: Any) -> str:
    if method not in METHODS:
        raise ArgumentError(
            f"RegularGridInterpolator: method must be 'linear' or 'nearest', not {method!r}"
        )
    return str(method)


class _Bounded(RegularGridInterpolator):
    """As SciPy makes it: places outside are errors by default."""

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = np.nan,
    ) -> None:
        super().__init__(points, values, method, False, fill_value)
        self.bounds_error = bounds_error

    def __call__(self, xi: Any, method: Any = None) -> Any:
        if isinstance(xi, (tuple, list)):
            xi = np.stack(np.broadcast_arrays(*xi), axis=-1)
        for k, points in enumerate(self.grid if self.bounds_error else ()):
            if np.any((xi[..., k] < points[0]) | (xi[..., k] > points[-1])):
                raise ValueError(f"One of the requested xi is out of bounds in dimension {k}")
        return super().__call__(xi, method)


OURS: dict[str, Any] = {f.__name__: f for f in (CubicSpline, PchipInterpolator, interp1d)}
OURS |= {f.__name__: f for f in (BSpline, BarycentricInterpolator, KroghInterpolator)}
OURS |= {f.__name__: f for f in (make_interp_spline, splrep, splev)}
OURS |= {"RBFInterpolator": RBFInterpolator, "RegularGridInterpolator": _Bounded}


def standing_for(f: Any) -> Any:
    """Ours for a class or a function of scipy.interpolate, or for an object of a class that is
    called; None if there is none."""
    if isinstance(f, (type, types.FunctionType)):
        return OURS.get(f.__name__)
    if type(f).__name__ == "BSpline":
        return functools.partial(bsplines.of_bumps, f.t, f.c, f.k, f.extrapolate, f.axis)
    if hasattr(f, "c") and hasattr(f, "x") and np.ndim(f.c) >= 2 and not hasattr(f, "t"):
        return functools.partial(of_pieces, f.c, f.x, f.extrapolate, f.axis)
    if isinstance(args := getattr(f, "_eval_args", None), tuple):  # of the classes of FITPACK
        return functools.partial(_at_knots, args, f.ext)
    if type(f).__name__ == "RBFInterpolator":
        checked_kernel(f.kernel, f.epsilon, f.neighbors)
        return functools.partial(of_weights, f)
    if type(f).__name__ == "RegularGridInterpolator":
        grid = _Bounded(f.grid, f.values, "linear", f.bounds_error, f.fill_value)
        return functools.partial(_at_places, grid, f.method)
    return None


def _at_knots(knots: Any, own: int, x: Any, nu: int = 0, ext: Any = None) -> Any:
    """A spline of one variable: its `own` ext holds where the call gives none."""
    return splev(x, knots, nu, own if ext is None else OUTSIDE.get(ext, ext))


def _at_places(grid: _Bounded, method: str, xi: Any) -> Any:
    return grid(xi, method)


__all__ = [
    "BSpline",
    "BarycentricInterpolator",
    "CubicSpline",
    "KroghInterpolator",
    "PchipInterpolator",
    "RBFInterpolator",
    "RegularGridInterpolator",
    "interp1d",
    "make_interp_spline",
    "splev",
    "splrep",
]
