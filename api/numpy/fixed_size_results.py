"""Gives results whose length depends on run-time values a static length, by `size` and
`fill_value`.

JAX asks for `size` wherever it compiles; here it also lets such functions go over batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def pack_rows(wanted: Any, values: Any, size: Any, fill_value: Any) -> Any:
    """The rows of `values` where `wanted` is true, in front; after them `fill_value`, which is the
    first of these rows where it is left out."""
    if fill_value is None:
        fill_value = values[np.argmax(wanted)]
    place = np.where(wanted, np.cumsum(wanted) - 1, size)
    rows = np.full((size + 1, *np.shape(values)[1:]), fill_value, values.dtype)
    rows[np.minimum(place, size)] = values
    return rows[:size]


def positions(mask: Any, size: Any, fill_value: Any) -> Any:
    """The indices of the true elements, an array for each axis."""
    mask = np.asarray(mask) != 0
    line = mask.reshape(-1)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * np.ndim(mask)
    grids = np.indices(mask.shape)
    return tuple(
        pack_rows(line, grids[k].reshape(-1), size, 0 if fills[k] is None else fills[k])
        for k in range(np.ndim(mask))
    )


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """np.nonzero; with `size`, so many indices, those that are missing `fill_value`.

    >>> import tapeless.numpy as jnp
    >>> jnp.nonzero(jnp.array([0, 3, 0, 4]), size=3, fill_value=-1)
    (Array([ 1,  3, -1], dtype=int64),)
    """
    if size is None:
        return np.nonzero(a)
    return positions(a, size, fill_value)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """np.flatnonzero; with `size`, so many indices, those that are missing `fill_value`."""
    return nonzero(np.ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """np.argwhere; with `size`, so many rows, those that are missing `fill_value`."""
    if size is None:
        return np.argwhere(a)
    return np.stack(positions(a, size, fill_value), axis=-1)


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """np.where; without x and y, `nonzero`.

    >>> import tapeless.numpy as jnp
    >>> jnp.where(jnp.arange(3) > 0, 1.0, 0.0)
    Array([0., 1., 1.], dtype=float64)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    return np.where(condition, x, y)


def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """np.extract; with `size`, so many elements, those that are missing `fill_value`."""
    return compress(np.ravel(condition), np.ravel(arr), size=size, fill_value=fill_value)


def compress(
    condition: Any,
    a: Any,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = 0,
) -> Any:
    """np.compress; with `size`, so many entries, those that are missing `fill_value`."""
    if size is None:
        return np.compress(condition, a, axis)
    rows = np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, 0)
    wanted = np.asarray(condition) != 0
    kept = pack_rows(wanted, rows[: wanted.shape[0]], size, fill_value)
    return kept if axis is None else np.moveaxis(kept, 0, axis)


def mask_indices(n: int, mask_func: Any, k: Any = 0, *, size: int | None = None) -> Any:
    """np.mask_indices; with `size`, so many indices, those that are missing 0."""
    return nonzero(mask_func(np.ones((n, n)), k), size=size)


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Any:
    """np.bincount; with `length`, the counts of 0 to length - 1.

    Negative numbers count as 0 where there is a length, as in JAX.
    """
    if length is None:
        return np.bincount(x, weights, minlength)
    x = np.asarray(x)
    each = np.ones(x.shape, np.intp) if weights is None else np.asarray(weights)
    counts = np.zeros(length + 1, each.dtype)
    np.add.at(counts, np.clip(x, 0, length), each)
    return counts[:length]


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Any:
    """np.repeat; with `total_repeat_length`, so many entries: the last one goes on, or some end.

    >>> import tapeless.numpy as jnp
    >>> jnp.repeat(jnp.array([1, 2]), jnp.array([2, 1]), total_repeat_length=4)
    Array([1, 1, 2, 2], dtype=int64)
    """
    if total_repeat_length is None:
        return np.repeat(a, repeats, axis)
    rows = np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, 0)
    ends = np.cumsum(np.broadcast_to(np.asarray(repeats), (rows.shape[0],)))
    places = np.searchsorted(ends, np.arange(total_repeat_length), side="right")
    repeated = rows[np.minimum(places, rows.shape[0] - 1)]
    return repeated if axis is None else np.moveaxis(repeated, 0, axis)
