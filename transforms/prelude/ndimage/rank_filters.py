"""Implements the filters of scipy.ndimage that choose among the elements around each one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.ndimage.boundary_modes import extend_axis, image, per_axis

__staged__ = True  # plain NumPy code: a staged run enters it


def stack_neighbours(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The elements around each one, along a new first axis."""
    x = image(input, output)
    if axes is not None or footprint is not None:
        raise UnsupportedError("scipy.ndimage filters with footprint= or axes=", "give a size")
    if size is None:
        raise RuntimeError("no footprint or filter size provided")
    shape, wide, sides = x.shape, x, per_axis(size, x.ndim)
    for axis, n in enumerate(sides):
        how, at = per_axis(mode, x.ndim)[axis], per_axis(origin, x.ndim)[axis]
        wide = extend_axis(wide, n, axis, how, cval, at)
    places = itertools.product(*[range(n) for n in sides])
    return np.stack(
        [wide[tuple(slice(k, k + n) for k, n in zip(at, shape, strict=True))] for at in places]
    )


def maximum_filter(input: Any, *how: Any, **options: Any) -> Any:
    """The greatest element around each one."""
    return pick_rank(lambda n: -1, input, how, options)


def minimum_filter(input: Any, *how: Any, **options: Any) -> Any:
    """The least element around each one."""
    return pick_rank(lambda n: 0, input, how, options)


def median_filter(input: Any, *how: Any, **options: Any) -> Any:
    """The middle one of the elements around each one."""
    return pick_rank(lambda n: n // 2, input, how, options)


def rank_filter(input: Any, rank: int, *how: Any, **options: Any) -> Any:
    """The element of this rank among those around each one."""
    return pick_rank(lambda n: rank + n if rank < 0 else rank, input, how, options)


def percentile_filter(input: Any, percentile: Any, *how: Any, **options: Any) -> Any:
    """The element that so many percent of those around each one are less than."""
    share = (percentile + 100.0 if percentile < 0 else percentile) / 100.0
    last = percentile == 100
    return pick_rank(lambda n: n - 1 if last else int(n * share), input, how, options)


def pick_rank(rank: Any, input: Any, how: Any, options: Any) -> Any:
    near = stack_neighbours(input, *how, **options)
    return np.sort(near, axis=0)[rank(near.shape[0].__index__())]


FILTERS: list[Any] = [maximum_filter, minimum_filter, median_filter, rank_filter]
FILTERS += [percentile_filter]
