"""Reads values that are built alike from arrays: one for each number that they hold.

[(a0, b0), (a1, b1)][k]      becomes      np.array([a0, a1])[k], np.array([b0, b1])[k]
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.frontend.arrays.number_types import record_types_of
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, constant, wrap
from tapeless.transforms.frontend.values.container_aliases import freeze
from tapeless.transforms.frontend.values.structure import Structure, rebuild
from tapeless.transforms.ops.function_table import FUNCTIONS


class Table:
    """Numbers, or tuples, lists and dicts of such, that are built alike."""

    def __init__(self, specs: list[Structure], name: str = "") -> None:
        """specs  the values, taken apart
        name   what the list is called that has them
        """
        self.specs, first = specs, specs[0]
        self.numbers = table([s.value for s in specs], name) if first.kind == "leaf" else None
        labels = first.keys if first.kind is dict else range(len(first.children))
        parts = zip(*(s.children for s in specs), strict=True)
        self.parts = [
            Table(list(part), _name_of_part(name, label))
            for part, label in zip(parts, labels, strict=True)
        ]

    def value_at(self, k: Any) -> Any:
        """The value at an index; a list or a dict can be read only."""
        first = self.specs[0]
        if self.numbers is None:
            value = rebuild(first, [part.value_at(k) for part in self.parts])
            sources = (s.value for s in self.specs)
            return value if issubclass(first.kind, tuple) else freeze(value, *sources)
        leaves = [a for s in self.specs for a in s.leaves()]
        number = self.numbers[k]
        number = python_number(number) if all(a.type.weak for a in leaves) else number
        record_types_of(number, leaves)
        return number


def table(numbers: list[Any], name: str = "") -> Any:
    """An array of numbers, which is called like the list that they are of."""
    if any(isinstance(x, Symbol) for x in numbers):
        symbol = apply(FUNCTIONS[np.array], numbers)
    else:
        array = np.array(numbers)
        symbol = wrap(constant(_known_table(array.tobytes(), array.dtype), name))
    value = symbol.value()
    if isinstance(value, Var):
        value.name = value.name or name
    return symbol


@functools.lru_cache(maxsize=256)
def _known_table(contents: bytes, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """One array for all lists of these numbers, so that the program has one."""
    return np.frombuffer(contents, dtype)


def name_of(items: Any) -> str:
    """What a list is called by the variable that held it first, or where it was read from."""
    name = getattr(items, "name", "")
    return name if name.isidentifier() else ""


def _name_of_part(name: str, label: Any) -> str:
    """What the table is called that has one part of each value."""
    full = f"{name}_{label}"
    return full if name and full.isidentifier() else name
