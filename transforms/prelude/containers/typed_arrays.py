"""Implements arrays of Python's module `array`: lists whose items are numbers of one type."""

from __future__ import annotations

import array
from typing import Any

import numpy as np

__staged__ = True  # plain code: a staged run enters it

FLOATS = ("d", "f")
INTEGERS = tuple("bBhHiIlLqQ")


class TypedArray:
    """The methods of `array.array` for a typecode of numbers."""

    def __init__(self, typecode: Any, items: Any = ()) -> None:
        if typecode not in FLOATS + INTEGERS:
            raise NotImplementedError(f"array.array of typecode {typecode!r}: use a list")
        self.typecode, self.dtype = typecode, np.dtype(typecode)
        self.itemsize = self.dtype.itemsize
        self.items: Any = [self.convert(item) for item in items]

    def convert(self, item: Any) -> Any:
        """What an item becomes when it is stored."""
        if self.typecode in FLOATS:
            return float(item) if self.typecode == "d" else float(np.float32(item))
        if isinstance(item, float):
            raise TypeError("'float' object cannot be interpreted as an integer")
        limits = np.iinfo(self.dtype)
        if item < limits.min or item > limits.max:
            raise OverflowError("Python int out of the range of the array")
        return int(item)

    def array_of(self, items: Any) -> Any:
        """Another array of the type, of items that have it."""
        other = TypedArray(self.typecode)
        other.items = items
        return other

    def append(self, item: Any) -> None:
        self.items.append(self.convert(item))

    def extend(self, items: Any) -> None:
        for item in items:
            self.append(item)

    fromlist = extend

    def insert(self, k: Any, item: Any) -> None:
        self.items.insert(k, self.convert(item))

    def pop(self, k: Any = -1) -> Any:
        return self.items.pop(k)

    def remove(self, item: Any) -> None:
        self.items.remove(item)

    def reverse(self) -> None:
        self.items.reverse()

    def index(self, item: Any) -> Any:
        return self.items.index(item)

    def count(self, item: Any) -> Any:
        return self.items.count(item)

    def tolist(self) -> Any:
        return list(self.items)

    def __len__(self) -> Any:
        return len(self.items)

    def __iter__(self) -> Any:
        return iter(self.items)

    def __contains__(self, item: Any) -> Any:
        return item in self.items

    def __getitem__(self, k: Any) -> Any:
        return self.array_of(self.items[k]) if isinstance(k, slice) else self.items[k]

    def __setitem__(self, k: Any, item: Any) -> None:
        if not isinstance(k, slice):
            self.items[k] = self.convert(item)
        elif isinstance(item, TypedArray):
            self.items[k] = item.items
        else:
            raise TypeError("can only assign array to an array slice")

    def __delitem__(self, k: Any) -> None:
        del self.items[k]

    def __add__(self, other: Any) -> Any:
        return self.array_of(self.items + self.of_type(other).items)

    def __iadd__(self, other: Any) -> Any:
        self.items.extend(self.of_type(other).items)
        return self

    def of_type(self, other: Any) -> Any:
        """Another array, which has to have the same type."""
        if not isinstance(other, TypedArray):
            raise TypeError("can only append array to array")
        if other.typecode != self.typecode:
            raise TypeError("bad argument type for built-in operation")
        return other

    def __mul__(self, n: Any) -> Any:
        return self.array_of(self.items * n)

    __rmul__ = __mul__

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, TypedArray) and self.items == other.items

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # arrays change

    def __array__(self) -> Any:
        return np.array(self.items, dtype=self.dtype)

    def __repr__(self) -> str:
        return f"array({self.typecode!r}, {self.items!r})" if self.items else "array()"


PYTHON: dict[Any, Any] = {array.array: TypedArray}
