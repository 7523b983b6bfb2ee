"""Implements the linear filters of scipy.ndimage, and names all that stands for its functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.ndimage import morphology, rank_filters, splines
from tapeless.transforms.prelude.ndimage.boundary_modes import extend_axis, image, per_axis

__staged__ = True  # plain NumPy code: a staged run enters it


def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The sum of weights times elements around each element."""
    x, weights = image(input, output), np.asarray(weights)
    if weights.ndim != x.ndim:
        raise RuntimeError("filter weights array has incorrect shape.")
    for axis, at in enumerate(per_axis(origin, x.ndim)):
        x = extend_axis(x, weights.shape[axis], axis, per_axis(mode, x.ndim)[axis], cval, at)
    return _as_dtype_of(_sum_weighted_parts(x, weights, np.shape(input), 0), input)


def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The same with the weights the other way round."""
    weights = np.asarray(weights)
    pairs = zip(per_axis(origin, weights.ndim), weights.shape, strict=True)
    origins = [-at - (n % 2 == 0) for at, n in pairs]
    return correlate(input, np.flip(weights), output, mode, cval, origins)


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """`correlate` along one axis."""
    x, weights = image(input, output), np.asarray(weights)
    axis %= x.ndim
    n, shape = weights.shape[0], x.shape
    x = extend_axis(x, n, axis, mode, cval, origin)
    total = np.zeros(shape)
    for k in range(n):
        total = total + weights[k] * _part(x, axis, k, shape[axis])
    return _as_dtype_of(total, input)


def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    weights = np.asarray(weights)
    at = -origin - (weights.shape[0] % 2 == 0)
    return correlate1d(input, weights[::-1], axis, output, mode, cval, at)


def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
) -> Any:
    """Smoothed by a bell curve, or by its first or second derivative."""
    most = int(truncate * float(sigma) + 0.5) if radius is None else radius
    x = np.arange(-most, most + 1)
    bell = np.exp(-0.5 / sigma**2 * x**2)
    bell = bell / np.sum(bell)
    if order not in (0, 1, 2):
        raise UnsupportedError(f"scipy.ndimage filters of order {order}", "filter twice")
    slopes = (1.0, x / sigma**2, x**2 / sigma**4 - 1 / sigma**2)
    return correlate1d(input, bell * slopes[order], axis, output, mode, cval)


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """`gaussian_filter1d` along each axis."""
    x = image(input, output)
    axes = range(x.ndim) if axes is None else axes
    options = [per_axis(p, len(axes)) for p in (sigma, order, mode, radius)]
    for k, axis in enumerate(axes):
        width, slope, how, most = (p[k] for p in options)
        if width > 1e-15:
            x = gaussian_filter1d(x, width, axis, slope, None, how, cval, truncate, radius=most)
    return _as_dtype_of(x, input)


def uniform_filter1d(input: Any, size: int, *how: Any, **options: Any) -> Any:
    """The mean of `size` elements; what follows is what `correlate1d` takes behind the weights."""
    return correlate1d(input, np.ones(size) / size, *how, **options)


def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    x = image(input, output)
    for axis in range(x.ndim):
        n, how, at = (per_axis(p, x.ndim)[axis] for p in (size, mode, origin))
        x = uniform_filter1d(x, n, axis, None, how, cval, at)
    return _as_dtype_of(x, input)


def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """The sum of second differences."""
    x = image(input, output)
    modes = per_axis(mode, x.ndim)
    return sum(correlate1d(x, [1, -2, 1], k, None, modes[k], cval) for k in range(x.ndim))


def _order(ndim: int, axis: int, order: int) -> list[int]:
    return [order * (k == axis) for k in range(ndim)]


def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    **options: Any,
) -> Any:
    """The sum of second derivatives of the smoothed image."""
    x = image(input, output)
    orders = [_order(x.ndim, k, 2) for k in range(x.ndim)]
    return sum(gaussian_filter(x, sigma, order, None, mode, cval, **options) for order in orders)


def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    **options: Any,
) -> Any:
    """The length of the gradient of the smoothed image."""
    x = image(input, output)
    orders = [_order(x.ndim, k, 1) for k in range(x.ndim)]
    slopes = (gaussian_filter(x, sigma, order, None, mode, cval, **options) for order in orders)
    return np.sqrt(sum(slope**2 for slope in slopes))


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    return _edges(input, axis, output, mode, cval, [1, 2, 1])


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0
) -> Any:
    return _edges(input, axis, output, mode, cval, [1, 1, 1])


def _edges(input: Any, axis: int, output: Any, mode: Any, cval: Any, beside: Any) -> Any:
    x = image(input, output)
    modes, axis = per_axis(mode, x.ndim), axis % x.ndim
    edges = correlate1d(x, [-1, 0, 1], axis, None, modes[axis], cval)
    for k in range(x.ndim):
        edges = edges if k == axis else correlate1d(edges, beside, k, None, modes[k], cval)
    return edges


# -- parts


def _as_dtype_of(result: Any, input: Any) -> Any:
    """In the dtype of the input, as SciPy has it."""
    return result.astype(np.asarray(input).dtype)


def _part(x: Any, axis: int, start: Any, length: Any) -> Any:
    return x[(slice(None),) * axis + (slice(start, start + length),)]


def _sum_weighted_parts(x: Any, weights: Any, shape: Any, axis: int) -> Any:
    if weights.ndim == 0:
        return weights * x
    total = np.zeros(x.shape[:axis] + tuple(shape[axis:]))
    for k in range(weights.shape[0]):
        total = total + _sum_weighted_parts(
            _part(x, axis, k, shape[axis]), weights[k], shape, axis + 1
        )
    return total


FILTERS: list[Any] = [correlate, convolve, correlate1d, convolve1d, gaussian_filter1d]
FILTERS += [gaussian_filter, uniform_filter1d, uniform_filter, laplace, sobel, prewitt]
FILTERS += [gaussian_laplace, gaussian_gradient_magnitude]
BETWEEN: list[Any] = [splines.map_coordinates, splines.affine_transform, splines.shift]
BETWEEN += [splines.zoom, splines.rotate, splines.spline_filter, splines.spline_filter1d]
BY_NAME: dict[str, Any] = {
    f.__name__: f for f in (*FILTERS, *rank_filters.FILTERS, *morphology.FILTERS, *BETWEEN)
}


def standing_for(f: Any) -> Any:
    """Ours for one of scipy.ndimage."""
    return BY_NAME.get(getattr(f, "__name__", ""))
