"""Interpolates scattered points by radial basis functions: scipy.interpolate.RBFInterpolator."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def _root(s: Any) -> Any:
    """The square root, with slope 0 at 0: odd powers of a distance are no trouble there."""
    return np.where(s > 0, np.sqrt(np.where(s > 0, s, 1.0)), 0.0)


#: By name: the function of the square of the distance, and the least degree of the polynomial.
KERNELS: dict[str, Any] = {
    "linear": (lambda s: -_root(s), 0),
    "thin_plate_spline": (lambda s: s * np.log(np.where(s > 0, s, 1.0)) / 2, 1),
    "cubic": (lambda s: s * _root(s), 1),
    "quintic": (lambda s: -s * s * _root(s), 2),
    "multiquadric": (lambda s: -np.sqrt(1 + s), 0),
    "inverse_multiquadric": (lambda s: 1 / np.sqrt(1 + s), -1),
    "inverse_quadratic": (lambda s: 1 / (1 + s), -1),
    "gaussian": (lambda s: np.exp(-s), -1),
}
UNSCALED = ("linear", "thin_plate_spline", "cubic", "quintic")  # a scale changes nothing


class RBFInterpolator:
    """The sum of functions of the distances from points, and of a polynomial, that goes through
    values.

    y          array of shape (n, m): the points
    d          array of shape (n, ...): the values there
    neighbors  must be None: all points count
    smoothing  how far values may be missed: a number, or one for each point
    kernel     'thin_plate_spline', 'linear', 'cubic', 'quintic', 'multiquadric', 'gaussian',
               'inverse_multiquadric' or 'inverse_quadratic'
    epsilon    by what distances are multiplied; needed for those behind 'quintic'
    degree     of the polynomial; -1: there is none

    A call takes places of shape (k, m). Differentiable in all. Raises ValueError for other kernels,
    shapes and neighbors. Source: G. Fasshauer, "Meshfree Approximation Methods with Matlab" (2007).

    >>> curve = RBFInterpolator(np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 2.0, 6.0]))
    >>> curve(np.array([[2.0]])).round(12)
    array([4.])
    """

    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline",
        epsilon: Any = None,
        degree: Any = None,
    ) -> None:
        self.y, self.d = np.asarray(y), np.asarray(d)
        self.kernel, least = checked_kernel(kernel, epsilon, neighbors)
        self.epsilon = 1.0 if epsilon is None else epsilon
        if self.y.ndim != 2 or self.d.shape[:1] != self.y.shape[:1]:
            raise ArgumentError(
                f"RBFInterpolator: values of shape {self.d.shape} for points of shape "
                f"{self.y.shape}",
                "points have the shape (n, m), values (n, ...)",
            )
        degree = max(least, 0) if degree is None else operator.index(degree)
        self.powers = monomials(operator.index(self.y.shape[1]), degree)
        low, high = np.min(self.y, axis=0), np.max(self.y, axis=0)
        self.shift = (low + high) / 2
        self.scale = np.where(high > low, (high - low) / 2, 1.0)
        self.coeffs = self._solve_weights(smoothing)

    def _solve_weights(self, smoothing: Any) -> Any:
        """Weights of the points, then those of the polynomial, which leave its moments zero."""
        n, rows = operator.index(self.y.shape[0]), len(self.powers)
        if rows > n:
            raise ArgumentError(f"RBFInterpolator: a polynomial of {rows} terms for {n} points")
        seen = looked_at(self.y, self, self.shift, self.scale)
        matrix = np.zeros((n + rows, n + rows))
        matrix[:n] = seen
        matrix[n:, :n] = seen[:, n:].T
        matrix[np.arange(n), np.arange(n)] += smoothing
        values = np.reshape(self.d, (n, -1))
        return np.linalg.solve(matrix, np.concatenate([values, np.zeros((rows, values.shape[1]))]))

    @follow_arguments
    def __call__(self, x: Any) -> Any:
        """The values at places."""
        x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
            raise ArgumentError(
                f"RBFInterpolator: places of shape {x.shape} among points of shape {self.y.shape}"
            )
        values = looked_at(x, self, self.shift, self.scale) @ self.coeffs
        return np.reshape(values, (x.shape[0], *self.d.shape[1:]))


def checked_kernel(kernel: str, epsilon: Any, neighbors: Any) -> tuple[str, int]:
    """Its name, and the least degree of the polynomial."""
    name = kernel.lower()
    if name not in KERNELS:
        raise ArgumentError(f"RBFInterpolator: kernel must be one of {', '.join(KERNELS)}")
    if epsilon is None and name not in UNSCALED:
        raise ArgumentError(f"RBFInterpolator: kernel {name!r} needs epsilon")
    if neighbors is not None:
        raise ArgumentError("RBFInterpolator: neighbors is not supported", "leave it out")
    return name, KERNELS[name][1]


def monomials(count: int, degree: int) -> list[tuple[int, ...]]:
    """The powers of each variable, for all monomials up to a degree."""
    return [
        tuple(chosen.count(k) for k in range(count))
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(count), total)
    ]


def looked_at(x: Any, points: Any, shift: Any, scale: Any) -> Any:
    """For each place the functions of its distances from the points, then the monomials."""
    off = (x[:, np.newaxis] - points.y) * points.epsilon
    near = KERNELS[points.kernel][0](np.sum(off * off, axis=-1))
    inner = (x - shift) / scale
    ones = np.ones(x.shape[0])
    columns = []
    for powers in points.powers:
        column = ones
        for k, p in enumerate(powers):
            column = column * inner[:, k] ** int(p) if p else column
        columns.append(column)
    return np.concatenate([near, np.stack(columns, axis=1)], axis=1) if columns else near


def of_weights(interpolator: Any, x: Any) -> Any:
    """What an object of SciPy's gives, whose weights are known."""
    x = np.asarray(x)
    values = (
        looked_at(x, interpolator, interpolator._shift, interpolator._scale) @ interpolator._coeffs
    )
    if interpolator.d_dtype is not float and np.dtype(interpolator.d_dtype).kind == "c":
        values = values[:, ::2] + 1j * values[:, 1::2]
    return np.reshape(values, (x.shape[0], *interpolator.d_shape))
