"""Resizes images as jax.image does, by products with matrices of weights.

An output sample is a weighted mean of input samples. The weights are a kernel of the distance;
where an image shrinks the kernel is widened, so that nothing is left out (antialiasing):
K. Turkowski, "Filters for common resampling tasks", Graphics Gems, 1990; R. G. Keys, "Cubic
convolution interpolation for digital image processing", IEEE Trans. ASSP 29, 1981.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True


class ResizeMethod(enum.Enum):
    """How samples are weighted.

    NEAREST  the nearest sample; LINEAR  a triangle; CUBIC  Keys' cubic convolution;
    LANCZOS3, LANCZOS5  a windowed sinc over 3 or 5 samples to each side
    CUBIC_PYTORCH  as PyTorch does: CUBIC with antialiasing; without, a steeper cubic, for which the
    samples at the edges go on for ever;  AREA  the mean over the place of a sample
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name: "nearest", "linear", "bilinear", "trilinear", "triangle", "cubic",
        "bicubic", "tricubic", "cubic-pytorch", "bicubic-pytorch", "lanczos3", "lanczos5", "area".
        Raises ValueError for another."""
        if s not in NAMES:
            raise ArgumentError(
                f"image: there is no method {s!r}", f"there are {', '.join(map(repr, NAMES))}"
            )
        return NAMES[s]


NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(("cubic-pytorch", "bicubic-pytorch"), ResizeMethod.CUBIC_PYTORCH),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "area": ResizeMethod.AREA,
}


def _triangle(x: Any) -> Any:
    return np.maximum(0.0, 1.0 - x)


def _cubic(slope: float) -> Callable[[Any], Any]:
    """Keys' kernel; `slope` is that at distance 1."""

    def kernel(x: Any) -> Any:
        near = ((slope + 2.0) * x - (slope + 3.0)) * x * x + 1.0
        far = slope * (((x - 5.0) * x + 8.0) * x - 4.0)
        return np.where(x >= 2.0, 0.0, np.where(x >= 1.0, far, near))

    return kernel


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        y = radius * np.sin(np.pi * x) * np.sin(np.pi * x / radius)
        near = x > 1e-3
        inside = np.where(near, y / np.where(near, np.pi**2 * x * x, 1.0), 1.0)
        return np.where(x > radius, 0.0, inside)

    return kernel


KERNELS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
    ResizeMethod.LANCZOS3: _lanczos(3.0),
    ResizeMethod.LANCZOS5: _lanczos(5.0),
}


def _method(method: Any) -> ResizeMethod:
    return ResizeMethod.from_string(method) if isinstance(method, str) else method


def _weights(
    n: Any, m: Any, scale: Any, translation: Any, method: ResizeMethod, antialias: bool
) -> Any:
    """The weight of each of n samples (rows) in each of m new ones (columns)."""
    place = (np.arange(m) + 0.5 - translation) / scale - 0.5
    if method is ResizeMethod.AREA:
        weights = _overlaps(n, place, 1.0 / scale)
    elif method is ResizeMethod.CUBIC_PYTORCH and not antialias:
        return _normal(_to_the_edges(KERNELS[method](_distances(n, place, 2))))
    else:
        kernel = KERNELS[ResizeMethod.CUBIC if method is ResizeMethod.CUBIC_PYTORCH else method]
        wide = np.maximum(1.0 / scale, 1.0) if antialias else 1.0
        weights = kernel(_distances(n, place, 0) / wide)
    return np.where((place >= -0.5) & (place <= n - 0.5), _normal(weights), 0.0)


def _distances(n: Any, place: Any, more: int) -> Any:
    """From each sample, and `more` outside of the image, to each place."""
    return np.abs(place[None, :] - np.arange(-more, n + more)[:, None])


def _overlaps(n: Any, place: Any, width: Any) -> Any:
    """How much of each sample is in an interval of some width around each place."""
    low, begin = np.arange(n)[:, None], (place + 0.5 - width / 2)[None, :]
    return np.maximum(0.0, np.minimum(begin + width, low + 1.0) - np.maximum(begin, low))


def _to_the_edges(weights: Any) -> Any:
    """The weights of two samples outside on each side go to the samples at the edges."""
    inside = np.copy(weights[2:-2])
    inside[0] += weights[0] + weights[1]
    inside[-1] += weights[-2] + weights[-1]
    return inside


def _normal(weights: Any) -> Any:
    """Weights that add up to 1, where there are any."""
    total = np.sum(weights, axis=0, keepdims=True)
    some = np.abs(total) > 1e-4
    return np.where(some, weights / np.where(some, total, 1.0), 0.0)


def _resample_axis(image: Any, weights: Any, axis: int) -> Any:
    """The image with samples along one axis replaced by weighted sums of them."""
    moved = np.moveaxis(image, axis, -1) @ weights.astype(image.dtype)
    return np.moveaxis(moved, -1, axis)


@follow_arguments
def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """An image stretched and shifted along some axes: `new[y] = image[(y - translation) / scale]`,
    with pixels centred at half-integers.

    image         an array of floats
    shape         the shape of the result; as that of the image, except along `spatial_dims`
    spatial_dims  the axes that change
    scale         a number for each of these axes
    translation   a number for each of these axes, in pixels of the result
    method        a `ResizeMethod` or its name, not "nearest"
    antialias     whether the kernel is widened where the image shrinks
    precision     of JAX; sums are done in the dtype of the image

    Returns an array of the shape; samples from outside of the image are 0. Differentiable in the
    image, and in `scale` and `translation` as far as the kernel is.

    Raises ValueError for "nearest", for another number of axes, and for axes that must not change.

    >>> x = np.array([0.0, 1.0, 2.0])
    >>> scale_and_translate(x, (3,), (0,), np.array([1.0]), np.array([1.0]), "linear")
    array([0., 0., 1.])
    """
    shape, kind = tuple(shape), _method(method)
    _check(np.shape(image), shape, spatial_dims)
    if kind is ResizeMethod.NEAREST:
        raise ArgumentError(
            "image: scale_and_translate cannot be nearest", 'use resize, or "linear"'
        )
    out = image
    for k, axis in enumerate(spatial_dims):
        axis = axis % len(shape)
        n, m = out.shape[axis], shape[axis]
        weights = _weights(n, m, scale[k], translation[k], kind, antialias)
        out = _resample_axis(out, weights, axis)
    return out


@follow_arguments
def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """An image with other numbers of samples along its axes.

    image      an array of floats; with "nearest", of any numbers
    shape      the shape of the result, of as many axes
    method     a `ResizeMethod` or its name
    antialias  whether the kernel is widened where the image shrinks
    precision  of JAX; sums are done in the dtype of the image

    Returns an array of the shape. Integers become floats, except with "nearest".

    Raises ValueError for another number of axes, or for a method that does not exist.

    >>> resize(np.array([0.0, 1.0]), (4,), "linear")
    array([0.  , 0.25, 0.75, 1.  ])
    >>> resize(np.array([[1, 2], [3, 4]]), (2, 4), "nearest")
    array([[1, 1, 2, 2],
           [3, 3, 4, 4]])
    """
    shape, kind = tuple(shape), _method(method)
    _check(np.shape(image), shape, range(len(shape)))
    out = image
    if kind is not ResizeMethod.NEAREST and out.dtype.kind != "f":
        out = out.astype(float)
    for axis in range(len(shape)):
        n, m = out.shape[axis], shape[axis]
        if n == m:
            continue
        if kind is ResizeMethod.NEAREST:
            nearest = np.floor((np.arange(m) + 0.5) * (n / m)).astype(int)
            out = np.take(out, nearest, axis=axis)
        else:
            out = _resample_axis(out, _weights(n, m, m / n, 0.0, kind, antialias), axis)
    return out


def _check(before: Any, after: Any, spatial_dims: Any) -> None:
    if len(before) != len(after):
        raise ArgumentError(
            f"image: the image has {len(before)} axes, and the shape {len(after)}",
            "say the lengths of all axes, also those that stay",
        )
    free = [axis % len(after) for axis in spatial_dims]
    for axis in range(len(after)):
        if axis not in free and before[axis] != after[axis]:
            raise ArgumentError(
                f"image: axis {axis} is not in spatial_dims, and its length changes",
                "name it there, or keep the length",
            )


__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
