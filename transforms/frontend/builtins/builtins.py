"""Tabulates the builtin functions of Python with what stages each of them where it meets
symbols.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size, broadcast
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.builtins import dicts_and_sets, text_keys
from tapeless.transforms.frontend.builtins.class_tests import isinstance_, type_
from tapeless.transforms.frontend.builtins.deques import new_deque
from tapeless.transforms.frontend.builtins.folds import any_or_all, fsum, prod, sum_
from tapeless.transforms.frontend.builtins.formatting import format_parts, plain_text, text_of
from tapeless.transforms.frontend.builtins.item_tuples import combinations_of, permutations, product
from tapeless.transforms.frontend.builtins.lists_of_lists import given_away, kept_still
from tapeless.transforms.frontend.builtins.min_max import (
    extremum,
    list_of_lazy,
)
from tapeless.transforms.frontend.builtins.ndindex import ndenumerate, ndindex
from tapeless.transforms.frontend.builtins.number_constructors import (
    abs_,
    number_constructor,
    pow_,
    round_,
    round_to_integer,
)
from tapeless.transforms.frontend.builtins.printing import print_
from tapeless.transforms.frontend.builtins.shared_memory import shares_memory
from tapeless.transforms.frontend.builtins.sorted import sorted_
from tapeless.transforms.frontend.control_flow import combinatorics
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.control_flow.comprehensions import comprehension, must_roll
from tapeless.transforms.frontend.control_flow.item_filters import is_pushed, list_of_generator
from tapeless.transforms.frontend.control_flow.iteration import (
    accumulate,
    count_,
    enumerate_,
    filter_,
    len_,
    map_,
    next_,
    range_,
    reduce_,
    reversed_,
    starmap,
)
from tapeless.transforms.frontend.control_flow.loop_iterators import as_iterator, iter_, zip_items
from tapeless.transforms.frontend.effects.foreign_calls import refuse_outside
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import put_attribute
from tapeless.transforms.frontend.heap.ragged import consecutive_items
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.objects.attributes import has
from tapeless.transforms.frontend.objects.copying import copy_, deep_copied
from tapeless.transforms.frontend.objects.dataclasses import replace_
from tapeless.transforms.frontend.objects.derived_arrays import super_of
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.primitives import comparisons_and_rounding
from tapeless.transforms.prelude.containers import optional_keys
from tapeless.transforms.prelude.containers.filtered_lists import as_lengths
from tapeless.transforms.prelude.containers.hashed_containers import hold_lists
from tapeless.transforms.prelude.containers.linked_lists import mark_moved, refuse, with_source
from tapeless.transforms.prelude.containers.ragged_lists import stretch


def _list(hooks: Any, x: Any = ()) -> Any:
    x = list_of_lazy(x)
    if type(x) is StagedList:
        return x.copy()
    if is_pushed(x):
        return list_of_generator(x)
    if must_roll(x):
        return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: item), False))
    return trace().born(StagedList(x))


def _tuple(hooks: Any, x: Any = ()) -> Any:
    return tuple(x)


def _getattr(hooks: Any, obj: Any, name: str, *default: Any) -> Any:
    if not default:
        return hooks.attr(obj, name)
    return choose(has(obj, name), lambda: hooks.attr(obj, name), lambda: default[0])


def _hasattr(hooks: Any, obj: Any, name: str) -> Any:
    return has(obj, name)


def _setattr(hooks: Any, obj: Any, name: str, value: Any) -> None:
    hooks.set_attr(obj, name, value)


def _refuse(problem: str, hint: str) -> None:
    raise UnsupportedError(problem, hint)


def _size(hooks: Any, a: Any, axis: Any = None) -> Any:
    """np.size(a, axis)"""
    if not isinstance(a, Symbol):
        if not has_symbols(a):
            return np.size(a, axis)
        a = apply(FUNCTIONS[np.asarray], a)
    if isinstance(axis, tuple):
        return wrap(apply(FUNCTIONS[np.size], a, axis))
    return a.size if axis is None else a.shape[axis]


def _broadcast_shapes(hooks: Any, *shapes: Any) -> Any:
    if not has_symbols(shapes):
        return np.broadcast_shapes(*shapes)
    joined = broadcast(*(shape_of(atoms(shape)) for shape in shapes))
    return tuple(wrap(atom_of_size(n)) for n in joined)


def _format_by(function: Any, conversion: str) -> Any:
    def run(hooks: Any, *args: Any) -> Any:
        if len(args) == 1 and (text := text_of(args[0], conversion)) is not args[0]:
            return text
        if args and has_symbols(args[0]):
            return format_parts((args[0], conversion, ""))
        if args and special_methods.foreign(args[0]):
            return call_outside(function, args, {})
        return plain_text(function(*args), args)

    return run


def _format(hooks: Any, x: Any, spec: Any = "") -> Any:
    return format_parts((x, "", spec))


def _vars(hooks: Any, *objects: Any) -> Any:
    if not objects:
        refuse_outside(vars, (), {})
    return hooks.attr(*objects, "__dict__")


def _operator(kind: str) -> Any:
    """`operator.add` and its like; those with one operand too."""
    return lambda hooks, *operands: (
        special_methods.unary(kind, *operands)
        if len(operands) == 1
        else special_methods.binary(kind, *operands)
    )


def _hash(hooks: Any, x: Any) -> int:
    return hash(_without_derivative(x))


def _without_derivative(x: Any) -> Any:
    """A number whose hash is asked for, which has no derivative then; or a tuple of such."""
    if isinstance(x, Symbol) and not x.type.shape:
        return x.read_as_number("hash() needs the value")
    return tuple(map(_without_derivative, x)) if type(x) is tuple else x


BUILTINS: dict[Any, Any] = {
    range: range_,
    len: len_,
    zip: as_iterator(zip_items),
    enumerate: as_iterator(enumerate_),
    reversed: as_iterator(reversed_),
    sum: sum_,
    max: extremum("max"),
    min: extremum("min"),
    abs: abs_,
    hash: _hash,
    int: number_constructor(int),
    float: number_constructor(float),
    bool: number_constructor(bool),
    complex: number_constructor(complex),
    isinstance: isinstance_,
    type: type_,
    super: lambda hooks, *args: super_of(*args),
    print: print_,
    list: _list,
    collections.deque: new_deque,
    tuple: _tuple,
    map: as_iterator(map_),
    filter: filter_,
    any: any_or_all(False),
    all: any_or_all(True),
    sorted: sorted_,
    round: round_,
    pow: pow_,
    functools.reduce: reduce_,
    itertools.accumulate: accumulate,
    itertools.starmap: starmap,
    itertools.count: count_,
    itertools.combinations: combinations_of(combinatorics.combinations, math.comb),
    itertools.combinations_with_replacement: combinations_of(
        combinatorics.combinations_with_replacement, lambda n, r: math.comb(n + r - 1, r)
    ),
    itertools.permutations: permutations,
    itertools.product: product,
    object.__setattr__: lambda hooks, x, name, value: put_attribute(
        x, name, value, object.__setattr__
    ),
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    iter: iter_,
    next: next_,
    vars: _vars,
    copy.copy: copy_,
    copy.deepcopy: deep_copied,
    dataclasses.replace: replace_,
    math.fsum: fsum,
    math.prod: prod,
    str: _format_by(str, "s"),
    repr: _format_by(repr, "r"),
    ascii: _format_by(ascii, "a"),
    format: _format,
    math.floor: round_to_integer(comparisons_and_rounding.floor),
    math.ceil: round_to_integer(comparisons_and_rounding.ceil),
    math.trunc: round_to_integer(comparisons_and_rounding.trunc),
    dict.fromkeys: lambda hooks, keys, value=None: dicts_and_sets.from_keys(hooks, keys, value),
    np.shape: lambda hooks, x: (
        x.shape
        if isinstance(x, Symbol)
        else wrap(apply(FUNCTIONS[np.asarray], x)).shape
        if has_symbols(x)
        else np.shape(x)
    ),
    np.ndim: lambda hooks, x: (
        x.ndim
        if isinstance(x, Symbol)
        else np.ndim(x)
        if not has_symbols(x)
        else apply(FUNCTIONS[np.asarray], x).ndim
    ),
    np.size: _size,
    np.shares_memory: shares_memory,
    np.may_share_memory: shares_memory,
    np.broadcast_shapes: _broadcast_shapes,
    np.ndindex: as_iterator(ndindex),
    np.ndenumerate: as_iterator(ndenumerate),
    refuse: lambda hooks, problem, hint: _refuse(problem, hint),
    mark_moved: lambda hooks, items: given_away(items),
    stretch: lambda hooks, items, first, last: consecutive_items(items, first, last),
    with_source: lambda hooks, items, result, place: kept_still(items, result, place),
    optional_keys.before_first: lambda hooks, site, initial: text_keys.before_first(site, initial),
    optional_keys.note_value: lambda hooks, site, value: text_keys.note_value(site, value),
    optional_keys.at_key: text_keys.at_key,
    optional_keys.held_at: text_keys.held_at,
    optional_keys.may_be_any: lambda hooks, flags: text_keys.may_be_any(flags),
    optional_keys.shown_key: lambda hooks, key: text_keys.shown_key(key),
    optional_keys.truth_under_tests: lambda hooks, flag: text_keys.truth_under_tests(flag),
    optional_keys.with_mark: lambda hooks, flag: text_keys.with_mark(flag),
    optional_keys.require_order: lambda hooks, *args: text_keys.require_order(*args),
    optional_keys.require_same: lambda hooks, now, before: text_keys.require_same(now, before),
    as_lengths: lambda hooks, filtered: trace().decisions.as_lengths(filtered.site),
    hold_lists: lambda hooks, result: trace().decisions.as_keyed(result, lists=True),
    operator.iadd: lambda hooks, a, b: hooks.inplace("Add", a, b),
    operator.imul: lambda hooks, a, b: hooks.inplace("Mult", a, b),
    operator.setitem: lambda hooks, a, k, v: hooks.set_item(a, k, v),
    operator.getitem: lambda hooks, a, k: hooks.item(a, k),
    operator.contains: lambda hooks, a, b: hooks.contains(b, a, False),
    **{
        getattr(operator, name): _operator(kind) for kind, name in special_methods.OPERATORS.items()
    },
}
#: Functions that run over what they are given, and over which of their arguments.
OVER_ITEMS = {
    **dict.fromkeys((sum, list, tuple, any, all, sorted, enumerate), slice(1)),
    **dict.fromkeys((itertools.accumulate, math.fsum, math.prod), slice(1)),
    **dict.fromkeys((filter, functools.reduce, itertools.starmap), slice(1, 2)),
    map: slice(1, None),
}
#: Those of them that take all items at once.
AT_ONCE = (sum, list, tuple, sorted, math.fsum, math.prod)
