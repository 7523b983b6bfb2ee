"""Decides which functions that call themselves become recursive functions of the program."""

from __future__ import annotations

import types
from typing import Any

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.control_flow.recursion import form
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import is_same

# a function that enters itself so often under undecided tests with other numbers is taken to
# recurse on the tests, not on the numbers
DEEP = 12  # inside of one another
MANY = 48  # in all
WRITTEN_OUT = 2000  # calls of a function by itself, known while staging


def decide_recursion(f: types.FunctionType, open_calls: list[Any], arguments: Any) -> None:
    """A recursion that ends by tests: integer inputs that they depend on are made known; a call
    like one that is open can be ended at run time only, and many calls are not written out."""
    t = trace()
    t.calls.repeated[f.__code__] += 1
    tests = t.tests[open_calls[0][0] :]
    if not tests:
        _not_endless(f, t.calls.repeated[f.__code__])
        return
    why = f"{f.__name__} calls itself under a test, so the test must be known while staging"
    for test in tests:
        if can_be_known(test):
            raise NeedStatic(test, why)
    t.calls.undecided[f.__code__] += 1
    often = t.calls.undecided[f.__code__] > MANY and t.decisions.counts
    blind = often or len(open_calls) > DEEP
    form_here = form(arguments, blind)
    if any(is_same(g, f) and form(before, blind) == form_here for _, g, before in open_calls):
        t.decisions.counted |= often
        t.decisions.recurse(f.__code__)


def _not_endless(f: types.FunctionType, calls: int) -> None:
    """A recursion that is written out, though it makes too many calls for that: it may still be
    one function of the program that gets the numbers as arguments."""
    decisions = trace().decisions
    if calls > WRITTEN_OUT and decisions.counts:
        decisions.counted = True
        decisions.leaves.clear()
        decisions.recurse(f.__code__)
    if calls > 50 * WRITTEN_OUT:
        raise UnsupportedError(
            f"{f.__name__} calls itself more than {calls - 1:,} times while staging",
            "write it as a loop, or keep the values that it computes again (functools.lru_cache)",
        )
