"""Keeps the named axes that are mapped at a point of a staged run, with their lengths."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core.builder import NeedStatic, atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import TapelessError

_mapped = threading.local()


class AxisError(TapelessError, NameError):
    """A collective over an axis that is not mapped here."""


@dataclass(frozen=True, eq=False)
class Axis:
    """A mapped axis with a name.

    size    its length, over all shards
    index   the position of each element, where a shard holds some of them; None: it holds all
    shards  what emitted code calls the place where shards meet
    """

    name: Any
    size: Size
    index: Atom | None = None
    shards: str = ""

    @property
    def length(self) -> int:
        """Its length as an integer, which becomes part of the signature."""
        if isinstance(self.size, int):
            return self.size
        raise NeedStatic(atom_of_size(self.size), f"the length of the axis {self.name!r} is needed")

    def __repr__(self) -> str:
        return repr(self.name)


@contextmanager
def bound(axis: Axis | None) -> Iterator[None]:
    """Inside, collectives find the axis by its name."""
    before = _open()
    _mapped.axes = before if axis is None else (axis, *before)
    try:
        yield
    finally:
        _mapped.axes = before


def _open() -> tuple[Axis, ...]:
    return getattr(_mapped, "axes", ())


def axis_named(name: Any, what: str) -> Axis:
    """The innermost axis of that name."""
    for axis in _open():
        if axis.name == name:
            return axis
    names = ", ".join(repr(axis.name) for axis in _open())
    raise AxisError(
        f"{what}: no axis {name!r} is mapped here" + (f", only {names}" if names else ""),
        f"map a function over it: vmap(f, axis_name={name!r}), or pmap",
    )
