"""Stages comparisons of containers, and membership in them: element by element, as Python does,
where the elements are known only at run time.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
from collections import deque
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.python_scalars import class_of
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, opposite
from tapeless.transforms.frontend.control_flow.branches import (
    choose,
    for_each_option,
    short_circuit,
)
from tapeless.transforms.frontend.control_flow.comprehensions import comprehension
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.truth import is_none, may_be_none, truth
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.coded_constants import (
    Coded,
    constants_in,
    numbers_of_one_kind,
    rank_of,
)
from tapeless.transforms.frontend.heap.iterators import Once
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import static_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, as_either, is_one_of_texts
from tapeless.transforms.frontend.values.container_aliases import require_all_current
from tapeless.transforms.frontend.values.identity import NUMBERS
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import ChosenText
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.list_methods import compare_order, equal

MANY = 32  # known items that are not all compared one by one
SIGNS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
COMPARISONS = frozenset(("Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"))


def binary(kind: str, left: Any, right: Any) -> Any:
    """left + right and its like; tuples and lists compare by the first elements that differ."""
    if tuple in (own_attribute(left, "stands_for"), own_attribute(right, "stands_for")):
        raise UnsupportedError(
            "a tuple that data picks from tuples of other lengths is compared, or put together",
            "take its items",
        )
    require_all_current(left, right)
    if kind in ("Eq", "NotEq") and (left is None or right is None):
        other = right if left is None else left
        if may_be_none(other):
            return is_none(other) if kind == "Eq" else opposite(is_none(other))
    if kind in COMPARISONS and any(isinstance(x, (ChosenText, Either)) for x in (left, right)):
        return _of_options(kind, left, right)
    plain = any(isinstance(x, Symbol) and x.listing is None for x in (left, right))
    if kind not in COMPARISONS or plain:
        return special_methods.binary(kind, left, right)
    name, left, right = special_methods.OPERATORS[kind], as_list(left), as_list(right)
    if isinstance(left, list) and isinstance(right, list) and (_loops(left) or _loops(right)):
        return _of_filled(kind, left, right)
    pair = _elements(name, left), _elements(name, right)
    if None in pair or type(pair[0]) is not type(pair[1]) or not any(map(is_run_time_value, pair)):
        return special_methods.binary(kind, left, right)
    a, b = map(list, pair)
    if kind not in ("Eq", "NotEq"):
        return _compare_order(kind, a, b)
    same = len(a) == len(b) and _equal_all(a, b)
    return same if kind == "Eq" else opposite(same)


def _of_options(kind: str, left: Any, right: Any) -> Any:
    """A comparison of values of which run-time values say which of some texts, or of some objects,
    they are."""
    method = special_methods.method_of_all(left, f"__{special_methods.OPERATORS[kind]}__")
    if isinstance(method, types.FunctionType):
        result = trace().enter(method, left, right)
        if result is not NotImplemented:
            return result
    if kind in ("Eq", "NotEq"):
        if not isinstance(left, Either) and not isinstance(right, Either):
            return special_methods.binary(kind, left, right)
        numbers = numbers_of_one_kind(left, right)
        if numbers is not None:
            return special_methods.binary(kind, *numbers)
    elif is_text(left) and is_text(right):
        order = sorted({*constants_in(left), *constants_in(right)})
        return special_methods.binary(kind, rank_of(left, order), rank_of(right, order))
    elif not any(map(_can_be_ordered, (*constants_in(left), *constants_in(right)))):
        classes = [type(next(constants_in(x))).__name__ for x in (left, right)]
        sign = SIGNS[kind]
        raise_(
            TypeError(
                f"'{sign}' not supported between instances of '{classes[0]}' and '{classes[1]}'"
            )
        )
    return for_each_option(functools.partial(binary, kind), as_either(left), as_either(right))


def _can_be_ordered(value: Any) -> bool:
    """Whether a comparison of it may be more than a TypeError."""
    names = ("__lt__", "__gt__", "__le__", "__ge__")
    return any(getattr(type(value), n, None) is not getattr(object, n) for n in names)


def _loops(value: Any) -> bool:
    return own_attribute(value, "tail") is not None


def _of_filled(kind: str, a: Any, b: Any) -> Any:
    """A comparison of lists that loops filled: a loop."""
    if kind not in ("Eq", "NotEq"):
        return trace().enter(
            compare_order, a, b, getattr(operator, special_methods.OPERATORS[kind])
        )
    if (_loops(a) and _loops(b)) or max(len(x) for x in (a, b) if not _loops(x)) > MANY:
        same = trace().enter(equal, a, b)
    else:
        same = _equals_known(a, b) if _loops(a) else _equals_known(b, a)
    return same if kind == "Eq" else opposite(same)


def _equals_known(staged: Any, items: list[Any]) -> Any:
    """Whether a list that a loop filled has these items."""
    tests = (
        functools.partial(lambda k, v: _equal(staged[k], v), k, v) for k, v in enumerate(items)
    )
    return short_circuit((lambda: truth(staged.length() == len(items)), *tests), True)


PLAIN = frozenset({int, float, bool, str, bytes, type(None)})  # of what keys are mostly made


def has_run_time_order(value: Any) -> bool:
    """Whether objects of the user's in it are compared by what may depend on run-time values."""
    if isinstance(value, (list, tuple)) and own_attribute(value, "tail") is None:
        return any(map(has_run_time_order, value))
    return special_methods.special(value, "__lt__") is not None or is_run_time_value(value)


def is_run_time_value(value: Any, depth: int = 50) -> bool:
    """Whether what a comparison of the value gives is known only when the program runs; objects
    may hold themselves."""
    if type(value) in PLAIN or (type(value) is tuple and PLAIN.issuperset(map(type, value))):
        return False
    if has_symbols(value):
        return True
    parts = value if isinstance(value, (tuple, list)) else fields_compared("eq", value)
    return parts is not None and depth > 0 and any(is_run_time_value(p, depth - 1) for p in parts)


def _elements(name: str, value: Any) -> Any:
    """What decides a comparison, as a tuple or list; None for what is compared as a whole."""
    if special_methods.special(value, f"__{name}__") is not None:
        return None
    if isinstance(value, tuple):
        return tuple(value)
    if isinstance(value, list):
        return None if _loops(value) else list(value)
    return fields_compared(name, value)


def fields_compared(name: str, value: Any) -> Any:
    """The fields that a dataclass compares by code of its own."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    code = getattr(static_attribute(type(value), f"__{name}__"), "__code__", None)
    if code is None and name == "ne":
        return fields_compared("eq", value)
    if code is None or code.co_filename != "<string>":
        return None
    trace().ask_compared(value)
    return _Fields(getattr(value, f.name) for f in dataclasses.fields(value) if f.compare)


class _Fields(tuple[Any, ...]):
    """The fields of a dataclass, which no tuple of the user's is compared with."""


def is_text(value: Any) -> bool:
    """Whether it is a text, or one of several of which it is known what they say."""
    return isinstance(value, str) or is_one_of_texts(value)


def _equal(a: Any, b: Any) -> Any:
    return True if a is b else truth(binary("Eq", a, b))


def _equal_all(a: list[Any], b: list[Any]) -> Any:
    tests = tuple(functools.partial(_equal, p, q) for p, q in zip(a, b, strict=True))
    return short_circuit(tests, True) if tests else True


def _compare_order(kind: str, a: list[Any], b: list[Any]) -> Any:
    if not a or not b:
        return getattr(operator, special_methods.OPERATORS[kind])(len(a), len(b))
    return choose(
        _equal(a[0], b[0]),
        lambda: _compare_order(kind, a[1:], b[1:]),
        lambda: binary(kind, a[0], b[0]),
    )


def contains_item(item: Any, container: Any) -> Any:
    """item in container."""
    if isinstance(item, (ChosenText, Either)):
        return for_each_option(
            lambda candidate: contains_item(candidate, container), as_either(item)
        )
    if is_one_of_texts(container):
        return for_each_option(
            lambda candidate: contains_item(item, candidate), as_either(container)
        )
    if isinstance(container, Once):
        container = container.rest()
    if isinstance(container, Sequence) and not container.is_range:
        container = comprehension(
            "ListComp", (container, lambda v: (lambda: True, lambda: v), False)
        )
    if isinstance(container, Symbol):
        if not container.type.shape and not container.is_array:
            raise TypeError(f"argument of type '{class_of(container).__name__}' is not iterable")
        return python_number(
            apply(FUNCTIONS[np.any], special_methods.binary("Eq", item, container))
        )
    if isinstance(container, StagedList) and container.tail is not None:
        return _in_columns(item, container)
    if isinstance(container, (range, Sequence)):
        if container.step == 1 and (isinstance(container, Sequence) or has_symbols(item)):
            return _in_range(item, container)
        container = list(container) if isinstance(container, Sequence) else container
    elements = isinstance(container, (list, tuple, set, frozenset, dict, range, deque))
    is_known = not is_run_time_value(item)
    trace().ask_compared(item, *(container if elements else ()))
    if is_known and isinstance(container, (set, frozenset, dict)) and item in container:
        return True
    if not elements or (is_known and not any(map(is_run_time_value, container))):
        return item in container
    tests = [t for t in (_equal(item, c) for c in container) if t is not False]
    if any(t is True for t in tests):
        return True
    return python_number(functools.reduce(_or, tests, False))


def _or(a: Any, b: Any) -> Any:
    return b if a is False else apply(FUNCTIONS[np.logical_or], a, b)


def _in_columns(item: Any, staged: StagedList) -> Any:
    """Whether an item is in a list that a loop filled."""
    assert staged.tail is not None
    equal_rows = _matching(item, staged.tail.spec, iter(staged.arrays()))
    if equal_rows is True:
        return staged.length() > 0
    return (
        equal_rows if equal_rows is False else python_number(apply(FUNCTIONS[np.any], equal_rows))
    )


def _matching(item: Any, spec: Any, columns: Any) -> Any:
    """Where the elements of a list, of which the columns are the leaves, equal an item."""
    if spec.kind == "static":
        return bool(item == spec.value)
    if spec.kind == "leaf":
        column = next(columns)
        if column.ndim > 1 or (isinstance(item, Symbol) and item.type.shape):
            raise UnsupportedError(
                "whether an array is in a list that was filled in a loop",
                "compare with np.array(...) of the list, and say with all() and any() what counts",
            )
        number = isinstance(item, (Symbol, *NUMBERS))
        return apply(FUNCTIONS[np.equal], column, item) if number else False
    if spec.kind is Coded:
        column = next(columns)
        number = spec.keys[0].number_if_known(item)
        return False if number is None else apply(FUNCTIONS[np.equal], column, number)
    family = next((k for k in (tuple, list) if issubclass(spec.kind, k)), None)
    if family is None:
        trace().decisions.codable |= spec.kind in (ChosenText, Either)
        raise UnsupportedError(
            f"whether a {spec.kind.__name__} is in a list that was filled in a loop",
            "keep what you look for in a list of its own",
        )
    alike = isinstance(item, family) and len(item) == len(spec.children)
    parts = item if alike else [None] * len(spec.children)
    tests = [_matching(p, c, columns) for p, c in zip(parts, spec.children, strict=True)]
    if not alike or any(t is False for t in tests):
        return False
    several = [t for t in tests if t is not True]
    both = functools.partial(apply, FUNCTIONS[np.logical_and])
    return functools.reduce(both, several) if several else True


def _in_range(item: Any, span: Any) -> Any:
    """Whether a number is in a range of step one."""
    tests: list[Any] = [lambda: item >= span.start, lambda: item < span.stop]
    if np.result_type(getattr(item, "dtype", item)).kind == "f":
        tests.append(lambda: item % 1 == 0)
    return short_circuit(tuple(tests), True)
