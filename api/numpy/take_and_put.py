"""Takes and puts elements by functions that overwrite nothing, with JAX's modes for indices out of
bounds.

Without a mode, an index out of bounds raises IndexError, as in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.frontend.arrays.functional_updates import At, default_fill, mode_of

__staged__ = True  # plain NumPy code: a staged run enters it


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """np.take, with JAX's modes.

    mode  None and "promise_in_bounds" raise IndexError out of bounds; "fill" reads `fill_value`
          there, "clip" the nearest element, "wrap" counts on from the start

    >>> import tapeless.numpy as jnp
    >>> jnp.take(jnp.array([1.0, 2.0]), jnp.array([1, 5]), mode="fill")
    Array([ 2., nan], dtype=float64)
    """
    line = np.ravel(a) if axis is None else np.asarray(a)
    axis = 0 if axis is None else axis % np.ndim(line)
    indices = np.asarray(indices)
    if mode == "wrap":
        indices, mode = indices % line.shape[axis], None
    key = (slice(None),) * axis + (indices,)
    wrap = mode != "clip"  # as NumPy and JAX
    return At(line)[key].get(mode=mode, fill_value=fill_value, wrap_negative_indices=wrap)


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Any:
    """np.take_along_axis, with the modes of `take`."""
    line = np.ravel(arr) if axis is None else np.asarray(arr)
    axis = 0 if axis is None else axis % np.ndim(line)
    indices, n = np.asarray(indices), line.shape[axis]
    kind = mode_of(mode)
    wrap = wrap_negative_indices is None or wrap_negative_indices
    if wrap and kind is not None:
        indices = np.where(indices < 0, indices + n, indices)
    if kind is None:
        return np.take_along_axis(line, indices, axis)
    taken = np.take_along_axis(line, np.clip(indices, 0, n - 1), axis)
    if kind == "clip":
        return taken
    fill = default_fill(line) if fill_value is None else fill_value
    return np.where((indices < 0) | (indices >= n), np.asarray(fill, taken.dtype), taken)


def checked_copy(a: Any, inplace: bool, name: str) -> Any:
    """A copy to write to."""
    if inplace:
        raise ArgumentError(
            f"jnp.{name} changes no array in place", "pass inplace=False and use what it returns"
        )
    return np.array(a)


def put(a: Any, ind: Any, v: Any, mode: Any = None, *, inplace: bool = True) -> Any:
    """A copy of `a` after np.put; `inplace` must be False.

    >>> import tapeless.numpy as jnp
    >>> jnp.put(jnp.zeros(3), 1, 5.0, inplace=False)
    Array([0., 5., 0.], dtype=float64)
    """
    changed = checked_copy(a, inplace, "put")
    np.put(changed, ind, v, mode="raise" if mode is None else mode)
    return changed


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """A copy of `arr` after np.place; `inplace` must be False."""
    changed = checked_copy(arr, inplace, "place")
    np.place(changed, mask, vals)
    return changed


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: Any = None
) -> Any:
    """A copy of `arr` after np.put_along_axis; `inplace` must be False."""
    changed = checked_copy(arr, inplace, "put_along_axis")
    if mode_of(mode) is not None:
        raise ArgumentError(
            f"jnp.put_along_axis with mode={mode!r}", "use .at[...].set(values, mode=...)"
        )
    np.put_along_axis(changed, np.asarray(indices), values, axis)
    return changed


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A copy of `a` after np.fill_diagonal; `inplace` must be False."""
    changed = checked_copy(a, inplace, "fill_diagonal")
    np.fill_diagonal(changed, val, wrap)
    return changed
