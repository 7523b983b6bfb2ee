"""Interpolates images between their pixels: jax.scipy.ndimage.map_coordinates."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def _mirror(i: Any, n: Any) -> Any:
    """As in d c b | a b c d | c b a."""
    period = np.maximum(2 * (n - 1), 1)
    return np.abs((i + n - 1) % period - (n - 1))


def _reflect(i: Any, n: Any) -> Any:
    """As in c b a | a b c d | d c b."""
    inside = i % (2 * n)
    return np.minimum(inside, 2 * n - 1 - inside)


PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda i, n: np.clip(i, 0, n - 1),
    "nearest": lambda i, n: np.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "mirror": _mirror,
    "reflect": _reflect,
}


@follow_arguments
def map_coordinates(
    input: Any, coordinates: Any, order: int, mode: str = "constant", cval: Any = 0.0
) -> Any:
    """An array at places that need not be integers.

    input        an array with n axes
    coordinates  n arrays of one shape, or an array of shape (n, ...): where to look, along each
                 axis
    order        0: the nearest element; 1: linear interpolation
    mode         outside: 'constant' gives cval, 'nearest' the element at the edge, 'wrap' begins
                 again, 'mirror' and 'reflect' go back, with and without the edge in the middle
    cval         a number

    Returns an array of the shape of one of the coordinates. Differentiable in input, coordinates
    (order 1) and cval. Raises ValueError for another order, mode or number of coordinates. As in
    JAX, 'wrap' is what SciPy calls 'grid-wrap', and 'constant' its 'grid-constant'.

    >>> map_coordinates(np.array([0.0, 10.0, 20.0]), [np.array([0.5, 1.25])], order=1)
    array([ 5. , 12.5])
    """
    input = np.asarray(input)
    if mode not in PLACES:
        raise ArgumentError(f"map_coordinates: mode must be one of {', '.join(PLACES)}, not {mode}")
    order = operator.index(order)
    if order not in (0, 1):
        raise ArgumentError(f"map_coordinates: order must be 0 or 1, not {order}")
    if len(coordinates) != input.ndim:
        raise ArgumentError(
            f"map_coordinates: {len(coordinates)} coordinates for {input.ndim} axes",
            "give an array for each axis",
        )
    along = [
        _corners(np.asarray(c), n, order, mode)
        for c, n in zip(coordinates, input.shape, strict=True)
    ]
    total = 0.0
    for corner in itertools.product(*along):
        places, inside, weights = zip(*corner, strict=True)
        value = input[places]
        if mode == "constant":
            value = np.where(functools.reduce(np.logical_and, inside), value, cval)
        total = total + functools.reduce(np.multiply, weights) * value
    if input.dtype.kind in "iu":
        return np.round(total).astype(input.dtype)
    return np.asarray(total).astype(input.dtype)


def _corners(c: Any, n: Any, order: int, mode: str) -> list[tuple[Any, Any, Any]]:
    """The elements around a place: index, whether it is in the array, and weight."""
    if order == 0:
        corners = [(np.round(c), np.ones_like(c, dtype=float))]
    else:
        low = np.floor(c)
        corners = [(low, 1 - (c - low)), (low + 1, c - low)]
    neighbours = []
    for at, weight in corners:
        k = at.astype(int)
        neighbours.append((PLACES[mode](k, n), (k >= 0) & (k < n), weight))
    return neighbours
