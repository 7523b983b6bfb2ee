"""Encodes classes as one-hot vectors, and standardizes data to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.collectives import axis_index
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def one_hot(x: Any, num_classes: Any, *, dtype: Any = None, axis: Any = -1) -> Any:
    """For each integer k a vector that has 1 at k and 0 elsewhere.

    x            an integer or an array of integers; of one outside of the classes all is 0
    num_classes  how many classes there are
    dtype        of the result, float64 by default
    axis         where the vectors lie in the result; or the name of a mapped axis, of which each
                 element gets its own entry

    >>> one_hot(np.array([0, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    dtype = np.dtype(float if dtype is None else dtype)
    x = np.asarray(x)
    if isinstance(axis, str):
        return (x == axis_index(axis)).astype(dtype)
    wide = np.expand_dims(x, axis)
    place = axis % wide.ndim
    shape = [num_classes if k == place else 1 for k in range(wide.ndim)]
    return (wide == np.reshape(np.arange(num_classes), shape)).astype(dtype)


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """(x - mean) / sqrt(variance + epsilon).

    x               an array
    axis            an axis or a tuple of axes, over which mean and variance are taken; None: all
    mean, variance  if they are known; they broadcast against x
    epsilon         is added to the variance, so that it is not 0
    where           a boolean array: which elements the mean and the variance are taken of
    algorithm       of the variance: 'fast', mean(x**2) - mean(x)**2, loses digits where the mean
                    is large; 'stable' does not

    Raises ValueError for another algorithm.

    >>> standardize(np.array([1.0, 2.0, 3.0]), epsilon=0).round(4)
    array([-1.2247,  0.    ,  1.2247])
    """
    if algorithm not in ("fast", "stable"):
        raise ArgumentError(f"standardize: algorithm must be 'fast' or 'stable', not {algorithm!r}")
    # a number takes the dtype of x
    mean = _mean(x, axis, where) if mean is None else np.asarray(mean, np.result_type(x, mean))
    if variance is None and algorithm == "stable":
        variance = _mean(np.square(x - mean), axis, where)
    elif variance is None:
        variance = np.maximum(_mean(np.square(x), axis, where) - np.square(mean), 0)
    spread = np.asarray(variance + epsilon, np.result_type(x, variance))  # not wider than x
    return (x - mean) / np.sqrt(spread)


def _mean(x: Any, axis: Any, where: Any) -> Any:
    if where is None:
        return np.mean(x, axis=axis, keepdims=True)
    counted = np.where(where, np.ones_like(x), 0)
    total = np.sum(np.where(where, x, 0), axis=axis, keepdims=True)
    return total / np.sum(counted, axis=axis, keepdims=True)
