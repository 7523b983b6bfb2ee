"""Which derivatives `where` made exactly zero: they stay so when they are scaled, never 0 * inf.

s = where(x > 0, a, 0) + where(x > 1, b, 0)      is zero where neither test holds
"""

from __future__ import annotations

import functools
from typing import Any
from weakref import WeakKeyDictionary

from tapeless.transforms.core.builder import made_by
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.ops.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.folding import is_number
from tapeless.transforms.ops.selection import select
from tapeless.transforms.ops.steps import logical_not, logical_or

#: Tests with outcomes, as they were met: a derivative is exactly zero where it is none of them.
Mask = tuple[tuple[Atom, bool], ...]
MOST = 4  # tests in one mask
#: What may be infinite where its operands are not.
STEEP = frozenset(["truediv", "reciprocal", "power", "log", "log2", "log10", "exp", "tan"])
_masks: WeakKeyDictionary[Var, Mask | None] = WeakKeyDictionary()


def mask_of(a: Atom) -> Mask | None:
    """The tests without which a derivative is exactly zero."""
    let = made_by(a)
    if let is None or not isinstance(a, Var):
        return None
    if a not in _masks:
        _masks[a] = _through(let)
    return _masks[a]


def _through(let: Let) -> Mask | None:
    if let.op is select:
        test, a, b = let.args
        if is_number(b, 0) or is_number(a, 0):
            return ((test, is_number(b, 0)),)
        return either(mask_of(a), mask_of(b))
    if let.op in (neg, truediv):
        return mask_of(let.args[0])
    if let.op is mul:
        return mask_of(let.args[0]) or mask_of(let.args[1])
    return either(*map(mask_of, let.args)) if let.op in (add, sub) else None


def unmasked(a: Atom) -> Atom | None:
    """What is chosen by a test where the other choice is zero; None if `a` is no such choice."""
    let = made_by(a, select)
    if let is None or not (is_number(let.args[1], 0) or is_number(let.args[2], 0)):
        return None
    return let.args[1 if is_number(let.args[2], 0) else 2]


def either(*masks: Mask | None) -> Mask | None:
    """The mask of a sum; None if it may be anything anywhere."""
    if not masks or None in masks:
        return None
    found = dict.fromkeys(pair for m in masks if m is not None for pair in m)
    whole = any((test, not side) in found for test, side in found)
    return None if whole or len(found) > MOST else tuple(found)


def applied(mask: Mask, value: Atom) -> Any:
    """The value where one of the tests has its outcome, else zero."""
    (test, side), *others = mask
    if not others:
        return select(test, value, 0.0) if side else select(test, 0.0, value)
    tests = (t if outcome else logical_not(t) for t, outcome in mask)
    return select(functools.reduce(logical_or, tests), value, 0.0)


def matters(mask: Mask, s: Let) -> bool:
    """Whether a mask is worth more than it costs: of several tests where something steep scales."""
    if len(mask) == 1 or s.op is not mul:
        return len(mask) == 1 or not isinstance(s.args[-1], Literal)
    made = [made_by(a) for a in s.args]
    return any(let is not None and let.op.name in STEEP for let in made)
