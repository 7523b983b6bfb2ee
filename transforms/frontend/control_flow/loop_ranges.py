"""Represents what a rolled loop can run over, as a range with an item for each index."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import atom, atom_of_size, size_of
from tapeless.transforms.core.language import (
    Atom,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.control_flow.branches import branch, choose, short_circuit
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS


@dataclass
class Sequence:
    """Something a rolled loop can run over: `count` items, the k-th made by `item`.

    For a range, `span` is (start, stop, step) and items are the indices themselves. `lists` are
    those whose elements are items.
    """

    span: tuple[Atom, Atom, Atom]
    item: Callable[[Any], Any]
    is_range: bool = False
    lists: tuple[StagedList, ...] = ()

    start = property(lambda self: wrap(self.span[0]))
    stop = property(lambda self: wrap(self.span[1]))
    step = property(lambda self: wrap(self.span[2]))

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

    def as_range(self) -> range:
        """The indices, made known while staging."""
        return range(*(operator.index(wrap(a)) for a in self.span))

    def __iter__(self) -> Iterator[Any]:
        return iter([self.item(k) for k in self.as_range()])

    def __len__(self) -> int:
        return len(self.as_range())

    def __getitem__(self, key: Any) -> Any:
        if not self.is_range:
            raise TypeError("an iterator is not subscriptable")
        return self.part(key) if isinstance(key, slice) else self.item_at(key)

    def item_at(self, k: Any) -> Any:
        """An item of a range."""
        n = wrap(atom_of_size(self.count))
        if isinstance(k, int):
            most = trace().value(self.count)
            if most is None or not -most <= k < most:
                return self.as_range()[k]
            trace().guard(">=", self.count, -k if k < 0 else k + 1)
            return self.start + (k if k >= 0 else n + k) * self.step
        test = short_circuit((lambda: k >= -n, lambda: k < n), True)
        branch(test, lambda: None, lambda: raise_(IndexError("range object index out of range")))
        return self.start + choose(k < 0, lambda: n + k, lambda: k) * self.step

    def part(self, key: slice) -> Any:
        """A slice of a range."""
        n, step = self.count, key.step
        if step == -1 and key.start is None and key.stop is None:
            last = self.start + (wrap(atom_of_size(n)) - 1) * self.step
            return _range(last, self.start - self.step, -self.step)
        low, high = _bound(key.start, 0, n), _bound(key.stop, n, n)
        if low is None or high is None or (step is not None and step < 1):
            return self.as_range()[key]
        low, high = (wrap(atom_of_size(b)) for b in (low, high))
        start, stop = self.start + low * self.step, self.start + high * self.step
        return _range(start, stop, self.step * (step or 1))

    def as_atom(self) -> Atom:
        return apply(FUNCTIONS[np.arange], *map(wrap, self.span)).value()  # type: ignore[no-any-return]


def _range(*span: Any) -> Sequence:
    start, stop, step = (atom(atoms(a)) for a in span)
    return Sequence((start, stop, step), lambda k: k, True)


def _bound(bound: Any, otherwise: dims.Size, n: dims.Size) -> dims.Size | None:
    """A bound of a slice of n items, counted from the front; None if it must be known."""
    if bound is None:
        return otherwise
    if not isinstance(bound, int):
        return None
    return trace().clamp(bound if bound >= 0 else n + bound, n)


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
        return indexed_sequence(iterable.type.shape[0], lambda k: iterable[k])
    if isinstance(iterable, StagedList) and iterable.tail is not None:
        length = iterable.length()
        stop = length.value() if isinstance(length, Symbol) else atom(length)
        return Sequence((atom(0), stop, atom(1)), iterable.element, lists=(iterable,))
    return None


def indexed_sequence(
    n: dims.Size, item: Callable[[Any], Any], parts: Iterable[Any] = ()
) -> Sequence:
    """n items; what they are made of, if that may be lists."""
    lists = tuple(x for part in parts for x in lists_of(part))
    return Sequence((atom(0), builder.atom_of_size(n), atom(1)), item, lists=lists)


def lists_of(x: Any) -> tuple[StagedList, ...]:
    """The lists that are run through where this is."""
    if isinstance(x, StagedList):
        return (x,)
    return x.lists if isinstance(x, Sequence) else ()
