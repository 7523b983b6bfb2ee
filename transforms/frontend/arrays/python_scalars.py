"""Gives symbols that stand for numbers the attributes that Python's numbers have."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Type
from tapeless.transforms.frontend.arrays.number_types import same_for_all
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.ops.function_table import METHODS

OF_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def class_of(x: Symbol) -> type:
    """type(x)"""
    if x.type.shape or x.is_array:
        return np.ndarray
    return same_for_all(x, x.type, number_class)


def number_class(t: Type) -> type:
    """type(x) of a number of a type of the program."""
    return OF_PYTHON[t.dtype.kind] if t.weak else t.dtype.type


def has_attribute(x: Symbol, name: str) -> bool:
    """hasattr(x, name)"""
    return any(name in vars(c) for c in class_of(x).__mro__)


def is_python_number(x: Any) -> bool:
    """Whether a symbol stands for a number of Python's, which has no attributes of arrays."""
    return isinstance(x, Symbol) and x.type.weak and not x.is_array and not x.type.shape


def is_ours(function: Any) -> bool:
    """Whether a function is of our libraries, which take numbers for arrays."""
    return (function.__module__ or "").startswith("tapeless.")


def items_of(x: Any, function: Any) -> None:
    """x[...] in a function"""
    if is_python_number(x) and not is_ours(function):
        raise TypeError(f"'{class_of(x).__name__}' object is not subscriptable")


def _bit_count(x: Any) -> Any:
    """x.bit_count() of an integer"""
    return python_number(np.bitwise_count(x))


def attribute_of(x: Symbol, name: str, function: Any) -> Any:
    """x.name in a function; methods of integers need the integer."""
    absent = is_python_number(x) and not name.startswith("__") and not has_attribute(x, name)
    if absent and not is_ours(function):
        raise AttributeError(f"'{class_of(x).__name__}' object has no attribute '{name}'")
    ours = name in METHODS or hasattr(Symbol, name)
    if ours or x.type.shape or name.startswith("__") or not has_attribute(x, name):
        return getattr(x, name)
    if name == "is_integer":
        number: Any = x
        return functools.partial(operator.eq, number % 1, 0)
    if name == "bit_count":
        return functools.partial(_bit_count, x)
    if x.type.weak:
        kind = OF_PYTHON[x.type.dtype.kind]
        return getattr(kind(x), name)
    return getattr(x, name)
