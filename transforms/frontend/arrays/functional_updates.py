"""Stages functional updates, JAX's spelling of stores: `x.at[key].set(v)` is a changed copy of
x."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.numpy.ufunc_at import kind, may_repeat, one_by_one

__staged__ = True  # plain NumPy code: a staged run enters it

MODES = {
    "promise_in_bounds": None,
    "fill_or_drop": "drop",
    "fill": "drop",
    "drop": "drop",
    "clip": "clip",
}


class At:
    """What `x.at` is: an index chooses elements."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> Chosen:
        indexed = Chosen(self.array, key)
        return trace().born(indexed) if active() else indexed

    def __repr__(self) -> str:
        return f"At({self.array!r})"


class Chosen:
    """Elements of an array, which are read or replaced in a copy of it.

    An index out of bounds raises IndexError, as in NumPy, unless `mode` says otherwise: "drop" and
    "fill" leave such elements out and read `fill_value` for them, "clip" takes the nearest one.
    `indices_are_sorted`, `unique_indices` and `out_sharding` are JAX's hints.
    """

    def __init__(self, array: Any, key: Any) -> None:
        self.array, self.key = array, key

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """x[key]."""
        mode = mode_of(mode)
        if mode is None and wrap_negative_indices:
            return self.array[self.key]
        fill = default_fill(self.array) if fill_value is None else fill_value
        wide, key = with_bounded_index(
            self.array, self.key, mode or "drop", fill, wrap_negative_indices
        )
        return as_class_of(self.array, wide[key])

    def set(self, values: Any, **how: Any) -> Any:
        """x after x[key] = values."""
        return self.apply_change(store, values, **how)

    def add(self, values: Any, **how: Any) -> Any:
        """x after x[key] += values; an element that is named twice gets both."""
        return self.apply_change(add, values, **how)

    def subtract(self, values: Any, **how: Any) -> Any:
        """x after x[key] -= values; an element that is named twice gets both."""
        return self.apply_change(subtract, values, **how)

    def multiply(self, values: Any, **how: Any) -> Any:
        """x after x[key] *= values; an element that is named twice gets both."""
        return self.apply_change(multiply, values, **how)

    def divide(self, values: Any, **how: Any) -> Any:
        """x after x[key] /= values; an element that is named twice gets both."""
        return self.apply_change(divide, values, **how)

    def power(self, values: Any, **how: Any) -> Any:
        """x after x[key] **= values; an element that is named twice gets both."""
        return self.apply_change(power, values, **how)

    def min(self, values: Any, **how: Any) -> Any:
        """x after x[key] = minimum(x[key], values)."""
        return self.apply_change(minimum, values, **how)

    def max(self, values: Any, **how: Any) -> Any:
        """x after x[key] = maximum(x[key], values)."""
        return self.apply_change(maximum, values, **how)

    def apply(self, func: Any, **how: Any) -> Any:
        """x after x[key] = func(x[key]); an element that is named twice goes through it twice."""
        return self.apply_change(apply, func, **how)

    mul = multiply

    def apply_change(
        self,
        change: Any,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """A copy in which the elements were changed."""
        mode = mode_of(mode)
        if mode is None and wrap_negative_indices:
            copied = np.copy(self.array)
            change(copied, self.key, values, unique_indices)
            return as_class_of(self.array, copied)
        wide, key = with_bounded_index(
            self.array, self.key, mode or "drop", 0, wrap_negative_indices
        )
        change(wide, key, values, unique_indices)
        everything = tuple(slice(None, n) for n in self.array.shape)
        return as_class_of(self.array, wide[everything])


# -- changes: each overwrites elements


def store(array: Any, key: Any, values: Any, unique: bool) -> None:
    array[key] = values


def add(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] += values
    else:
        np.add.at(array, key, values)


def subtract(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] -= values
    else:
        np.subtract.at(array, key, values)


def multiply(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] *= values
    else:
        np.multiply.at(array, key, values)


def divide(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] /= values
    else:
        np.divide.at(array, key, values)


def power(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] **= values
    else:
        np.power.at(array, key, values)


def minimum(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] = np.minimum(array[key], values)
    else:
        np.minimum.at(array, key, values)


def maximum(array: Any, key: Any, values: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] = np.maximum(array[key], values)
    else:
        np.maximum.at(array, key, values)


def apply(array: Any, key: Any, func: Any, unique: bool) -> None:
    if unique or not may_repeat(key):
        array[key] = func(array[key])
    else:
        one_by_one(func, array, key)


# -- indices out of bounds


def mode_of(mode: Any) -> str | None:
    """What to do with an index that is out of bounds; None: raise IndexError."""
    if mode is None:
        return None
    name = str(getattr(mode, "name", mode)).lower()
    if name not in MODES:
        raise ArgumentError(
            f".at: mode is {mode!r}", "there are 'drop', 'fill', 'clip' and 'promise_in_bounds'"
        )
    return MODES[name]


def with_bounded_index(array: Any, key: Any, mode: str, fill: Any, wrap: bool) -> Any:
    """A copy of the array and an index that is in its bounds: with mode "drop", the copy has one
    more element along each axis that is indexed by integers, and `fill` there."""
    entries = list(key) if isinstance(key, tuple) else [key]
    axes = axes_of(entries, np.ndim(array))
    places = [k for k, e in enumerate(entries) if axes[k] >= 0 and not isinstance(e, slice)]
    for k in places:
        entries[k] = position(np.asarray(entries[k]), array.shape[axes[k]], mode, wrap)
    if mode == "clip":
        return np.copy(array), tuple(entries)
    wider = [axes[k] for k in places]
    widths = [(0, 1 if axis in wider else 0) for axis in range(np.ndim(array))]
    return np.pad(array, widths, constant_values=fill), tuple(entries)


def position(index: Any, n: Any, mode: str, wrap: bool) -> Any:
    """An index in 0 to n, where n stands for all that are out of bounds; up to n - 1 to clip."""
    if wrap:
        index = np.where(index < 0, index + n, index)
    if mode == "clip":
        return np.clip(index, 0, n - 1)
    return np.where((index < 0) | (index >= n), n, index)


def axes_of(entries: Any, ndim: int) -> list[int]:
    """The axis that each entry of an index chooses from; -1 for those of none or of masks."""
    axes_per_entry = [axes_taken(e) for e in entries]
    rest = ndim - sum(axes_per_entry)
    axes, axis = [], 0
    for e, n in zip(entries, axes_per_entry, strict=True):
        axes.append(axis if n == 1 and kind(e) != "b" else -1)
        axis += rest if e is Ellipsis else n
    return axes


def axes_taken(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return np.ndim(entry) if not isinstance(entry, slice) and kind(entry) == "b" else 1


def default_fill(array: Any) -> Any:
    """What reading out of bounds gives: NaN, or the integer that JAX takes."""
    dtype = array.dtype
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return True
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if dtype.kind == "i" else limits.max)


def as_class_of(array: Any, value: Any) -> Any:
    """What was made, as an array of the same class."""
    if type(value) is np.ndarray and type(array) is not np.ndarray and not active():
        return value.view(type(array))
    return value
