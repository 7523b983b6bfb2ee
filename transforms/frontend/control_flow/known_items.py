"""Rolls loops over known items, which need not be written once for each.

for d in (-1, 0, 1): ...                  becomes      for d in range(-1, 2): ...
for a, c in [(a0, c0), (a1, c1), ...]:    becomes      a, c = array([a0, a1, ...])[k], ...

A body that has loops of its own is reason enough for a few numbers. Other items lie in arrays where
the program would become very long else (`Decisions.compact`).
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.frontend.control_flow.loop_ranges import indexed_sequence
from tapeless.transforms.frontend.heap.indexed_choice import (
    have_one_type,
    interchangeable,
    move_to_columns,
    note_objects,
)
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.tables import Table, name_of
from tapeless.transforms.frontend.source.tree_building import hidden_name
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import (
    Structure,
    flatten,
    require_defined,
)

FEW = 3  # items that are written out, whatever is done with them, are fewer


def as_loop(items: Any, body: Callable[[Any], Any], key: Any) -> Any:
    """What a loop runs over in the place of known items."""
    if key in trace().decisions.unroll:
        return items
    if (arrays := in_arrays(items)) is not items or not _are_known(items):
        return arrays
    if len(items) < FEW or not _has_loop(body):
        return items
    if all(type(v) is int for v in items):
        return _as_range(tuple(items)) if isinstance(items, tuple) else items
    specs = [require_defined(flatten(v)) for v in items]
    return _in_table(items, specs) if _are_alike(specs, _of_reals) else items


def in_arrays(items: Any) -> Any:
    """Known items as loops run over them where the program is to be compact: a list that the
    program makes moves into stacks, what others hold is read. Other items as they are."""
    if not _are_known(items):
        return items
    t = trace()
    note_objects(items)
    if not t.decisions.compact or all(type(v) is int for v in items):
        return items
    specs = [require_defined(flatten(v)) for v in items]
    if _are_alike(specs, _of_reals):
        return _in_table(items, specs)
    if have_one_type(specs):
        move_to_columns(items, specs)
    return items


def _are_known(items: Any) -> bool:
    return (
        isinstance(items, (tuple, StagedList))
        and own_attribute(items, "tail") is None
        and len(items) > 1
    )


def _as_range(items: tuple[int, ...]) -> Any:
    start, step = items[0], items[1] - items[0]
    steps = range(start, start + step * len(items), step) if step else ()
    return steps if tuple(steps) == items else items


def _in_table(items: Any, specs: list[Structure]) -> Any:
    each, table = list(items), Table(specs, name_of(items))

    def item(k: Any) -> Any:
        return each[k] if isinstance(k, int) else table.value_at(k)

    return indexed_sequence(len(each), item)


def _are_alike(specs: list[Structure], fits: Callable[[Structure], bool]) -> bool:
    return all(map(fits, specs)) and interchangeable(specs) and have_one_type(specs)


def _of_reals(spec: Structure) -> bool:
    """Numbers, or tuples of numbers, that are no integers: integers may be asked for."""
    if spec.kind == "leaf":
        dtype = spec.atom.type.dtype if spec.atom is not None else np.dtype(type(spec.value))
        return dtype.kind in "fc" and not own_attribute(spec.value, "mutable")
    return spec.kind is tuple and all(map(_of_reals, spec.children))


def _has_loop(body: Any) -> bool:
    """Whether the rewritten body of a loop has loops in it, also in branches."""
    codes = [getattr(body, "__code__", None)]
    for code in codes:
        inner = [c for c in getattr(code, "co_consts", ()) if isinstance(c, types.CodeType)]
        if any(c.co_name.startswith(hidden_name("body")) for c in inner):
            return True
        codes += inner
    return False


def has_changed(items: Any, before: list[Any]) -> bool:
    """Whether a loop over known items has changed the list."""
    now = None if own_attribute(items, "tail") is not None else list(items)
    return now is None or len(now) != len(before) or any(map(lambda a, b: a is not b, now, before))
