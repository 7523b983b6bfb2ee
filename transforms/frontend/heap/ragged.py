"""Stages lists of lists, tuples or arrays that the program does not make, at a run-time index: one
array of all items, and where each of them begins in it.

graph[u]      becomes      items[begins[u]:ends[u]]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, constant, wrap
from tapeless.transforms.frontend.heap.lists import StagedList, from_arrays
from tapeless.transforms.frontend.heap.tables import table
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import freeze
from tapeless.transforms.frontend.values.structure import Structure
from tapeless.transforms.ops.function_table import FUNCTIONS


def are_rows(specs: list[Structure]) -> bool:
    """Whether these are lists, or tuples, of known lengths, some of which hold anything."""
    lists = all(isinstance(s.kind, type) and issubclass(s.kind, list) for s in specs)
    return (lists or all(s.kind is tuple for s in specs)) and any(s.children for s in specs)


def row_of(
    specs: list[Structure], k: Any, sources: Iterable[Any] | None = None, name: str = ""
) -> StagedList:
    """One of several lists or tuples, which is read only; the items of all are built alike.
    `sources` are the containers that they are of, `name` what the list is called that has them."""
    flat = list(itertools.chain.from_iterable(s.children for s in specs))
    values = zip(*(s.leaf_values() for s in flat), strict=True)
    columns: list[Any] = [table(list(column), name) for column in values]
    weak = [all(a.type.weak for a in row) for row in zip(*(s.leaves() for s in flat), strict=True)]
    part = _part([len(s.children) for s in specs], k, name)
    row = from_arrays(flat[0], [column[part] for column in columns], weak)
    if specs[0].kind is tuple:
        row.stands_for = tuple
    return freeze(row, *(sources or (s.value for s in specs)))  # type: ignore[no-any-return]


def consecutive_items(items: StagedList, first: Any, last: Any) -> StagedList:
    """Some of the items of a list that follow one another, which are read only."""
    assert items.tail is not None
    parts = [column[first:last] for column in items.arrays()]
    return freeze(from_arrays(items.tail.spec, parts, [t.weak for t in items.tail.items]), items)  # type: ignore[no-any-return]


def are_arrays(specs: list[Structure]) -> bool:
    """Whether these are arrays that can lie one after the other."""
    types = [s.atom.type for s in specs if s.atom is not None and is_array(s.value)]
    if len(types) < len(specs) or not all(t.shape for t in types):
        return False
    first = types[0]
    return all(
        t.dtype == first.dtype
        and t.ndim == first.ndim
        and all(map(trace().same_size, t.shape[1:], first.shape[1:]))
        for t in types
    )


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, Symbol) and value.mutable)


def array_of(specs: list[Structure], k: Any) -> Symbol:
    """One of several arrays, which is read only."""
    arrays = [s.value if isinstance(s.value, Symbol) else wrap(constant(s.value)) for s in specs]
    elements = apply(FUNCTIONS[np.concatenate], arrays)
    row: Any = elements[_part([x.type.shape[0] for x in arrays], k)]
    symbol = Symbol(row.value(), is_array=True)
    symbol.read_only = True
    trace().memory.share(symbol.cell, set().union(*(x.memory() for x in arrays)))
    return symbol


def _part(lengths: list[Any], k: Any, name: str = "") -> slice:
    """The place of the k-th of several parts of these lengths."""
    if all(isinstance(n, int) for n in lengths):
        ends: Any = np.cumsum(lengths)
        bounds = {"begins": ends - lengths, "ends": ends}
        of = name and f"{name}_"
        return slice(*(table(numbers.tolist(), of + b)[k] for b, numbers in bounds.items()))
    counts = apply(FUNCTIONS[np.array], [wrap(atom_of_size(n)) for n in lengths])
    ends = apply(FUNCTIONS[np.cumsum], counts)
    return slice((ends - counts)[k], ends[k])
