"""Draws among elements: categories, samples, permutations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_axis,
    checked_choice,
    checked_fit,
    checked_key,
    checked_matrix,
    checked_population,
    checked_probability,
    checked_sample,
    checked_shape,
)
from tapeless.random.continuous import standard_gumbel
from tapeless.random.uniforms import integers_between

__staged__ = True  # plain NumPy code: a staged run enters it

MODES = (None, "low", "high", "highest")


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: Any = None,
) -> Any:
    """Categories drawn by their log-probabilities.

    logits   array of floats; exp(logits), made to add up to 1 along the axis, is the probability
    axis     where the categories are
    shape    of the result, to which the other axes broadcast; theirs by default
    replace  False: the leading axes of `shape` hold different categories
    mode     of the Gumbel numbers, see `gumbel`

    Returns int64, without replacement int32, as JAX does. By the largest of Gumbel numbers (W.
    Kool, H. van Hoof, M. Welling, "Stochastic beams and where to find them", 2019).

    >>> from tapeless import random
    >>> random.categorical(random.key(0), np.log(np.array([0.1, 0.2, 0.7])), shape=(6,))
    Array([2, 2, 2, 1, 1, 2], dtype=int64)
    """
    checked_choice("categorical", "mode", mode, MODES)
    logits = checked_matrix("categorical", "logits", logits, 1)
    dtype = checked_probability("categorical", logits, "logits")
    axis = checked_axis("categorical", axis, logits.ndim)
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    shape = checked_fit("categorical", shape, batch)
    lead = shape[: len(shape) - len(batch)]
    if replace:
        key = checked_key("categorical", key)
        rest = shape[len(lead) :]
        whole = (*lead, *rest[:axis], logits.shape[axis], *rest[axis:])
        return np.argmax(standard_gumbel(key, whole, dtype, mode) + logits, axis=axis - logits.ndim)
    number = math.prod(lead)
    checked_sample("categorical", number, logits.shape[axis])
    key = checked_key("categorical", key)
    scores = np.moveaxis(logits + standard_gumbel(key, logits.shape, dtype, mode), axis, -1)
    return np.reshape(np.moveaxis(_largest(scores, number), -1, 0), shape).astype(np.int32)


def _largest(scores: Any, number: Any) -> Any:
    """Where the largest scores are, in falling order."""
    return np.argsort(-scores, axis=-1, kind="stable")[..., :number]


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: Any = None,
) -> Any:
    """Elements drawn from an array.

    a        array, or an integer n for np.arange(n)
    shape    of the sample, a tuple of integers
    replace  whether an element may be drawn again
    p        probabilities of the elements; all the same by default
    axis     along which elements are taken
    mode     of the Gumbel numbers that choose without replacement by p, see `gumbel`

    Returns an array of shape (*a.shape[:axis], *shape, *a.shape[axis + 1:]).

    >>> from tapeless import random
    >>> random.choice(random.key(0), np.array([2.0, 3.0, 5.0]), (4,))
    Array([2., 5., 5., 5.], dtype=float64)
    """
    checked_choice("choice", "mode", mode, MODES)
    shape, a = checked_shape("choice", shape), checked_population("choice", a)
    number = math.prod(shape)
    axis = checked_axis("choice", axis, max(a.ndim, 1))
    total = a.shape[axis] if a.ndim else int(a)
    checked_sample("choice", number, total, replace)
    if p is not None:
        p = checked_matrix("choice", "p", p, 1)
        checked_fit("choice", (total,), np.shape(p))
    key = checked_key("choice", key)
    if p is None and not replace and a.ndim:
        taken = np.take(_permute_axis(key, a, axis), np.arange(number), axis)
        return np.reshape(taken, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))
    if p is None:
        places = _places(key, shape, number, total, replace)
    else:
        places = _places_by(key, shape, number, replace, p, mode)
    places = np.reshape(places, shape)
    return np.take(a, places, axis) if a.ndim else places


def _places(key: Any, shape: Any, number: Any, total: Any, replace: bool) -> Any:
    if not replace:
        return shuffle_lines(key, np.arange(total), 0)[:number]
    low, high = np.zeros(1, np.int64), np.reshape(as_array(total), (1,))
    return integers_between(key, shape, low, high, np.dtype(np.int64))


def _places_by(key: Any, shape: Any, number: Any, replace: bool, p: Any, mode: Any) -> Any:
    p = p if p.dtype.kind == "f" else p.astype(np.float64)
    if replace:
        steps = np.cumsum(p)
        return np.searchsorted(steps, steps[-1] * (1 - checked_bits.unit(key, shape, p.dtype)))
    possible = p > 0
    logarithm = np.where(possible, np.log(np.where(possible, p, p.dtype.type(1))), -np.inf)
    return _largest(standard_gumbel(key, p.shape, p.dtype, mode) + logarithm, number)


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """The elements of an array in random order.

    x            array, or an integer n for np.arange(n)
    axis         along which elements change places
    independent  each line along the axis gets an order of its own

    >>> from tapeless import random
    >>> random.permutation(random.key(0), 5)
    Array([0, 1, 4, 3, 2], dtype=int64)
    """
    x = checked_population("permutation", x)
    axis = checked_axis("permutation", axis, max(x.ndim, 1))
    key = checked_key("permutation", key)
    if x.ndim == 0:
        return shuffle_lines(key, np.arange(int(x)), 0)
    return shuffle_lines(key, x, axis) if independent else _permute_axis(key, x, axis)


def shuffle(key: Any, x: Any, axis: int = 0) -> Any:
    """`permutation` with an order of its own for each line along the axis.

    >>> from tapeless import random
    >>> random.shuffle(random.key(0), np.array([2.0, 3.0, 5.0]))
    Array([2., 3., 5.], dtype=float64)
    """
    return permutation(key, x, axis, True)


def _permute_axis(key: Any, x: Any, axis: int) -> Any:
    if x.ndim == 1:
        return shuffle_lines(key, x, 0)
    return np.take(x, shuffle_lines(key, np.arange(x.shape[axis]), 0), axis)


# Sorting by 32 random bits leaves ties in order. So many rounds make them harmless: 2 of 3 elements
# in a third power of the size get different keys.
ROUNDS = (1, 1625, 2642245)


def shuffle_lines(key: Any, x: Any, axis: int) -> Any:
    """Lines in random order, by sorting them by random bits."""
    size = math.prod(x.shape)
    for few in ROUNDS:
        if size > few:
            keys = checked_bits.split(key)
            key = keys[0]
            order = np.argsort(checked_bits.bits(keys[1], x.shape, 32), axis=axis, kind="stable")
            x = np.take_along_axis(x, order, axis=axis)
    return x
