"""Reduces windows that slide over an array: `reduce_window`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import tree
from tapeless.lax import elementwise
from tapeless.lax.loop_body_types import checked_function
from tapeless.lax.operand_checks import checked_array, checked_number
from tapeless.lax.sliding_windows.lengths import dilated_length
from tapeless.lax.sliding_windows.windows import (
    checked_numbers,
    counts,
    pad_axes,
    pads_of,
    part,
    sizes_where,
)
from tapeless.lax.transformations import vmap_once
from tapeless.numpy.array_functions import own

__staged__ = True  # plain NumPy code: a staged run enters it


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Any,
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Combines the elements of each window that slides over an array.

    operand            an array, or a tree of arrays of one shape
    init_value         a number to begin with, also outside of the array; a tree of them
    computation        (a, b) to the two combined: numbers, or trees of numbers
    window_dimensions  the lengths of the window, one for each axis
    window_strides     how far apart the windows are; 1 by default
    padding            "SAME", "SAME_LOWER", "VALID", or (low, high) for each axis
    base_dilation      spreads the operand, with init_value in between
    window_dilation    spreads the window

    Differentiable; of equal greatest or least elements the first one in the window has the
    derivative. With "SAME" and a stride, the length of the axis becomes part of the signature of a
    staged run. Raises TypeError and ValueError for lengths that do not fit.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> image = np.arange(16.0).reshape(4, 4)
    >>> lax.reduce_window(image, -np.inf, lax.max, (2, 2), (2, 2))
    array([[ 5.,  7.],
           [13., 15.]])
    """
    name = "reduce_window"
    checked_function(name, "computation", computation)
    leaves, structure = tree.flatten(operand)
    arrays = [checked_array(name, x) for x in leaves]
    inits = [
        checked_number(name, "init_value", x, a.dtype)
        for x, a in zip(structure.flatten_up_to(init_value), arrays, strict=True)
    ]
    n = arrays[0].ndim
    window = checked_numbers(name, "window_dimensions", window_dimensions, n)
    strides = checked_numbers(name, "window_strides", window_strides, n)
    spread = checked_numbers(name, "base_dilation", base_dilation, n)
    dilation = checked_numbers(name, "window_dilation", window_dilation, n)
    moves = [k * s * b > 1 for k, s, b in zip(window, strides, spread, strict=True)]
    if not isinstance(padding, str):
        pairs = pads_of(name, padding, window, window, strides)
        moves = [move or pair != (0, 0) for move, pair in zip(moves, pairs, strict=True)]
    axes = tuple([k for k in range(n) if moves[k]])
    window, strides, spread, dilation = [
        tuple([values[k] for k in axes]) for values in (window, strides, spread, dilation)
    ]
    sizes = sizes_where(arrays, axes)
    wide = [dilated_length(k, d) for k, d in zip(window, dilation, strict=True)]
    if not isinstance(padding, str):
        padding = [padding[k] for k in axes]
    pads = pads_of(name, padding, sizes, wide, strides)
    out = counts(sizes, window, strides, pads, spread, dilation)
    arrays = [pad_axes(x, init, axes, pads, spread) for x, init in zip(arrays, inits, strict=True)]
    moves_of = (axes, window, out, strides, dilation)
    totals = [_start(x, init, axes, out) for x, init in zip(arrays, inits, strict=True)]
    return tree.unflatten(
        structure, _combine_windows(_combiner(computation, structure), totals, arrays, 0, moves_of)
    )


def _start(x: Any, init: Any, axes: Any, out: Any) -> Any:
    shape = list(x.shape)
    for axis, n in zip(axes, out, strict=True):
        shape[axis] = n
    return np.full(tuple(shape), init, x.dtype)


def _combine_windows(combine: Any, totals: Any, arrays: Any, k: int, moves: Any) -> Any:
    """Goes over the places of the window along the axes from the number k on."""
    if k == len(moves[0]):
        return combine(totals, arrays)
    axis, window, out, stride, dilation = [values[k] for values in moves]
    for i in range(window):
        seen = [part(x, axis, i * dilation, out, stride) for x in arrays]
        totals = _combine_windows(combine, totals, seen, k + 1, moves)
    return totals


def _combiner(computation: Any, structure: Any) -> Any:
    """(what was found so far, what comes now) to the two combined, as lists of arrays."""
    computation = own(computation)
    if computation in (elementwise.max, np.maximum):
        return lambda totals, seen: [_pick(totals[0], seen[0], seen[0] > totals[0])]
    if computation in (elementwise.min, np.minimum):
        return lambda totals, seen: [_pick(totals[0], seen[0], seen[0] < totals[0])]
    if computation in (elementwise.add, np.add):
        return lambda totals, seen: [totals[0] + seen[0]]
    if computation in (elementwise.mul, np.multiply):
        return lambda totals, seen: [totals[0] * seen[0]]
    each = by_element(computation)

    def combine(totals: Any, seen: Any) -> Any:
        both = each(tree.unflatten(structure, totals), tree.unflatten(structure, seen))
        return structure.flatten_up_to(tree.plain(both))

    return combine


def _pick(best: Any, seen: Any, better: Any) -> Any:
    """The better of two, the first where they are equal; NaN is the best."""
    if seen.dtype.kind == "f":
        better = np.logical_or(better, np.isnan(seen))
    return np.where(better, seen, best)


def by_element(fun: Any) -> Any:
    """A function of numbers for arrays of them, which have one shape."""

    def run(a: Any, b: Any) -> Any:
        shape = tree.leaves(a)[0].shape
        flat = [tree.map(lambda x: np.reshape(x, (-1,)), each) for each in (a, b)]
        return tree.map(lambda x: np.reshape(x, shape), vmap_once(fun)(*flat))

    return run
