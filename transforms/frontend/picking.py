"""Elements of lists and tuples at an index that data decides.

    [a, b, c][k]      becomes      np.array([a, b, c])[k]

A list of the program that is stored to at such an index moves into a stack, as one does that a
loop appends to.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.errors import StructureError
from tapeless.transforms.frontend.dependence import decided_by_data
from tapeless.transforms.frontend.joining import join_types
from tapeless.transforms.frontend.locations import before_change
from tapeless.transforms.frontend.numpy_numbers import python_number
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol, apply
from tapeless.transforms.frontend.tails import alike, start_tail
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.values import Spec, certain, renewed, take_apart
from tapeless.transforms.ops.table import FUNCTIONS

NOTHING = object()


def picked(items: Any, k: Any) -> Any:
    """items[k]; NOTHING if the index is, or can be made, known, or the elements differ in kind."""
    _as_rows(items, k)
    if not _by_data(items, k):
        return NOTHING
    specs = [certain(take_apart(v)) for v in items]
    if not interchangeable(specs):
        return NOTHING
    if all(map(_of_numbers, specs)):
        return _number_at(specs, k)
    if type(items) is not StagedList:
        return NOTHING
    before_change(items)
    start_tail(items, specs[0], complete=True)
    return items.element(k)


def make_room(items: Any, k: Any, value: Any) -> None:
    """Prepares items[k] = value, unless the list is itself an element of one in stacks."""
    _as_rows(items, k)
    free = isinstance(items, StagedList) and id(items) not in trace().elements
    if free and _by_data(items, k):
        specs = [certain(take_apart(v)) for v in (*items, value)]
        if interchangeable(specs):
            start_tail(items, specs[-1], complete=True)


def _as_rows(items: Any, k: Any) -> None:
    """Lists of which data says which is meant are made anew, as rows."""
    made = items.rows_key if isinstance(items, StagedList) else None
    if made is not None and _is_index(k) and decided_by_data(k.value()):
        trace().decisions.as_rows(made)


def _is_index(k: Any) -> bool:
    return isinstance(k, Symbol) and k.type.dtype.kind in "iu" and not k.type.shape


def _by_data(items: Any, k: Any) -> bool:
    return (
        _is_index(k)
        and isinstance(items, (list, tuple))
        and getattr(items, "tail", None) is None
        and len(items) > 0
        and decided_by_data(k.value())
    )


def interchangeable(specs: list[Spec]) -> bool:
    """Whether values are built alike, of leaves whose types have one for both."""
    first, *others = specs
    if not all(alike(first, s) for s in others) or not list(first.leaves()):
        return False
    try:
        for leaves in zip(*(s.leaves() for s in specs), strict=True):
            functools.reduce(join_types, [a.type for a in leaves])
    except StructureError:
        return False
    return True


def _of_numbers(spec: Spec) -> bool:
    """Whether a value is a number, or a tuple of numbers."""
    if spec.kind == "leaf":
        return not isinstance(spec.value, Symbol) or not spec.value.mutable
    return issubclass(spec.kind, tuple) and all(map(_of_numbers, spec.children))


def _number_at(specs: list[Spec], k: Symbol) -> Any:
    if specs[0].kind != "leaf":
        parts = zip(*(s.children for s in specs), strict=True)
        return renewed(specs[0], [_number_at(list(part), k) for part in parts])
    made = apply(FUNCTIONS[np.array], [s.value for s in specs])[k]
    weak = all(a.type.weak for s in specs for a in s.leaves())
    return python_number(made) if weak else made
