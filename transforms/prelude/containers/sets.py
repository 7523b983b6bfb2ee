"""Implements sets as sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def firsts(ordered: Any) -> Any:
    """Which elements of a sorted array differ from the one before."""
    return np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """What is in both."""
    if return_indices:
        raise UnsupportedError("np.intersect1d with return_indices=", "search with np.searchsorted")
    line = np.sort(np.ravel(ar1))
    if assume_unique:
        line = np.sort(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))
        return line[:-1][line[1:] == line[:-1]]
    return line[np.isin(line, np.ravel(ar2)) & firsts(line)]


def union1d(ar1: Any, ar2: Any) -> Any:
    """What is in either."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """What is in the first only."""
    line = np.ravel(ar1) if assume_unique else np.sort(np.ravel(ar1))
    wanted = ~np.isin(line, np.ravel(ar2))
    return line[wanted] if assume_unique else line[wanted & firsts(line)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """What is in one of them only."""
    first, second = np.ravel(ar1), np.ravel(ar2)
    if not assume_unique:
        first, second = np.unique(first), np.unique(second)
    line = np.sort(np.concatenate([first, second]))
    if line.shape[0] == 0:
        return line
    changes, end = line[1:] != line[:-1], np.ones(1, bool)
    return line[np.concatenate([end, changes]) & np.concatenate([changes, end])]


def unique_all(x: Any) -> Any:
    """Values, where they are first, which one each element is, how often each is there."""
    return type(np.unique_all([0]))(*np.unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any) -> Any:
    """Values, and how often each is there."""
    return type(np.unique_counts([0]))(*np.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any) -> Any:
    """Values, and which one each element is."""
    return type(np.unique_inverse([0]))(*np.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any) -> Any:
    """Values."""
    return np.unique(x, equal_nan=False)


NUMPY = {
    np.intersect1d: intersect1d,
    np.union1d: union1d,
    np.setdiff1d: setdiff1d,
    np.setxor1d: setxor1d,
    np.unique_all: unique_all,
    np.unique_counts: unique_counts,
    np.unique_inverse: unique_inverse,
    np.unique_values: unique_values,
}
