"""Interpolates images between their pixels by splines: map_coordinates, affine_transform, shift,
zoom, rotate and spline_filter of scipy.ndimage.

A spline of order n is a sum of bumps, one a pixel, that reach (n + 1) / 2 pixels far; the heights
of the bumps are filtered from the image (M. Unser et al., "B-spline signal processing", IEEE Trans.
on Signal Processing 41, 1993). Differentiable in images and in places.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.ndimage.boundary_modes import image, per_axis

__staged__ = True  # plain NumPy code: a staged run enters it

#: The numbers by which a filter goes on from pixel to pixel, for each order.
POLES: dict[int, list[float]] = {
    0: [],
    1: [],
    2: [8**0.5 - 3],
    3: [3**0.5 - 2],
    4: [
        (664 - 438976**0.5) ** 0.5 + 304**0.5 - 19,
        (664 + 438976**0.5) ** 0.5 - 304**0.5 - 19,
    ],
    5: [
        (67.5 - 4436.25**0.5) ** 0.5 + 26.25**0.5 - 6.5,
        (67.5 + 4436.25**0.5) ** 0.5 - 26.25**0.5 - 6.5,
    ],
}
#: How the heights of bumps go on beyond the edges, if not as the image does.
HEIGHTS = {"constant": "mirror", "wrap": "mirror"}
PADDED = 12  # pixels, for modes of which no filter is known
MODES = ("constant", "grid-constant", "nearest", "wrap", "grid-wrap", "mirror", "reflect")
OTHER_NAMES = {"grid-mirror": "reflect"}


# -- the heights of bumps


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror"
) -> Any:
    """The heights of bumps along one axis."""
    order, mode = _check_options(order, mode)
    mode = "reflect" if mode == "nearest" else mode
    x = _floats(_without_output(input, output))
    rows = np.moveaxis(x, axis, 0)
    n = operator.index(rows.shape[0])
    for pole in POLES[order] if n > 1 else ():
        rows = _filter_both_ways(rows * ((1 - pole) * (1 - 1 / pole)), pole, n, mode)
    return np.moveaxis(rows, 0, axis)


def spline_filter(
    input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror"
) -> Any:
    """The heights of bumps."""
    if order not in (2, 3, 4, 5):
        raise RuntimeError("spline order not supported")
    for axis in range(np.ndim(input)):
        input = spline_filter1d(input, order, axis, output, mode)
    return input


def _without_output(input: Any, output: Any) -> Any:
    if output is not np.float64:
        raise UnsupportedError("spline filters with output=", "leave it out")
    return np.asarray(input)


def _filter_both_ways(x: Any, pole: float, n: int, mode: str) -> Any:
    """There: y[k] = x[k] + pole y[k - 1]; and back: z[k] = pole (z[k + 1] - y[k])."""
    powers = (pole ** np.arange(n)).reshape(-1, *[1] * (x.ndim - 1))
    heights = np.zeros_like(x)
    if mode == "reflect":
        total = np.sum(powers * (x + pole**n * x[::-1]), axis=0)
        heights[0] = x[0] + total * (pole / (1 - pole ** (2 * n)))
    elif mode == "grid-wrap":
        around = np.concatenate((x[:1], x[:0:-1]))
        heights[0] = np.sum(powers * around, axis=0) / (1 - pole**n)
    else:
        far = pole ** (n - 1)
        inner = np.sum((powers * (x + far * x[::-1]))[1:-1], axis=0)
        heights[0] = (x[0] + far * x[-1] + inner) / (1 - far**2)
    for k in range(1, n):
        heights[k] = x[k] + pole * heights[k - 1]
    if mode == "reflect":
        last = heights[n - 1] * (pole / (pole - 1))
    elif mode == "grid-wrap":
        around = np.concatenate((heights[-1:], heights[:-1]))
        last = np.sum(powers * around, axis=0) * (pole / (pole**n - 1))
    else:
        last = (pole * heights[n - 2] + heights[n - 1]) * (pole / (pole**2 - 1))
    heights[n - 1] = last
    for k in range(n - 2, -1, -1):
        heights[k] = pole * (heights[k + 1] - heights[k])
    return heights


# -- sums of bumps


def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at places, of which `coordinates` has an array for each axis."""
    if len(coordinates) != np.ndim(input):
        raise RuntimeError("invalid shape for coordinate array")
    places = [np.asarray(c) for c in coordinates]
    return _sample_spline(image(input, output), places, order, mode, cval, prefilter)


def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at the places matrix @ pixel + offset."""
    x, matrix = image(input, output), np.asarray(matrix)
    n, shape = x.ndim, output_shape or np.shape(input)
    if matrix.ndim == 2 and matrix.shape[1] == n + 1:
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    if matrix.shape[0] != n or (matrix.ndim == 2 and matrix.shape[1] != len(shape)):
        raise RuntimeError("affine matrix has wrong number of rows or columns")
    offset = np.broadcast_to(np.asarray(offset), (n,))
    pixels = _pixels(shape)
    if matrix.ndim == 1:
        places = [(pixels[k] + offset[k] / matrix[k]) * matrix[k] for k in range(n)]
    else:
        places = [
            sum((matrix[k, j] * pixel for j, pixel in enumerate(pixels)), offset[k])
            for k in range(n)
        ]
    return _sample_spline(x, places, order, mode, cval, prefilter)


def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image moved by so many pixels along each axis."""
    x = image(input, output)
    far = np.broadcast_to(np.asarray(shift), (x.ndim,))
    places = [pixel - far[k] for k, pixel in enumerate(_pixels(x.shape))]
    return _sample_spline(x, places, order, mode, cval, prefilter)


def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Any:
    """The image with so many times its pixels along each axis."""
    x = image(input, output)
    factors = [float(f) for f in per_axis(zoom, x.ndim)]
    if prefilter and all(f == 1 for f in factors):
        return x.copy()
    sides = [operator.index(n) for n in x.shape]
    shape = [round(n * f) for n, f in zip(sides, factors, strict=True)]
    places = []
    for n, m, pixel in zip(sides, shape, _pixels(shape), strict=True):
        if grid_mode:
            places.append((pixel + 0.5) * (n / m if m else 1.0) - 0.5)
        else:
            places.append(pixel * ((n - 1) / (m - 1) if m != 1 else 1.0))
    return _sample_spline(x, places, order, mode, cval, prefilter)


def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image turned by an angle in degrees; with `reshape`, which needs a known angle, it grows
    to hold all of it."""
    x = image(input, output)
    if x.ndim < 2 or len(axes) != 2:
        raise ValueError("rotate takes images with two axes at least, and two of these")
    first, second = sorted(axis % x.ndim for axis in axes)
    rows = np.moveaxis(x, (first, second), (0, 1))
    sides = [operator.index(n) for n in rows.shape[:2]]
    c, s = _cosine_and_sine(angle)
    shape = sides
    if reshape:
        turn = float(c), float(s)
        shape = [_extent(n, m, *turn) for n, m in (sides, sides[::-1])]
    middle = [(n - 1) / 2 for n in shape]
    i, j = (pixel - m for pixel, m in zip(_pixels(shape), middle, strict=True))
    places = [c * i + s * j + (sides[0] - 1) / 2, c * j - s * i + (sides[1] - 1) / 2]
    turned = _sample_spline(rows, places, order, mode, cval, prefilter)
    return np.moveaxis(turned, (0, 1), (first, second))


def _cosine_and_sine(angle: Any) -> Any:
    """Of degrees; exact for right angles."""
    quarter = np.round(angle / 90)
    rest = np.deg2rad(angle - 90 * quarter)
    c, s = np.cos(rest), np.sin(rest)
    turned = quarter % 4
    signs = [np.where(turned == k, 1.0, 0.0) for k in range(4)]
    along, across = signs[0] - signs[2], signs[1] - signs[3]
    return along * c - across * s, along * s + across * c


def _extent(n: int, m: int, c: float, s: float) -> int:
    """How many rows n rows and m columns have when they are turned."""
    return int(abs(c) * n + abs(s) * m + 0.5)


def _pixels(shape: Any) -> list[Any]:
    """The indices along each axis, which broadcast."""
    count = len(shape)
    return [
        np.arange(float(n)).reshape(*[1] * k, -1, *[1] * (count - 1 - k))
        for k, n in enumerate(map(operator.index, shape))
    ]


def _sample_spline(
    x: Any, places: list[Any], order: Any, mode: str, cval: Any, prefilter: bool
) -> Any:
    """The spline at places on the first axes."""
    order, mode = _check_options(order, mode)
    heights, pad = _floats(x), 0
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            pad, options = PADDED, {"mode": "edge"}
            if mode == "grid-constant":
                options = {"mode": "constant", "constant_values": cval}
            widths = [(pad, pad)] * len(places) + [(0, 0)] * (x.ndim - len(places))
            heights = np.pad(heights, widths, **options)  # type: ignore[call-overload]  # its words are texts here
        for axis in range(len(places)):
            heights = spline_filter1d(heights, order, axis, mode=mode)
    sides = [operator.index(n) for n in heights.shape[: len(places)]]
    outside = [(c < 0) | (c > n - 1) for c, n in zip(places, sides, strict=True)]
    along = [_bumps(c + pad, n, order, mode) for c, n in zip(places, sides, strict=True)]
    behind = tuple(range(-(x.ndim - len(places)), 0))
    total: Any = 0.0
    for bumps in itertools.product(*along):
        weight = functools.reduce(np.multiply, [w for _, w, _ in bumps])
        value = heights[tuple(k for k, _, _ in bumps)]
        if mode == "grid-constant":
            there = functools.reduce(np.logical_and, [inside for _, _, inside in bumps])
            value = np.where(np.expand_dims(there, behind), value, cval)
        total = total + np.expand_dims(weight, behind) * value
    if mode == "constant":
        beyond = functools.reduce(np.logical_or, outside)
        total = np.where(np.expand_dims(beyond, behind), cval, total)
    return _as(x.dtype, total)


def _bumps(c: Any, n: int, order: int, mode: str) -> list[Any]:
    """The bumps that reach a place: which pixel, the weight, and whether it is in the image."""
    if mode not in ("constant", "grid-constant", "nearest"):
        c = np.where((c < 0) | (c > n - 1), _wrap_coordinates(c, n, mode), c)
    first = np.floor(c if order % 2 else c + 0.5)
    part = c - first if order % 2 else c + 0.5 - first
    weights = [np.ones_like(part)]
    for m in range(1, order + 1):  # Cox's and de Boor's recursion
        left = [0.0, *((part + (m - j)) / m * weights[j - 1] for j in range(1, m + 1))]
        right = [*(((j + 1) - part) / m * weights[j] for j in range(m)), 0.0]
        weights = [a + b for a, b in zip(left, right, strict=True)]
    bumps = []
    for j, weight in enumerate(weights):
        k = first.astype(int) + (j - order // 2)
        inside = (k >= 0) & (k < n)
        edges = HEIGHTS.get(mode, mode)
        at = np.clip(k, 0, n - 1) if edges == "grid-constant" else _wrap_coordinates(k, n, edges)
        bumps.append((np.where(inside, k, np.clip(at, 0, n - 1)), weight, inside))
    return bumps


def _wrap_coordinates(c: Any, n: int, mode: str) -> Any:
    """Where the image has what lies outside of it."""
    if n == 1 or mode == "nearest":
        return np.clip(c, 0, n - 1)
    if mode == "mirror":
        inside = np.abs(c) % (2 * n - 2)
        return np.where(inside > n - 1, 2 * n - 2 - inside, inside)
    if mode == "reflect":
        inside = np.where(c < 0, -1 - c, c) % (2 * n)
        return np.where(inside > n - 0.5, 2 * n - 1 - inside, inside)
    return c % (n - 1 if mode == "wrap" else n)


def _check_options(order: Any, mode: Any) -> tuple[int, str]:
    order, mode = operator.index(order), OTHER_NAMES.get(mode, mode)
    if order not in POLES:
        raise RuntimeError("spline order not supported")
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return order, mode


def _floats(x: Any) -> Any:
    return x if x.dtype.kind == "c" else x.astype(float)


def _as(dtype: Any, values: Any) -> Any:
    """In the dtype of the image; integers are rounded away from 0."""
    if dtype.kind in "iu":
        values = np.where(values < 0, np.ceil(values - 0.5), np.floor(values + 0.5))
        values = np.maximum(values, 0) if dtype.kind == "u" else values
    return values.astype(dtype)
