"""Picks elements of lists of objects or arrays at a run-time index, and stores to them
under a test of the index.

    box = boxes[k]        box is one of several;     box.n += 1      is a branch that changes one

This is so where a program is staged again because two names may hold one container: then
branches and loops carry which container a variable stands for, and not what is in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch, short_circuit
from tapeless.transforms.frontend.control_flow.constant_choices import option_at
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.references import GuardedRef
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.dependence import decided_by_data
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import has_identity

OUT_OF_RANGE = "list index out of range"


def chosen_by_data(items: Any, k: Any) -> bool:
    """Whether a run-time value picks one of these, of which each is an object of its own."""
    return (
        trace().identities
        and isinstance(items, (list, tuple))
        and own_attribute(items, "tail") is None
        and len(items) > 0
        and isinstance(k, Symbol)
        and k.type.dtype.kind in "iu"
        and not k.type.shape
        and decided_by_data(k.value())
        and any(has_identity(v) or (isinstance(v, Symbol) and v.mutable) for v in items)
    )


def element(items: Any, k: Any) -> Any:
    """items[k]: one of the objects, or of the arrays."""
    position = _checked_index(k, len(items))
    options = tuple(items)
    if not all(isinstance(v, Value) and v.mutable for v in options):
        return option_at(position, options)
    chosen = options[-1]
    for n in reversed(range(len(options) - 1)):
        chosen = GuardedRef(position.value(), (options[n], chosen), n)
    return chosen


def store_element(items: list[Any], k: Any, store: Callable[[int], None]) -> None:
    """items[k] = value: `store` puts the value at a known place."""
    position = _checked_index(k, len(items))
    for n in range(len(items)):
        branch(position == n, functools.partial(store, n), lambda: None)


def _checked_index(k: Any, length: int) -> Any:
    """An index from the start on; raises IndexError where there is no such item."""
    inside = short_circuit((lambda: k >= -length, lambda: k < length), True)
    branch(inside, lambda: None, lambda: raise_(IndexError(OUT_OF_RANGE)))
    return k % length
