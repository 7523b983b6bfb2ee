"""Stands for arrays of classes derived from np.ndarray: an array, and what the class adds to it.

A staged run puts `DerivedArray` in the place of np.ndarray among the bases of a user's class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__staged__ = True  # plain code: a staged run enters it


class DerivedArray:
    """What np.ndarray gives to classes that are derived from it."""

    __elements__: Any  # the array
    __array_ufunc__ = None  # operators of plain arrays leave it to those of this class

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None) -> Any:
        elements = np.empty(shape, dtype) if buffer is None else np.reshape(buffer, shape)
        if elements.dtype != np.dtype(dtype):
            raise NotImplementedError("a buffer of another dtype: use np.asarray(x, dtype)")
        return array_of_class(cls, elements, None)

    def __array_finalize__(self, obj: Any) -> None:
        """Sets the attributes of a new array, made from `obj`."""

    def __of_class__(self, elements: Any) -> Any:
        """An array of the class, made from this one."""
        return array_of_class(self.__class__, elements, self)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__elements__

    def __len__(self) -> Any:
        return len(self.__elements__)

    def __iter__(self) -> Any:
        return (part_of_class(self, element) for element in self.__elements__)

    def __getitem__(self, key: Any) -> Any:
        return part_of_class(self, self.__elements__[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__elements__[key] = elements_of(value)

    def __contains__(self, value: Any) -> Any:
        return value in self.__elements__

    def __bool__(self) -> Any:
        return bool(self.__elements__)

    def __float__(self) -> Any:
        return float(self.__elements__)

    def __int__(self) -> Any:
        return int(self.__elements__)

    @property
    def shape(self) -> Any:
        return self.__elements__.shape

    @property
    def ndim(self) -> Any:
        return self.__elements__.ndim

    @property
    def size(self) -> Any:
        return self.__elements__.size

    @property
    def dtype(self) -> Any:
        return self.__elements__.dtype

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's)
        return part_of_class(self, self.__elements__.T)

    flat = property(lambda self: self.__elements__.flat)

    @property
    def real(self) -> Any:
        return part_of_class(self, self.__elements__.real)

    @property
    def imag(self) -> Any:
        return part_of_class(self, self.__elements__.imag)


def _forward(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return ufunc(self, other)

    return operator


def _reflect(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return ufunc(other, self)

    return operator


def _in_place(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        ufunc(self.__elements__, elements_of(other), out=self.__elements__)
        return self

    return operator


def _of_one(ufunc: np.ufunc) -> Callable[[Any], Any]:
    def operator(self: Any) -> Any:
        return ufunc(self)

    return operator


def array_of_class(cls: Any, elements: Any, source: Any) -> Any:
    """An array of a class, of these elements, made from `source`."""
    array = object.__new__(cls)
    array.__elements__ = elements
    array.__array_finalize__(source)
    return array


def part_of_class(source: Any, result: Any) -> Any:
    """A part of an array: of its class, or a number."""
    return source.__of_class__(result) if np.ndim(result) else result


def elements_of(value: Any) -> Any:
    """The plain array of one of a derived class; other values as they are."""
    return value.__elements__ if isinstance(value, DerivedArray) else value


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
UNARY = {"neg": np.negative, "pos": np.positive, "invert": np.invert, "abs": np.absolute}

for _name, _ufunc in BINARY.items():
    setattr(DerivedArray, f"__{_name}__", _forward(_ufunc))
    setattr(DerivedArray, f"__r{_name}__", _reflect(_ufunc))
    setattr(DerivedArray, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in COMPARISONS.items():
    setattr(DerivedArray, f"__{_name}__", _forward(_ufunc))
for _name, _ufunc in UNARY.items():
    setattr(DerivedArray, f"__{_name}__", _of_one(_ufunc))
DerivedArray.__hash__ = None  # type: ignore[assignment]  # arrays change
