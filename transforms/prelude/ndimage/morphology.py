"""Implements morphology of grey images, derivatives of smoothed ones, and measurements of whole
images.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.ndimage.boundary_modes import extend_axis, image, per_axis
from tapeless.transforms.prelude.ndimage.rank_filters import maximum_filter, minimum_filter

__staged__ = True  # plain NumPy code: a staged run enters it


def _refuse_footprint(footprint: Any, structure: Any) -> None:
    if footprint is not None or structure is not None:
        raise UnsupportedError("scipy.ndimage with footprint= or structure=", "give a size")


def grey_erosion(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The least element around each one."""
    _refuse_footprint(footprint, structure)
    return minimum_filter(input, size, None, output, mode, cval, origin)


def grey_dilation(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """The greatest element around each one, of a neighbourhood the other way round."""
    _refuse_footprint(footprint, structure)
    ndim = np.ndim(input)
    pairs = zip(per_axis(origin, ndim), per_axis(size, ndim), strict=True)
    origins = [-at - (n % 2 == 0) for at, n in pairs]
    return maximum_filter(input, size, None, output, mode, cval, origins)


def grey_opening(input: Any, *how: Any, **options: Any) -> Any:
    """Eroded, then dilated: peaks that are smaller vanish."""
    return grey_dilation(grey_erosion(input, *how, **options), *how, **options)


def grey_closing(input: Any, *how: Any, **options: Any) -> Any:
    """Dilated, then eroded: hollows that are smaller vanish."""
    return grey_erosion(grey_dilation(input, *how, **options), *how, **options)


def white_tophat(input: Any, *how: Any, **options: Any) -> Any:
    """What opening takes away."""
    return np.asarray(input) - grey_opening(input, *how, **options)


def black_tophat(input: Any, *how: Any, **options: Any) -> Any:
    """What closing adds."""
    return grey_closing(input, *how, **options) - np.asarray(input)


def morphological_gradient(input: Any, *how: Any, **options: Any) -> Any:
    """The difference of the greatest and the least element around each one."""
    return grey_dilation(input, *how, **options) - grey_erosion(input, *how, **options)


def morphological_laplace(input: Any, *how: Any, **options: Any) -> Any:
    """The sum of their differences from the element itself."""
    both = grey_dilation(input, *how, **options) + grey_erosion(input, *how, **options)
    return both - np.asarray(input) - np.asarray(input)


def _reduce_windows(
    f: Any, input: Any, size: Any, axis: Any, output: Any, mode: Any, cval: Any, at: Any
) -> Any:
    x = image(input, output)
    axis = axis % x.ndim
    n, wide = x.shape[axis], extend_axis(x, size, axis, mode, cval, at)
    lead = (slice(None),) * axis
    return f(np.stack([wide[(*lead, slice(k, k + n))] for k in range(size)]), axis=0)


def maximum_filter1d(
    input: Any,
    size: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    return _reduce_windows(np.max, input, size, axis, output, mode, cval, origin)


def minimum_filter1d(
    input: Any,
    size: Any,
    axis: Any = -1,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    return _reduce_windows(np.min, input, size, axis, output, mode, cval, origin)


# -- measurements of whole images, without labels


def _refuse_labels(labels: Any, index: Any) -> None:
    if labels is not None or index is not None:
        raise UnsupportedError(
            "measurements of scipy.ndimage by labels", "use np.bincount(labels, weights)"
        )


def _measure(name: str, function: Any) -> Any:
    def measure(input: Any, labels: Any = None, index: Any = None) -> Any:
        _refuse_labels(labels, index)
        return function(input)

    measure.__name__ = name
    return measure


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean place, weighted by the elements."""
    _refuse_labels(labels, index)
    x = np.asarray(input)
    total, places = np.sum(x), []
    for axis in range(x.ndim):
        others = (*range(axis), *range(axis + 1, x.ndim))
        line = np.sum(x, axis=others)
        places.append(np.sum(line * np.arange(x.shape[axis])) / total)
    return tuple(places)


GREY: list[Any] = [grey_erosion, grey_dilation, grey_opening, grey_closing, white_tophat]
GREY += [black_tophat, morphological_gradient, morphological_laplace]
GREY += [maximum_filter1d, minimum_filter1d]
MEASURES: list[Any] = [
    *map(_measure, ("sum", "mean", "variance"), (np.sum, np.mean, np.var)),
    *map(_measure, ("standard_deviation", "minimum", "maximum"), (np.std, np.min, np.max)),
    _measure("median", np.median),
    center_of_mass,
]
FILTERS = GREY + MEASURES
