"""Applies Python's operators to what may hold symbols: arithmetic, comparisons, and, or, not,
in."""

from __future__ import annotations

import functools
import operator
import os
from collections import deque
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.known_arrays import refuse_overwriting, require_own
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.operators import check_in_place, store_into
from tapeless.transforms.frontend.arrays.python_scalars import items_of
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.builtins.comparison import COMPARISONS, binary, contains_item
from tapeless.transforms.frontend.builtins.formatting import percent
from tapeless.transforms.frontend.builtins.list_methods import ask_whether_equal
from tapeless.transforms.frontend.builtins.text_keys import for_each_key, is_chosen
from tapeless.transforms.frontend.control_flow.branches import (
    choose,
    for_each_option,
    has_options,
    short_circuit,
)
from tapeless.transforms.frontend.control_flow.truth import (
    is_none,
    may_be_none,
    presence_flag,
    same_meaning,
    truth,
)
from tapeless.transforms.frontend.effects.exception_handlers import divide
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import before_change
from tapeless.transforms.frontend.heap.references import GuardedRef, is_choice, options_of, root_of
from tapeless.transforms.frontend.hooks.access import AccessHooks
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.objects.environment import watch_environment
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, as_either, is_one_of_texts
from tapeless.transforms.frontend.values.container_writes import write_back
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.hashed_containers import Keyed, Keys
from tapeless.transforms.prelude.containers.optional_keys import OptionalKeyed

COMPARED = ("Eq", "NotEq", "Is", "IsNot", "Lt", "LtE", "Gt", "GtE")


class Operations(AccessHooks):
    """What rewritten code does with operators."""

    def binary(self, left: Any, kind: str, right: Any) -> Any:
        if (left is None) is not (right is None) and kind in ("Is", "IsNot", "Eq", "NotEq"):
            value = left if right is None else right
            if kind in ("Is", "IsNot") or may_be_none(value):
                return self.is_none(value, kind in ("IsNot", "NotEq"))
        if kind in ("Is", "IsNot") and any(map(is_choice, (left, right))):
            return self.identical_choice(left, kind, right)
        chosen = any(isinstance(x, (ChosenText, Either)) for x in (left, right))
        if chosen and trace().decisions.codes and kind in COMPARISONS:
            return binary(kind, left, right)
        if kind in COMPARED:
            left, right = as_either(left), as_either(right)
        divide(kind, left, right)
        return for_each_option(functools.partial(binary, kind), left, right)

    def identical_choice(self, left: Any, kind: str, right: Any) -> Any:
        """left is right, where one of them is one of two arrays."""
        chosen = left if is_choice(left) else right
        first, second = options_of(chosen)

        def compare_option(option: Any) -> Any:
            sides = (option, right) if chosen is left else (left, option)
            return self.binary(sides[0], kind, sides[1])

        root = root_of(chosen)
        assert isinstance(root, GuardedRef)
        holds = wrap(root.holds())
        return choose(holds, lambda: compare_option(first), lambda: compare_option(second))

    def unary(self, kind: str, value: Any) -> Any:
        return for_each_option(functools.partial(special_methods.unary, kind), value)

    def mod(self, left: Any, right: Any) -> Any:
        if isinstance(left, (str, Text)):
            return percent(left, right)
        return special_methods.binary("Mod", left, right)

    def inplace(self, kind: str, target: Any, value: Any) -> Any:
        if has_options(target):
            return for_each_option(lambda option: self.inplace(kind, option, value), target)
        if isinstance(target, str) and kind == "Mod":
            return self.mod(target, value)
        if isinstance(target, set) and isinstance(value, Keys):
            dicts_and_sets.restage_as_keyed(target)
        before_change(target)
        require_own(target)
        if isinstance(target, np.ndarray):
            refuse_overwriting()
        divide(kind, target, value)
        result = special_methods.inplace(kind, target, value)
        write_back(target)
        return result

    def inplace_item(self, kind: str, obj: Any, key: Any, value: Any) -> None:
        if isinstance(obj, Keyed) and not isinstance(obj, OptionalKeyed):
            at = self.call(Keyed.reach, obj, key)
            self.inplace_item(kind, obj.held, at, value)
            return
        if not isinstance(obj, Symbol):
            self.set_item(obj, key, self.inplace(kind, self.item(obj, key), value()))
            return
        items_of(obj, self.function)
        key = _freeze_key(key)
        old = obj[key]
        new = special_methods.binary(kind, old, value())
        if isinstance(old, Symbol) and old.mutable and old.parent is not None:
            store_into(old, new)
            return
        if isinstance(old, Symbol) and old.type.shape:  # NumPy adds to what was picked in place
            check_in_place(new, old.dtype)
        obj[key] = new

    def inplace_attr(self, kind: str, obj: Any, name: str, value: Any) -> None:
        self.set_attr(obj, name, self.inplace(kind, self.attr(obj, name), value()))

    def is_none(self, value: Any, negate: bool) -> Any:
        outcome = for_each_option(is_none, value)
        if isinstance(value, Either) and isinstance(outcome, Symbol):
            trace().flags.means[outcome.value(), False] = value.presence_conditions()
        return self.not_(outcome) if negate else python_number(outcome)

    def not_(self, value: Any) -> Any:
        if has_options(value):
            value = truth(value)
        if isinstance(value, Symbol) and (
            value.type.shape or value.type.dtype.kind == "b" or presence_flag(value) is not None
        ):
            value = truth(value)
        if isinstance(value, Symbol):
            return python_number(self.opposite(value))
        if isinstance(value, StagedList) and value.tail is not None:
            return value.length() == 0
        tested = special_methods.truth_operand(value)
        return self.not_(tested) if isinstance(tested, Symbol) else not tested

    @staticmethod
    def opposite(value: Symbol) -> Any:
        if value.type.dtype.kind != "b":
            return apply(FUNCTIONS[np.equal], value, 0)
        opposite = apply(FUNCTIONS[np.logical_not], value)
        if isinstance(opposite, Symbol):
            same_meaning(value.value(), opposite.value(), when=False)
        return opposite

    def and_(self, *parts: Any) -> Any:
        return short_circuit(parts, True)

    def or_(self, *parts: Any) -> Any:
        return short_circuit(parts, False)

    def compare(self, left_operand: Any, kinds: tuple[str, ...], *rights: Any) -> Any:
        def compare_pair(left: Any, k: int) -> Any:
            right = rights[k]()
            if kinds[k] in ("Is", "IsNot") and (left is None or right is None):
                test = self.is_none(left if right is None else right, kinds[k] == "IsNot")
            else:
                test = self.binary(left, kinds[k], right)
            if k + 1 == len(kinds):
                return test
            return short_circuit((lambda: test, lambda: compare_pair(right, k + 1)), True)

        return compare_pair(left_operand, 0)

    def contains(self, item: Any, container: Any, negate: bool) -> Any:
        if has_options(container):
            return for_each_option(lambda option: self.contains(item, option, negate), container)
        if isinstance(container, (dict, set, frozenset)):
            _refuse_unhashable(item)
            item = trace().key_of(item)
            if is_chosen(item):
                return for_each_key(lambda x: self.contains(x, container, negate), item)
        elif isinstance(container, (list, tuple, deque)):
            ask_whether_equal(item, container)
        if isinstance(container, str) and is_one_of_texts(item):
            return for_each_option(lambda x: self.contains(x, container, negate), as_either(item))
        if isinstance(container, str) and isinstance(item, Text):
            item = item.need("in")
        if special_methods.foreign(container):
            contained_in = call_outside(operator.contains, (container, item), {})
            return self.not_(contained_in) if negate else contained_in
        method = special_methods.special(container, "__contains__")
        if container is os.environ:
            outcome = watch_environment(container.__contains__, (item,), {})
        elif method is not None:
            outcome = truth(trace().enter(method, container, item))
        else:
            outcome = contains_item(item, container)
        return self.not_(outcome) if negate else outcome


def _refuse_unhashable(key: Any) -> None:
    """Raises Python's error where a key, or a part of it, is an array, a list or a dictionary."""
    for part in key if isinstance(key, tuple) else ():
        _refuse_unhashable(part)
    if isinstance(key, (list, dict, set)) or (isinstance(key, Symbol) and key.type.shape):
        hash(key)


def _freeze_key(key: Any) -> Any:
    """A key whose symbols do not change between the load and the store of `x[key] += v`."""
    return wrap(atoms(key)) if isinstance(key, (Symbol, tuple)) and has_symbols(key) else key
