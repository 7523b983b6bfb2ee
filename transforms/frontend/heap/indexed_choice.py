"""Stages elements of lists and tuples at an index that is known only at run time.

    [a, b, c][k]      becomes      np.array([a, b, c])[k]

A list of the program that is stored to at such an index moves into a stack, as one does that a
loop appends to.
"""

from __future__ import annotations

import enum
import functools
import itertools
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import StructureError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.heap.coded_constants import differ_in_constants, with_codes
from tapeless.transforms.frontend.heap.list_columns import same_structure, to_columns
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import before_change
from tapeless.transforms.frontend.heap.ragged import (
    are_arrays,
    are_rows,
    array_of,
    is_array,
    row_of,
)
from tapeless.transforms.frontend.heap.tables import Table, name_of
from tapeless.transforms.frontend.trace.dependence import decided_by_data
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import is_program_object
from tapeless.transforms.frontend.values.join import join_types
from tapeless.transforms.frontend.values.structure import (
    Structure,
    flatten,
    require_defined,
)
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.known_keys import Found

NOTHING = object()
#: What does not change, and is told apart by its place.
CONSTANTS = (str, bytes, type(None), enum.Enum, np.ufunc, FunctionType, BuiltinFunctionType)
MOST = 16  # items that are told apart by their places


def pick_element(hooks: Any, items: Any, k: Any) -> Any:
    """items[k]; NOTHING if the index is, or can be made, known, or the elements differ in kind."""
    _as_rows(items, k)
    if isinstance(k, slice):
        return _part(items, k)
    if (specs := _choices(items, k)) is None:
        return NOTHING
    if interchangeable(specs) and all(map(_of_numbers, specs)):
        return Table(specs, name_of(items)).value_at(k)
    if move_to_columns(items, specs):
        return items.element(k)
    return _read_only(hooks, specs, k, name_of(items))


def _part(items: Any, k: slice) -> Any:
    """items[k], where the program is to be compact and the index of a loop says what is meant."""
    bounds = [x for x in (k.start, k.stop) if _is_index(x)]
    specs = _choices(items, bounds[0]) if bounds and trace().decisions.compact else None
    return items.part(k) if specs is not None and move_to_columns(items, specs) else NOTHING


def _choices(items: Any, k: Any) -> list[Structure] | None:
    """The elements of which an index means one when the program runs; None if it is, or can be
    made, known while staging. Integers and floats at the index of a loop are told apart so."""
    if not _by_data(items, k):
        return None
    specs = [require_defined(flatten(v)) for v in items]
    return specs if decided_by_data(k.value()) or have_one_type(specs) else None


def move_to_columns(items: Any, specs: list[Structure]) -> bool:
    """Moves the elements of a list that the program makes into stacks, if they are alike."""
    if type(items) is not StagedList or not trace().birth(items):
        return False
    if trace().decisions.compact:
        for obj in _objects_in(specs):
            trace().decisions.as_values(type(obj))
    alike = _fit_one_list(items, specs)
    if alike:
        before_change(items)
        to_columns(items, specs[0], complete=True)
    return alike


def _fit_one_list(items: Any, specs: list[Structure]) -> bool:
    """Whether elements of these kinds can be in stacks; texts and objects as numbers."""
    if interchangeable(specs):
        return True
    if all(same_structure(specs[0], s) for s in specs) or not all(
        differ_in_constants(specs[0], s) for s in specs
    ):
        return False
    trace().decisions.codable = True
    first, *others = specs
    like = with_codes(first, items) if trace().decisions.codes else None
    return like is not None and interchangeable(
        [like, *(with_codes(s, items, like) for s in others)]
    )


def _objects_in(specs: Iterable[Structure]) -> Iterator[Any]:
    """The objects of the program that are not taken for what they hold."""
    for spec in specs:
        if spec.kind == "static" and is_program_object(spec.value):
            yield spec.value
        yield from _objects_in(spec.children)


def _read_only(hooks: Any, specs: list[Structure], k: Any, name: str) -> Any:
    """One of several containers or arrays that run-time values do not make, to be read."""
    if all(map(_of_values, specs)) and interchangeable(specs):
        _need_one_type(specs)
        return Table(specs, name).value_at(k)
    if are_arrays(specs):
        return array_of(specs, k)
    if all(s.kind is dict for s in specs) and any(s.keys for s in specs):
        sides = [[flatten(tuple(part(s.value))) for s in specs] for part in (dict, dict.values)]
        if all(map(_are_rows_of_numbers, sides)):
            dicts = [s.value for s in specs]
            return hooks.call(Found, *(row_of(side, k, dicts) for side in sides))
    return row_of(specs, k, name=name) if _are_rows_of_numbers(specs) else NOTHING


def _are_rows_of_numbers(specs: list[Structure]) -> bool:
    inner = [c for s in specs for c in s.children] if are_rows(specs) else []
    fits = bool(inner) and interchangeable(inner) and all(map(_of_numbers, inner))
    if fits:
        _need_one_type(inner)
    return fits


def _need_one_type(specs: list[Structure]) -> None:
    """Refuses integers and floats at one place: they would all be floats."""
    columns = zip(*(s.leaves() for s in specs), strict=True)
    if any(len({a.type.dtype for a in column}) > 1 for column in columns):
        raise UnsupportedError(
            "data picks from containers of which some hold integers and others floats",
            "make all of them floats: 1.0",
        )


def make_room(items: Any, k: Any, value: Any) -> None:
    """Prepares items[k] = value, unless the list is itself an element of one in stacks."""
    _as_rows(items, k)
    free = isinstance(items, StagedList) and id(items) not in trace().containers.elements
    if free and _by_data(items, k):
        specs = [require_defined(flatten(v)) for v in (*items, value)]
        if _fit_one_list(items, specs):
            to_columns(items, specs[-1], complete=True)


def _as_rows(items: Any, k: Any) -> None:
    """Lists of which run-time values say which is meant are made anew, as rows."""
    allocation = items.rows_key if isinstance(items, StagedList) else None
    if allocation is not None and _is_index(k) and decided_by_data(k.value()):
        trace().decisions.as_rows(allocation)


def place_among_constants(items: Any, k: Any) -> Any:
    """The place that an index from data means, counted from the first item, where items are
    constants of Python's, as texts and functions, or tuples of these and of numbers; None for
    other items."""
    specs = None if trace().tracing else _choices(items, k)
    if specs is None or not 1 < len(specs) <= MOST:
        return None  # of one no test would ask, and an index out of bounds be unseen
    if not all(map(_of_constants, specs)) or all(same_structure(specs[0], s) for s in specs):
        return None
    return apply(FUNCTIONS[np.arange], len(items))[k]


def _of_constants(spec: Structure) -> bool:
    """Whether a value is a constant or a number, or a tuple of such."""
    if spec.kind == "static":
        return isinstance(spec.value, CONSTANTS)
    if spec.kind == "leaf":
        return not is_array(spec.value)
    return issubclass(spec.kind, tuple) and all(map(_of_constants, spec.children))


def _is_index(k: Any) -> bool:
    return isinstance(k, Symbol) and k.type.dtype.kind in "iu" and not k.type.shape


def _by_data(items: Any, k: Any) -> bool:
    is_known = isinstance(items, (list, tuple)) and own_attribute(items, "tail") is None
    if not is_known or not _is_index(k) or len(items) == 0:
        return False
    note_objects(items)
    decisions = trace().decisions
    if decisions.compact or decided_by_data(k.value()):
        return True
    many = decisions.compacts and decided_by_data(k.value(), of_many_passes=True)
    decisions.many_passes |= many
    return many


def note_objects(items: Any) -> None:
    """Tells that a loop runs over known items, or its index means one: objects or dicts."""
    first = next(iter(items), None)
    trace().loops.objects |= isinstance(first, dict) or is_program_object(first)


def have_one_type(specs: list[Structure]) -> bool:
    """Whether numbers at the same place in each value have one dtype, or all where values have
    more places than others: an integer is one only where it is in no array with floats."""
    leaves = [list(map(_dtype_of, s.leaves())) for s in specs]
    ragged = len({*map(len, leaves)}) > 1
    columns = [list(itertools.chain(*leaves))] if ragged else zip(*leaves, strict=True)
    return all(len({*column}) == 1 for column in columns)


def _dtype_of(a: Atom) -> tuple[Any, bool]:
    """The dtype of a number, and whether it is one of Python's; floats of both kinds are alike."""
    return a.type.dtype, a.type.weak and a.type.dtype.kind not in "fc"


def interchangeable(specs: list[Structure]) -> bool:
    """Whether values are built alike, of leaves whose types have one for both."""
    first, *others = specs
    if not all(same_structure(first, s) for s in others) or not list(first.leaves()):
        return False
    try:
        for leaves in zip(*(s.leaves() for s in specs), strict=True):
            functools.reduce(join_types, [a.type for a in leaves])
    except StructureError:
        return False
    return True


def _of_numbers(spec: Structure) -> bool:
    """Whether a value is a number, or a tuple of numbers."""
    if spec.kind == "leaf":
        return not is_array(spec.value)
    own = isinstance(spec.kind, type) and issubclass(spec.kind, tuple)
    return own and all(map(_of_numbers, spec.children))


def _of_values(spec: Structure) -> bool:
    """Whether a value is a number, or a tuple, list or dictionary of such."""
    if spec.kind == "leaf":
        return not is_array(spec.value)
    plain = isinstance(spec.kind, type) and issubclass(spec.kind, (tuple, list, dict))
    return plain and all(map(_of_values, spec.children))
