"""What a rolled loop can run over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import atom, size_of
from tapeless.transforms.core.language import (
    Atom,
)
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol


@dataclass
class Sequence:
    """Something a rolled loop can run over: `count` items, the k-th made by `item`.

    For a range, `span` is (start, stop, step) and items are the indices themselves.
    """

    span: tuple[Atom, Atom, Atom]
    item: Callable[[Any], Any]
    is_range: bool = False

    @property
    def count(self) -> dims.Size:
        start, stop, step = (size_of(a) for a in self.span)
        if step == 1:
            return dims.maximum(stop - start, 0)
        if isinstance(step, int) and step > 1:
            return dims.maximum((stop - start + (step - 1)) // step, 0)
        if isinstance(step, int) and step < 0:
            return dims.maximum((start - stop + (-step - 1)) // -step, 0)
        return dims.symbol("count", 0)


def sequence(iterable: Any) -> Sequence | None:
    """The rolled form of an iterable; None if it can only be run through as Python does."""
    if isinstance(iterable, Sequence):
        return iterable
    if isinstance(iterable, range):
        return Sequence(
            (atom(iterable.start), atom(iterable.stop), atom(iterable.step)), lambda k: k, True
        )
    if isinstance(iterable, Symbol):
        if not iterable.type.shape:
            raise TypeError("iteration over a 0-d array")
        return counted(iterable.type.shape[0], lambda k: iterable[k])
    if isinstance(iterable, StagedList) and iterable.tail is not None:
        length = iterable.length()
        stop = length.value() if isinstance(length, Symbol) else atom(length)
        return Sequence((atom(0), stop, atom(1)), iterable.element)
    return None


def counted(n: dims.Size, item: Callable[[Any], Any]) -> Sequence:
    return Sequence((atom(0), builder.size_atom(n), atom(1)), item)
