"""Records what a staged run read from outside: inputs, and what is guarded."""

from __future__ import annotations

import marshal
import operator
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.constants import exactly
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.readers import GONE, ValuesOf

MANY = 8  # containers in another one
PLAIN = {list, tuple, dict}
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
        except GONE:
            return False
        if now is self.value:
            return True
        simple = isinstance(self.value, (*SIMPLE, tuple)) and type(now) is type(self.value)
        return simple and bool(exactly(now) == exactly(self.value))

    @property
    def contents(self) -> Callable[[], Any] | None:
        """Reads the container of which the guard compares several parts; None if it compares one
        object."""
        return self.get.get if isinstance(self.get, ValuesOf) else None


class KnownAddress(Guard):
    """An object of which the program knows where it is in memory, as `id`, `hash` and the texts of
    objects tell: no other one is as good."""


@dataclass
class NamedRead:
    """Something read from outside that is guarded together with what it is in."""

    name: str


class Constants(Guard):
    """Constants that a container holds: the same objects, or equal ones of the same types."""

    def holds(self) -> bool:
        try:
            now = self.get()
        except GONE:
            return False
        if len(now) != len(self.value):
            return False
        return all(map(operator.is_, now, self.value)) or exactly(now) == exactly(self.value)


class FrozenConstants(Constants):
    """A list, tuple or dict of many such with constants: all of it is compared at once."""

    @property
    def contents(self) -> Callable[[], Any] | None:
        return self.get

    def holds(self) -> bool:
        try:
            return bool(snapshot(self.get()) == self.value)
        except GONE:
            return False


def snapshot(value: Any) -> tuple[bytes, int]:
    """What such a container holds, and how many objects that is; ValueError for others."""
    parts = value.values() if isinstance(value, dict) else value
    return marshal.dumps(value, 2), len(set(map(id, parts)))


def is_frozen(value: Any) -> bool:
    """Whether a container is one of many lists, tuples or dicts of constants, each another one."""
    if type(value) not in PLAIN:
        return False
    parts = (*value.values(),) if type(value) is dict else value
    kinds = set(map(type, parts))
    if len(parts) < MANY or not kinds <= PLAIN or len(set(map(id, parts))) < len(parts):
        return False
    keys = (*value, *(k for p in parts if type(p) is dict for k in p)) if dict in kinds else ()
    contents = (v for p in parts for v in (p.values() if type(p) is dict else p))
    return all(map(_is_plain, (*keys, *contents, *(value if type(value) is dict else ()))))


def _is_plain(value: Any) -> bool:
    """Whether `marshal` tells a constant from all others."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in (bool, int, float, complex, str, type(None))


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
    array: np.ndarray[Any, Any], name: str, fixed_axes: Container[int] = ()
) -> tuple[Type, list[Any]]:
    """The type of an input array: axes of length 0 and 1, and those in `known`, are known, the
    others get symbols."""
    symbols: list[Any] = []
    shape: list[Any] = []
    for k, n in enumerate(array.shape):
        if n < 2 or k in fixed_axes:
            shape.append(int(n))
            symbols.append(None)
        else:
            size = dims.symbol(f"{name}.shape[{k}]", 2, given=True)
            shape.append(size)
            symbols.append(next(iter(dims.symbols(size))))
    return Type(array.dtype, tuple(shape)), symbols
