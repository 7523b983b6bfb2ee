"""Stages sorted() where the order is known only at run time: by the columns of the keys, as
np.lexsort orders them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import StackType, Type
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.number_types import record_types_of
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.builtins.comparison import (
    binary,
    fields_compared,
    has_run_time_order,
)
from tapeless.transforms.frontend.builtins.min_max import materialize, of_present
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension, must_roll
from tapeless.transforms.frontend.control_flow.item_filters import is_pushed, list_of_generator
from tapeless.transforms.frontend.control_flow.iteration import map_
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.heap.alias_sets import may_overlap
from tapeless.transforms.frontend.heap.coded_constants import differ_in_constants, with_codes
from tapeless.transforms.frontend.heap.indexed_choice import interchangeable
from tapeless.transforms.frontend.heap.lists import StagedList, from_arrays
from tapeless.transforms.frontend.objects.special_methods import special
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.container_aliases import mutable, record_aliases
from tapeless.transforms.frontend.values.identity import NUMBERS
from tapeless.transforms.frontend.values.list_elements import share_elements
from tapeless.transforms.frontend.values.structure import (
    Structure,
    flatten,
    has_symbols,
    rebuild,
    require_defined,
)
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.optional_keys import OptionalKeys, OptionalView

MOST = 40  # objects that are compared by the user's methods, each with each


def sorted_(hooks: Any, x: Any, key: Any = None, reverse: bool = False) -> Any:
    if is_sorted_by_names(x, key):
        return _sorted_keys(x, bool(reverse))
    x, key = x.to_list() if isinstance(x, Lazy) else x, of_present(key)
    x = list_of_generator(x) if is_pushed(x) else materialize(x) if must_roll(x) else x
    rolled = isinstance(x, Symbol) or own_attribute(x, "tail") is not None
    items = x if rolled else list(x)
    keys = items if key is None else _map_key(hooks, key, items, rolled)
    constant_keys = None if rolled else _deciding_keys(keys)
    if constant_keys is None:
        columns = list(_rolled_columns(keys) if rolled else _columns(keys))
        return _reorder(items, _order(columns, bool(reverse)) if columns else None)
    order = sorted(range(len(items)), key=lambda k: constant_keys[k], reverse=reverse)
    return trace().born(StagedList(items[k] for k in order))


def is_sorted_by_names(x: Any, key: Any) -> bool:
    """Whether it is a dictionary, or its keys or items, or a set, of known keys of which run-time
    values say which are there: their order is known."""
    whole = x.whole if isinstance(x, OptionalView) else x
    asked = not isinstance(x, OptionalView) or x.what in ("keys", "items")
    as_list = ("sorted", trace().place()) in trace().decisions.lengthened
    return key is None and asked and isinstance(whole, OptionalKeys) and not as_list


def _sorted_keys(x: Any, reverse: bool) -> FilteredList:
    """The keys, or items, of such, of the known ones those that are there."""
    whole = x.whole if isinstance(x, OptionalView) else x
    places = sorted(range(len(whole.names)), key=lambda at: whole.names[at], reverse=reverse)
    pairs = isinstance(x, OptionalView) and x.what == "items"
    items = tuple(whole.item(at) if pairs else whole.names[at] for at in places)
    flags = tuple(whole.entries[at].there for at in places)
    filtered: FilteredList = trace().born(FilteredList(("sorted", trace().place()), items, flags))
    return filtered


def _deciding_keys(keys: list[Any]) -> list[Any] | None:
    """The keys, of tuples the parts before the first symbol, where they decide the order: those of
    sorted(params.items()) are names. None if values at run time decide."""
    if not any(map(has_run_time_order, keys)):
        return keys
    if not all(type(key) is tuple for key in keys):
        return None
    heads = [tuple(itertools.takewhile(lambda x: not has_symbols(x), key)) for key in keys]
    for a, b in itertools.pairwise(sorted(heads)):
        if all(x == y for x, y in zip(a, b, strict=False)):  # what follows would be compared
            return None
    return heads


def _map_key(hooks: Any, key: Any, items: Any, rolled: bool) -> Any:
    sort_keys = map_(hooks, key, items)
    if not rolled:
        return list(sort_keys)
    return comprehension("ListComp", (sort_keys, lambda item: (lambda: True, lambda: item), False))


def _refusal() -> BaseException:
    what = "sorted() by keys that are not numbers, or tuples of numbers"
    return CannotRoll(what) if trace().loops.rolling else UnsupportedError(what, "use np.argsort")


def _rolled_columns(keys: Any) -> Iterator[Any]:
    """The numbers that decide the order of what loops fill."""
    tail = own_attribute(keys, "tail")
    if tail is None and not isinstance(keys, Symbol):
        yield from _columns(list(keys))
        return
    if tail is not None and not _of_tuples(tail.spec):
        raise _refusal()
    for column in (keys,) if tail is None else keys.arrays():
        if column.ndim != 1:
            raise _refusal()
        yield column


def _of_tuples(spec: Structure) -> bool:
    """Whether values of this kind are compared number by number."""
    tuples = isinstance(spec.kind, type) and issubclass(spec.kind, (tuple, list))
    ordered = tuples or spec.kind in ("leaf", "static") or fields_compared("lt", spec.value)
    return bool(ordered) and all(map(_of_tuples, spec.children))


def _columns(keys: Sequence[Any]) -> Iterator[Any]:
    """The numbers that decide the order, the first ones first; of texts, their ranks."""
    if all(isinstance(key, (Symbol, *NUMBERS)) for key in keys):
        yield apply(FUNCTIONS[np.asarray], list(keys))
        return
    if not any(map(has_run_time_order, keys)):
        ranks = _ranks(keys)
        if any(ranks):
            yield apply(FUNCTIONS[np.asarray], ranks)
        return
    if 1 < len(keys) <= MOST and all(special(key, "__lt__") is not None for key in keys):
        yield _ranks_by_methods(keys)
        return
    parts = [
        key if isinstance(key, (tuple, list)) else fields_compared("lt", key) or () for key in keys
    ]
    if len(set(map(len, parts))) > 1 or not all(parts):
        raise _refusal()
    for column in zip(*parts, strict=True):
        yield from _columns(column)


def _ranks(keys: Sequence[Any]) -> list[int]:
    """How many different ones are smaller than each: they can be compared, and need no hash."""
    ranks = [0] * len(keys)
    for a, b in itertools.pairwise(sorted(range(len(keys)), key=lambda k: keys[k])):
        ranks[b] = ranks[a] + bool(keys[a] < keys[b])
    return ranks


def _ranks_by_methods(keys: Sequence[Any]) -> Any:
    """How many others are smaller than each, as the user's `__lt__` says."""
    smaller = [
        [truth(binary("Lt", other, key)) for other in keys if other is not key] for key in keys
    ]
    flags = apply(FUNCTIONS[np.asarray], smaller)
    return apply(FUNCTIONS[np.sum], apply(FUNCTIONS[np.asarray], flags, int), axis=1)


def _order(columns: list[Any], reverse: bool) -> Any:
    """Where the sorted items are; as in Python, items of the same key keep their order."""
    if any(column.ndim != 1 for column in columns):
        raise _refusal()
    last = columns[0].shape[0] - 1
    columns = [column[::-1] for column in columns] if reverse else columns
    if len(columns) == 1:
        order = apply(FUNCTIONS[np.argsort], columns[0], kind="stable")
    else:
        order = apply(FUNCTIONS[np.lexsort], tuple(reversed(columns)))
    return (last - order)[::-1] if reverse else order


def _reorder(items: Any, order: Any) -> Any:
    """The items in this order; None keeps that which they have."""
    if order is None:
        return trace().born(StagedList(items))
    one_by_one = trace().tracing and any(map(_can_change, items))
    if isinstance(items, Symbol) and not one_by_one:
        ordered = items[order]
        result = from_arrays(flatten(ordered[0]), [ordered])
        if items.ndim > 1 and result.tail is not None:
            trace().memory.hold(result.tail.stacks[0].cell, items.memory())
        return result
    if isinstance(items, StagedList):
        assert items.tail is not None
        if items.tail.is_uneven():
            return items.elements_at(order)
        result = items.rows([a[order] for a in items.arrays()])
        share_elements(items, result)
        return result
    specs = with_numbered_constants([require_defined(flatten(v)) for v in items])
    if one_by_one or not interchangeable(specs) or not _of_equal_lengths(specs):
        return trace().born(StagedList(items[_known_place(order, k)] for k in range(len(items))))
    columns = [_reorder_values(leaves, order) for leaves in zip(*map(_leaves, specs), strict=True)]

    atoms_of = list(zip(*map(_atoms, specs), strict=True))
    weak = [all(a.type.weak for a in leaves) for leaves in atoms_of]

    def leaf(column: Any, k: int, is_weak: bool, leaves: Sequence[Any]) -> Any:
        value = python_number(column[k]) if is_weak else column[k]
        record_types_of(value, leaves)
        return value

    def element(k: int) -> Any:
        parts = zip(columns, weak, atoms_of, strict=True)
        return _element(specs, iter([leaf(c, k, w, leaves) for c, w, leaves in parts]))

    return trace().born(StagedList(element(k) for k in range(len(items))))


def with_numbered_constants(specs: list[Structure]) -> list[Structure]:
    """The structures of items that differ in texts or objects, with numbers for these."""
    if trace().identities:
        specs = [*map(_by_identity, specs)]
    if len(specs) < 2 or interchangeable(specs):
        return specs
    first, *others = specs
    if not all(differ_in_constants(first, s) for s in others):
        return specs
    trace().decisions.codable = True
    if not trace().decisions.codes:
        return specs
    holder = trace().born(StagedList())
    like = with_codes(first, holder)
    return [like, *(with_codes(s, holder, like) for s in others)]


def _by_identity(spec: Structure) -> Structure:
    """The structure of an item in which what may be changed is one of several objects."""
    is_record = is_dataclass(spec.value) and not isinstance(spec.value, type)
    if (is_record or isinstance(spec.value, dict)) and mutable(spec.value):
        return Structure("static", spec.value)
    return replace(spec, children=tuple(map(_by_identity, spec.children)))


def _can_change(item: Any) -> bool:
    """Whether it is a container or an array that stores change, or holds one."""
    if isinstance(item, Symbol):
        return bool(item.mutable and item.ndim)
    return mutable(item) or (isinstance(item, tuple) and any(map(_can_change, item)))


def _of_equal_lengths(specs: Sequence[Structure]) -> bool:
    """Whether arrays in one place of all items are equally long, as the program then relies on."""
    shapes = [[size for a in spec.leaves() for size in _shape(a.type)] for spec in specs]
    same_size = trace().same_size
    return all(
        same_size(a, b) for other in shapes[1:] for a, b in zip(shapes[0], other, strict=True)
    )


def _shape(type_: Type | StackType) -> tuple[Size, ...]:
    return () if isinstance(type_, StackType) else type_.shape


def _known_place(order: Any, k: int) -> int:
    """Where the item is that comes k-th: the one of this call, where a program is traced."""
    try:
        return operator.index(order[k])
    except NeedStatic as e:
        why = "sorted() of texts, or of things that are built differently, needs their order"
        raise NeedStatic(e.atom, why, "sort the numbers with np.argsort") from None


def _atoms(spec: Structure) -> list[Any]:
    return list(spec.leaves())


def _leaves(spec: Structure) -> list[Any]:
    return list(spec.leaf_values())


def _column(values: Sequence[Any]) -> Any:
    """What is in one place of all items, as one array."""
    return apply(FUNCTIONS[np.stack], [apply(FUNCTIONS[np.asarray], v) for v in values])


def _reorder_values(values: Sequence[Any], order: Any) -> Any:
    """What is in one place of all items, in this order: arrays may be seen by other names, too."""
    result = _column(values)[order]
    arrays = [v for v in values if isinstance(v, Symbol) and v.mutable and result.ndim > 1]
    if not arrays:
        return result
    rows = [Symbol(result[k].value(), is_array=True) for k in range(len(values))]
    for row in rows:  # each is one of the arrays
        for v in arrays:
            trace().memory.share(row.cell, v.memory())
    if not any(may_overlap(a, b) for a, b in itertools.combinations(arrays, 2)):
        for a, b in itertools.combinations(rows, 2):
            trace().memory.keep_apart(a.cell, b.cell)
    return rows


def _element(specs: Sequence[Structure], leaves: Iterator[Any]) -> Any:
    """One of several items that are built alike, of these leaves."""
    first = specs[0]
    if first.kind == "leaf":
        return next(leaves)
    if first.kind == "static":
        return first.value
    parts = zip(*(s.children for s in specs), strict=True)
    return record_aliases(
        rebuild(first, [_element(p, leaves) for p in parts]), *(s.value for s in specs)
    )
