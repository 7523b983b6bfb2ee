"""Computes prefixes of a sequence under an associative function (`associative_scan`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import tree
from tapeless.lax.arrays import rev
from tapeless.lax.loop_body_types import (
    checked_axis,
    checked_combined,
    checked_function,
    checked_lengths,
)

__staged__ = True  # plain NumPy code: a staged run enters it


def associative_scan(fn: Any, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The prefixes e0, fn(e0, e1), fn(fn(e0, e1), e2), ... of a sequence.

    fn       (a, b) to values like a and b, for many pairs at once along the axis; associative
    elems    a tree of arrays whose lengths along the axis are the same
    reverse  suffixes instead, with fn(later, earlier)
    axis     that of the sequence

    Takes 2 log2(n) calls of fn on 2 n pairs in all, by sweeps up and down a binary tree: R. Brent,
    H. Kung, "A regular layout for parallel adders", IEEE Transactions on Computers 31 (1982).
    Raises TypeError where fn changes the structure or the dtypes, ValueError for lengths that
    differ.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  2.,  6., 24.])
    """
    checked_function("associative_scan", "fn", fn)
    leaves, structure = tree.flatten(elems)
    axis = checked_axis("associative_scan", axis, leaves)
    n = checked_lengths("associative_scan", leaves, axis)
    arrays = [np.copy(rev(x, (axis,)) if reverse else x) for x in leaves]
    step = 1
    while 2 * step <= n:
        _combine(fn, arrays, structure, axis, (step - 1, n - step, 2 * step), 2 * step - 1)
        step = 2 * step
    while step >= 1:
        if 3 * step <= n:
            _combine(fn, arrays, structure, axis, (2 * step - 1, n - step, 2 * step), 3 * step - 1)
        step = step // 2
    return tree.unflatten(structure, [rev(x, (axis,)) if reverse else x for x in arrays])


def _combine(fn: Any, arrays: Any, structure: Any, axis: int, before: Any, start: Any) -> None:
    """Makes each element from `start` on, in the same steps, fn of the one before and itself."""
    first, stop, step = before
    ahead = (slice(None),) * axis + (slice(first, stop, step),)
    here = (slice(None),) * axis + (slice(start, None, step),)
    earlier = tree.unflatten(structure, [x[ahead] for x in arrays])
    later = tree.unflatten(structure, [x[here] for x in arrays])
    combined = checked_combined(arrays, structure, fn(earlier, later))
    for x, new in zip(arrays, combined, strict=True):
        x[here] = new
