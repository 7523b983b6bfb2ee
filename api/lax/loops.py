"""Loops over functions: `scan`, `map`, `while_loop`, `fori_loop`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import tree
from tapeless.lax.loop_body_types import (
    checked_carry,
    checked_function,
    checked_index,
    checked_length,
    checked_pair,
    checked_test,
    checked_unroll,
    checked_values,
    kept_after,
    kept_ahead,
)
from tapeless.lax.transformations import knows_types_only, run_staged, vmap_once
from tapeless.transforms.core.builder import active

__staged__ = True  # plain NumPy code: a staged run enters it


def scan(
    f: Any,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    unroll: Any = 1,
    _split_transpose: bool = False,
) -> Any:
    """Carries a value along the first axis of arrays, and keeps one value for each step.

    f        (carry, x) to (carry, y), where x is a row of xs; the carry keeps its structure, shapes
             and dtypes
    init     the first carry: a tree of numbers and arrays
    xs       a tree of arrays of shape (n, ...), or None
    length   n, needed where xs has no arrays
    reverse  go from the last row to the first; the values that are kept stay with their rows
    unroll   accepted, and of no effect: the loop stays a loop

    Returns the last carry and the tree of all y, stacked along a new first axis. Raises TypeError
    for a body that does not return such a pair, ValueError for lengths that differ.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    checked_function("scan", "f", f)
    checked_unroll("scan", unroll)
    checked_values("scan", "init", init)
    rows, structure = tree.flatten(xs)
    n = checked_length("scan", rows, length)
    if not active() and n == 0:
        return run_staged(lambda c, x: scan(f, c, x, length, reverse), init, xs)
    kept: Any = kept_ahead(f, init, rows, structure, n) if knows_types_only() else None
    carry = init
    for t in reversed(range(n)) if reverse else range(n):
        x = tree.unflatten(structure, [row[t] for row in rows])
        after, y = checked_pair("scan", f(carry, x))
        if kept is None:
            checked_carry("scan", carry, after)
            kept = kept_after(y, n)
        carry = after
        for ys, leaf in zip(kept.arrays, kept.leaves(y), strict=True):
            ys[t] = leaf
    return carry, kept.tree(kept.arrays)


def map(f: Any, xs: Any, *, batch_size: Any = None) -> Any:
    """f of each row of arrays, one after the other; the results stacked along a new first axis.

    f           a row of xs to a tree of numbers and arrays
    xs          a tree of arrays of shape (n, ...)
    batch_size  so many rows at once, as `vmap` does them; 0: all

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.map(lambda x: x * x, np.array([1.0, 2.0, 3.0]))
    array([1., 4., 9.])
    """
    checked_function("map", "f", f)
    if batch_size is None:
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    rows, structure = tree.flatten(xs)
    n = checked_length("map", rows, None)
    size = checked_index("map", batch_size, "batch_size")
    if size == 0 or n <= size:
        return vmap_once(f)(xs)
    whole = n // size * size
    parts = [np.reshape(row[:whole], (n // size, size, *row.shape[1:])) for row in rows]
    results = scan(lambda _, x: ((), vmap_once(f)(x)), (), tree.unflatten(structure, parts))[1]
    results = tree.map(_merge_leading_axes, results)
    if n % size == 0:
        return results
    rest = vmap_once(f)(tree.unflatten(structure, [row[whole:] for row in rows]))
    return tree.map(lambda a, b: np.concatenate([a, b]), results, rest)


def _merge_leading_axes(x: Any) -> Any:
    return np.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def while_loop(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """Passes a value through a function while a test holds.

    cond_fun  value to one boolean
    body_fun  value to value, of the same structure, shapes and dtypes
    init_val  the first value: a tree of numbers and arrays

    Returns the first value for which the test fails. Differentiable in both modes. Raises
    TypeError for a test that is not one boolean, and for a body that changes the types.

    >>> from tapeless import lax
    >>> lax.while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
    192
    """
    checked_function("while_loop", "cond_fun", cond_fun)
    checked_function("while_loop", "body_fun", body_fun)
    checked_values("while_loop", "init_val", init_val)
    value = init_val
    while checked_test("while_loop", cond_fun(value), "what cond_fun returns"):
        value = checked_carry("while_loop", value, body_fun(value))
    return value


def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any, *, unroll: Any = None) -> Any:
    """Passes a value through a function for each integer of a range.

    lower     the first integer
    upper     the one after the last; there is no pass where it is not above `lower`
    body_fun  (integer, value) to value, of the same structure, shapes and dtypes
    init_val  the first value: a tree of numbers and arrays
    unroll    accepted, and of no effect: the loop stays a loop

    Differentiable in both modes, also where the bounds are data. Raises TypeError for bounds that
    are no integers, and for a body that changes the types.

    >>> from tapeless import lax
    >>> lax.fori_loop(1, 5, lambda i, product: product * i, 1)
    24
    """
    checked_function("fori_loop", "body_fun", body_fun)
    checked_unroll("fori_loop", 1 if unroll is None else unroll)
    checked_values("fori_loop", "init_val", init_val)
    start = checked_index("fori_loop", lower, "lower")
    stop = checked_index("fori_loop", upper, "upper")
    value = init_val
    for i in range(start, stop):
        value = checked_carry("fori_loop", value, body_fun(i, value))
    return value
