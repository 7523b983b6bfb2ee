"""The record of what a staged run read from outside: inputs, and what is guarded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.exactly import exactly

SIMPLE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)


@dataclass
class Captured:
    """An array, or a number that changes, read from outside: `get()` fetches it at each call."""

    name: str
    get: Callable[[], Any]
    var: Var
    array: Any

    def sizes(self) -> Iterator[tuple[dims.Symbol, int]]:
        """What sizes stand for in this call, as far as this says."""
        value = self.get()
        pairs = [*zip(self.var.type.shape, value.shape, strict=True)] if self.var.type.shape else []
        if self.var.size is not None:
            pairs.append((self.var.size, int(value)))
        for size, n in pairs:
            for symbol in dims.symbols(size):
                yield symbol, n


@dataclass
class Guard:
    """Something read from outside that the program was specialised on."""

    name: str
    get: Callable[[], Any]
    value: Any

    def holds(self) -> bool:
        try:
            now = self.get()
        except (AttributeError, KeyError, IndexError, NameError, ValueError):
            return False
        if now is self.value:
            return True
        simple = isinstance(self.value, (*SIMPLE, tuple)) and type(now) is type(self.value)
        return simple and bool(exactly(now) == exactly(self.value))


class Constants(Guard):
    """Constants that a container holds: the same objects, or equal ones of the same types."""

    def holds(self) -> bool:
        try:
            now = self.get()
        except (AttributeError, KeyError, IndexError, NameError, ValueError):
            return False
        if len(now) != len(self.value):
            return False
        return all(map(operator.is_, now, self.value)) or exactly(now) == exactly(self.value)


def is_constant(value: Any) -> bool:
    """Whether an object is always the same: numbers and texts, and tuples of them."""
    if type(value) is tuple:
        return all(map(is_constant, value))
    return type(value) in SIMPLE[:-2] or isinstance(value, np.number)


def number_type(value: Any) -> Type:
    """The type of an input number: one of Python's is weak."""
    if isinstance(value, np.number):
        return Type(value.dtype)
    return Type(np.dtype(type(value)), (), True)


def input_type(
    array: np.ndarray[Any, Any], name: str, known: Container[int] = ()
) -> tuple[Type, list[Any]]:
    """The type of an input array: axes of length 0 and 1, and those in `known`, are known, the
    others get symbols."""
    symbols: list[Any] = []
    shape: list[Any] = []
    for k, n in enumerate(array.shape):
        if n < 2 or k in known:
            shape.append(int(n))
            symbols.append(None)
        else:
            made = dims.symbol(f"{name}.shape[{k}]", 2, given=True)
            shape.append(made)
            symbols.append(next(iter(dims.symbols(made))))
    return Type(array.dtype, tuple(shape)), symbols
