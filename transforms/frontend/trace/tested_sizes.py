"""Says what the tests around a statement tell about how long something is.

if near:                                  here a loop over `near` makes a pass
    total = sum(body.at for body in near)
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from tapeless.transforms.ops.primitives.new_arrays import stack_length

#: The comparison that holds where one does not.
OPPOSITES: dict[Op, Op] = {
    greater: less_equal,
    less_equal: greater,
    less: greater_equal,
    greater_equal: less,
    equal: not_equal,
    not_equal: equal,
}


def tested_at_least(size: Size, least: int) -> bool:
    """Whether a test around, on the side that is staged now, says that a length is so large."""
    t = trace()
    sides = ((t.test_of_sides.get(number), side) for number, side in t.sides)
    return any(test is not None and _implies(test, side == 0, size, least) for test, side in sides)


def _implies(test: Atom, holds: bool, size: Size, least: int) -> bool:
    """Whether a length is so large where a test holds, or does not."""
    t = trace()
    if not isinstance(test, Var):
        return False
    if test in t.parents:
        return any(_implies(a, holds, size, least) for a in _parts(t.parents[test], holds))
    let = t.definitions.get(test)
    if let is None:
        return False
    if let.op is logical_not:
        return _implies(let.args[0], not holds, size, least)
    if let.op is (logical_and if holds else logical_or):
        return any(_implies(a, holds, size, least) for a in let.args)
    lengths: dict[object, Size] = {}
    excess = _excess(let, holds, lengths)
    return excess is not None and dims.at_least(_unify_lengths(size, lengths) - least - excess, 0)


def _parts(parent: tuple[Any, ...], holds: bool) -> tuple[Atom, ...]:
    """The tests that hold where `a and b` does, or that do not where `a or b` does not, which are
    branches: (a, b, False) and (a, True, b)."""
    kind, *_, sources = parent
    if kind != "if" or len(sources) != 3:
        return ()
    test, then, orelse = sources
    decided, other = (orelse, then) if holds else (then, orelse)
    given_up = isinstance(decided, Literal) and decided.value is (not holds)
    return (test, other) if given_up else ()


def _excess(let: Let, holds: bool, lengths: dict[object, Size]) -> Size | None:
    """A length that is not negative where a comparison of integers holds, or does not."""
    op = let.op if holds else OPPOSITES.get(let.op)
    if op not in OPPOSITES or any(a.type.shape or a.type.dtype.kind not in "iu" for a in let.args):
        return None
    a, b = (_unify_lengths(size_of(x), lengths) for x in let.args)
    if op is not_equal:
        larger = [p - q for p, q in ((a, b), (b, a)) if dims.at_least(p - q, 0)]
        return larger[0] - 1 if larger else None
    strict = op in (greater, less)
    return None if op is equal else (a - b if op in (greater, greater_equal) else b - a) - strict


def _unify_lengths(size: Size, lengths: dict[object, Size]) -> Size:
    """A length in which how long a list is, which is asked for again at each use, is one symbol."""

    def symbol(s: dims.Symbol) -> Size | None:
        let = trace().definitions.get(s.var) if isinstance(s.var, Var) else None
        if let is None or let.op is not stack_length:
            return None
        return lengths.setdefault(let.args, dims.symbol("length", 0))

    return dims.substitute(size, symbol)
