"""Computes the mode, the ranks and the standard error of samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

METHODS = ("average", "min", "max", "dense", "ordinal")


class ModeResult(NamedTuple):
    """The most common values, and how often each is met."""

    mode: Any
    count: Any


@follow_arguments
def mode(a: Any, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """The most common value along an axis, the least one of several; a pair (mode, count).

    a         an array
    axis      an integer; None: of all elements
    keepdims  whether the axis stays, with length 1

    Raises ValueError for another nan_policy than 'propagate'.

    >>> mode(np.array([3, 1, 3, 2]))
    ModeResult(mode=array(3), count=array(2))
    """
    check_nan_policy("mode", nan_policy)
    a, axis = (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, -1)
    same = np.sum(ordered[..., None] == ordered[..., None, :], axis=-1)
    at = np.argmax(same, axis=-1)[..., None]
    most_common = [np.take_along_axis(x, at, axis=-1) for x in (ordered, same)]
    return ModeResult(*(np.moveaxis(x, -1, axis) if keepdims else x[..., 0] for x in most_common))


@follow_arguments
def rankdata(
    a: Any, method: str = "average", *, axis: Any = None, nan_policy: str = "propagate"
) -> Any:
    """The place of each element among all in their order, from 1 on.

    a       an array
    method  of equal elements: 'average', 'min' or 'max' of their places, 'dense': as 'min', and
            the next element gets the next place, 'ordinal': as they stand in the array
    axis    an integer; None: of all elements, in one row

    Raises ValueError for another method, and another nan_policy than 'propagate'.

    >>> rankdata(np.array([10.0, 30.0, 20.0, 10.0]))
    array([1.5, 4. , 3. , 1.5])
    """
    check_nan_policy("rankdata", nan_policy)
    if method not in METHODS:
        raise ArgumentError(f"rankdata: method must be one of {', '.join(METHODS)}, not {method}")
    if axis is None:
        return _ranks(np.ravel(a), method)
    return np.moveaxis(_ranks(np.moveaxis(np.asarray(a), axis, -1), method), -1, axis)


def _ranks(a: Any, method: str) -> Any:
    """Along the last axis."""
    order = np.argsort(a, axis=-1, kind="stable")
    place = np.argsort(order, axis=-1, kind="stable")
    if method == "ordinal":
        return place + 1
    ordered = np.take_along_axis(a, order, axis=-1)
    new = np.concatenate(
        (np.ones_like(ordered[..., :1], dtype=bool), ordered[..., 1:] != ordered[..., :-1]), axis=-1
    )
    positions = np.arange(1, a.shape[-1] + 1)
    if method == "dense":
        ranks = np.cumsum(new, axis=-1)
    else:
        first = np.maximum.accumulate(np.where(new, positions, 0), axis=-1)
        ranks = first if method == "min" else _last_of_equals(new, positions)
        ranks = (first + _last_of_equals(new, positions)) / 2 if method == "average" else ranks
    return np.take_along_axis(ranks, place, axis=-1)


def _last_of_equals(new: Any, positions: Any) -> Any:
    """The place of the last of equal elements that follow each other."""
    n = positions[-1]
    ends = np.concatenate((new[..., 1:], np.ones_like(new[..., :1])), axis=-1)
    return np.minimum.accumulate(np.where(ends, positions, n)[..., ::-1], axis=-1)[..., ::-1]


@follow_arguments
def sem(
    a: Any, axis: Any = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Any:
    """The standard error of the mean: std / sqrt(n).

    a         an array
    axis      an axis; None: of all elements
    ddof      what is subtracted from n in the variance
    keepdims  whether the axis stays, with length 1

    Differentiable in a. Raises ValueError for another nan_policy than 'propagate'.

    >>> float(sem(np.array([1.0, 2.0, 3.0])).round(4))
    0.5774
    """
    check_nan_policy("sem", nan_policy)
    sample: Any = np.ravel(a) if axis is None else np.asarray(a)
    axis = 0 if axis is None else axis
    return sample.std(axis=axis, ddof=ddof, keepdims=keepdims) / sample.shape[axis] ** 0.5


def check_nan_policy(name: str, nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise ArgumentError(
            f"{name}: nan_policy={nan_policy!r} is not supported", "take out the nans before"
        )
