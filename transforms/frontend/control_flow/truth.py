"""Stages the truth of a test, and values whose definition depends on one."""

from __future__ import annotations

import contextlib
from collections import deque
from types import NoneType
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic, defining_statement
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.objects.special_methods import truth_operand
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import require_fresh
from tapeless.transforms.frontend.values.uneven_contents import (
    FlaggedContents,
    contents_of,
    flagged_contents,
    with_lengths,
)
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from tapeless.transforms.ops.primitives.shapes import cast

CONTAINERS = (list, tuple, dict, set, frozenset, deque)


def number_of_items(contents: FlaggedContents) -> Any:
    """How many items of a list have a flag that is true."""
    certain = sum(flag is True for flag in contents.flags)
    flags = (flag.value() for flag in contents.flags if isinstance(flag, Symbol))
    return sum((wrap(cast(flag, dtype=np.dtype(int), python=True)) for flag in flags), certain)


def truth(value: Any) -> Any:
    """A test as Python sees it: a bool, or a symbol of type bool."""
    if isinstance(value, Either):
        return _true_one(value)
    value = as_list(value)
    if (flagged := flagged_contents(value)) is not None:
        require_fresh(value)
        value = number_of_items(flagged) > 0
    elif (contents := contents_of(value)) is not None:
        value = with_lengths(contents).length > 0
    elif isinstance(value, StagedList) and value.tail is not None:
        value = value.length() > 0
    value = truth_operand(value)
    if not isinstance(value, Symbol):
        return bool(value)
    flag = presence_flag(value)
    if flag is not None and not value.type.shape:
        return _true_number(value, flag)
    if value.type.shape:
        total = dims.product(value.type.shape)
        if total != 1 and not trace().same_size(total, 1):
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        value = value.item()
    if value.type.dtype.kind != "b":
        value = wrap(not_equal(value.value(), 0))
    elif (
        value.type.weak and (cast_statement := defining_statement(value.value(), cast)) is not None
    ):
        value = wrap(cast_statement.args[0])  # bool(x) is as true as x
    if isinstance(value, Symbol) and isinstance(value.cell and value.cell.atom, Literal):
        return bool(value.cell.atom.value)  # type: ignore[union-attr]
    return _truth_in_call(value) if trace().tracing else value


def _truth_in_call(test: Any) -> Any:
    """Whether a test holds in the call at hand, on whose values the program is traced."""
    with contextlib.suppress(NeedStatic):
        return bool(trace().require(test.value(), "every test goes one way"))
    return test


def _true_one(value: Either) -> Any:
    """Whether one of two things is true: where only one of them is, the test says so."""
    if (sure_options := value.decided_option()) is not None:
        return truth(sure_options[0])
    sides = truth(value.yes), truth(value.no)
    if any(isinstance(side, Symbol) for side in sides):
        if not all(isinstance(option, (*CONTAINERS, NoneType)) for option in value.options()):
            value.need()  # what tells the truth of an object is done for it alone
        return _true_side(value.test.value(), *sides)
    if sides[0] == sides[1]:
        return sides[0]
    if sides[0]:
        return value.test
    test = wrap(logical_not(value.test.value()))
    same_meaning(value.test.value(), test.value(), when=False)
    return test


def _true_side(test: Atom, yes: Any, no: Any) -> Any:
    """The truth of one of two things, whose truths are known or symbols."""
    if not isinstance(yes, Symbol):
        other = logical_not(test) if not yes else test
        return wrap((logical_or if yes else logical_and)(other, no.value()))
    if not isinstance(no, Symbol):
        return _true_side(logical_not(test), no, yes)
    of_yes, of_no = logical_and(test, yes.value()), logical_and(logical_not(test), no.value())
    return wrap(logical_or(of_yes, of_no))


def presence_flag(value: Any) -> Atom | None:
    """The flag that is false where a value is None, where that is not known."""
    if not isinstance(value, Symbol) or value.undefined is None or not value.undefined.none:
        return None
    flag, t = value.undefined.flag, trace()
    is_checked = flag is None or any(b is t.flags.checked.get(flag) for b in t.blocks)
    return None if is_checked else flag


def _true_number(value: Symbol, flag: Atom) -> Any:
    """Whether a number that may be None is neither None nor zero."""
    test = wrap(logical_and(flag, not_equal(value.present(), 0)))
    trace().flags.means[test.value(), True] = frozenset({flag})
    return test


def may_be_none(value: Any) -> bool:
    """Whether data makes a value None on some ways."""
    return isinstance(value, Symbol) and value.undefined is not None and value.undefined.none


def is_none(value: Any) -> Any:
    """Whether a value is None: a bool, or a symbol where run-time values decide."""
    if not may_be_none(value):
        return value is None
    flag = value.undefined.flag
    if flag is None or isinstance(flag, Literal):
        return flag is not None and not flag.value
    t = trace()
    test = wrap(logical_not(flag))
    t.flags.means[flag, True] = t.flags.means[test.value(), False] = frozenset({flag})
    return test


def sure(test: Atom, value: bool) -> frozenset[Atom]:
    """The flags that are true where a test has this value."""
    return trace().flags.means.get((test, value), frozenset())


def same_meaning(test: Atom, other: Atom, when: bool = True) -> None:
    """Tells that `other` is true where `test` is `when`, and false elsewhere."""
    for value in (True, False):
        implied = sure(test, value is when)
        if implied:
            trace().flags.means[other, value] = implied


def undefined_flag(value: Any) -> Atom | None:
    """The truth value that says whether a variable is defined, where that is not certain."""
    if isinstance(value, Symbol) and value.undefined is not None:
        return value.undefined.flag
    return None
