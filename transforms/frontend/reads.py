"""The record of what a staged run read from outside: inputs, and what is guarded."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type, Var

SIMPLE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)


@dataclass
class Captured:
    """An array read from outside: `get()` fetches it anew at each call."""

    name: str
    get: Callable[[], Any]
    var: Var
    array: Any


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
        return (
            isinstance(self.value, (*SIMPLE, tuple))
            and type(now) is type(self.value)
            and bool(now == self.value or (now != now and self.value != self.value))
        )


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
