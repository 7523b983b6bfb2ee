"""Computes unique elements and set operations; with `size`, of a static length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeless.numpy.fixed_size_results import pack_rows
from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


class UniqueAll(NamedTuple):
    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    values: Any
    inverse_indices: Any


def firsts(ordered: Any, equal_nan: bool = True) -> Any:
    """Which elements of a sorted array differ from the one before."""
    if ordered.shape[0] == 0:
        return np.zeros(0, bool)
    differs = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind == "f":
        differs = differs & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    return np.concatenate([np.ones(1, bool), differs])


def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """np.unique; with `size`, so many values, those that are missing `fill_value`, which is the
    least value where it is left out.

    >>> import tapeless.numpy as jnp
    >>> jnp.unique(jnp.array([3, 1, 3]), size=3)
    Array([1, 3, 1], dtype=int64)
    """
    if size is None:
        return np.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    if axis is not None:
        raise UnsupportedError("jnp.unique with axis= and size=", "leave one of them out")
    line = np.ravel(ar)
    order = np.argsort(line, kind="stable")
    ordered = line[order]
    starts = firsts(ordered, equal_nan)
    values = pack_rows(starts, ordered, size, fill_value)
    group = np.cumsum(starts) - 1
    results = [values]
    if return_index:
        results.append(pack_rows(starts, order, size, None))
    if return_inverse:
        inverse = np.zeros(line.shape, np.intp)
        inverse[order] = group
        results.append(inverse.reshape(np.shape(ar)))
    if return_counts:
        counts = np.zeros(size + 1, np.intp)
        np.add.at(counts, np.minimum(group, size), 1)
        results.append(counts[:size])
    return results[0] if len(results) == 1 else tuple(results)


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """np.unique_all; with `size` as `unique`."""
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """np.unique_counts; with `size` as `unique`."""
    return UniqueCounts(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """np.unique_inverse; with `size` as `unique`."""
    return UniqueInverse(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
    """np.unique_values, sorted; with `size` as `unique`."""
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """np.union1d; with `size` as `unique`.

    >>> import tapeless.numpy as jnp
    >>> jnp.union1d(jnp.array([1, 2]), jnp.array([2, 5]))
    Array([1, 2, 5], dtype=int64)
    """
    both = np.concatenate([np.ravel(ar1), np.ravel(ar2)])
    return unique(both, size=size, fill_value=fill_value)


def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """np.setdiff1d; with `size`, so many values, those that are missing `fill_value`, or 0."""
    if size is None:
        return np.setdiff1d(ar1, ar2, assume_unique)
    line = np.ravel(ar1) if assume_unique else np.sort(np.ravel(ar1))
    wanted = ~np.isin(line, ar2)
    if not assume_unique:
        wanted = wanted & firsts(line)
    return pack_rows(wanted, line, size, 0 if fill_value is None else fill_value)


def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """np.setxor1d; with `size` as `unique`."""
    if size is None:
        return np.setxor1d(ar1, ar2, assume_unique)
    first, second = np.ravel(ar1), np.ravel(ar2)
    line = np.sort(np.concatenate([first, second]))
    wanted = firsts(line) & (np.isin(line, first) != np.isin(line, second))
    return pack_rows(wanted, line, size, fill_value)


def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: Any = False,
    return_indices: Any = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """np.intersect1d; with `size` as `unique`, then without `return_indices`."""
    if size is None:
        return np.intersect1d(ar1, ar2, assume_unique, return_indices)
    if return_indices:
        raise UnsupportedError("jnp.intersect1d with return_indices and size=")
    line = np.sort(np.ravel(ar1))
    wanted = np.isin(line, np.ravel(ar2)) & firsts(line)
    return pack_rows(wanted, line, size, fill_value)
