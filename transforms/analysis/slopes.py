"""Tells which derivatives may be zero because of a choice, and which factors may be infinite.

1 / (1 + x**2)      is finite: 1 + x**2 is never zero
x / np.sqrt(x)      may be nan: np.sqrt(x) may be zero
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from tapeless.transforms.analysis.sign_analysis import (
    CHOICES,
    CHOSEN,
    EVERYWHERE,
    INFINITE,
    MOVES,
    NONZERO,
    PARTLY,
    POLE,
    ROOT,
    STEEP,
    UNREAD,
    ZERO,
    asks_for_infinity,
    is_truth,
    of_comparison,
    of_number,
    of_one,
    of_result,
)
from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.language import (
    Atom,
    Effect,
    For,
    Function,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    statements,
)
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.strong_zero import Scaling

_facts: WeakKeyDictionary[Var, int] = WeakKeyDictionary()
#: Of comparisons: what is compared, and what is known of it where they hold and where not.
_tests: WeakKeyDictionary[Var, tuple[Atom, int, int]] = WeakKeyDictionary()

#: Of parts and copies: what they are parts or copies of.
_parts: WeakKeyDictionary[Var, Atom] = WeakKeyDictionary()


class _Told(threading.local):
    """What the tests say on whose sides statements are looked at, the innermost last."""

    def __init__(self) -> None:
        self.sides: list[dict[Atom, int]] = []


_told = _Told()


def needs_strong_zero(op: Scaling, t: Atom, c: Atom) -> bool:
    """Whether `op(t, c)` may be 0 * inf where t is exactly zero by choice.

    A number that is an element of an array which nobody has read needs none, unless a root made
    its slope infinite: what it was computed to was infinite itself. Nor do zeros beside a triangle
    where the slopes of all elements are infinite, also of those that somebody has read.
    """
    zero, scale = zeros_of(t), _facts_of_atom(c)
    if op is truediv and not scale & NONZERO:
        scale |= INFINITE if c.type.shape else EVERYWHERE
    if zero == UNREAD and not t.type.shape and not scale & ROOT:
        return False
    steep = INFINITE if zero == PARTLY and t.type.shape and not scale & ROOT else POLE
    return bool(zero and scale & steep)


def may_be_infinite(a: Atom) -> bool:
    """Whether a value may be infinite or nan although what the program is given is finite."""
    return bool(_facts_of_atom(a) & POLE)


def zeros_of(a: Any) -> int:
    """How a tangent or cotangent may be exactly zero by choice, as facts; None: it is."""
    return CHOSEN if a is None else _facts_of_atom(a) & ZERO


def has_zeros(v: Any, how: int) -> None:
    """Says how a tangent or cotangent may be exactly zero by choice."""
    if isinstance(v, Var):
        _facts[v] = how


def note(s: Let) -> None:
    """Keeps what is known of the results of a statement, for those who do not see it later."""
    facts = _facts_of_let(s)
    for v in s.outs:
        _facts[v] = facts
    if s.op in MOVES:
        _parts[s.outs[0]] = s.args[0]
    if is_truth(s.outs[0]):
        _comparison(s)
        if asks_for_infinity(s):
            _may_be_infinite(s.args[0])


def _may_be_infinite(a: Atom | None) -> None:
    """Says so of a value, and of the arrays that it is a part of."""
    while isinstance(a, Var):
        _facts[a] = _facts_of_atom(a) | INFINITE
        a = _parts.get(a)


def note_branch(s: If) -> None:
    """Keeps what both sides of a branch say of its results."""
    for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
        _facts[v] = of_one(_facts_of_atom(a), _facts_of_atom(b))


def note_loop(s: For | While, ends: Iterable[Atom]) -> None:
    """Keeps of the results of a loop that they may be infinite, as its start or last pass say."""
    for v, a, b in zip(s.outs, s.inits, ends, strict=True):
        may = of_one(_facts_of_atom(a), _facts_of_atom(b)) & STEEP
        _facts[v] = may | INFINITE if may & EVERYWHERE else may


@contextmanager
def on_side(test: Atom, side: bool) -> Iterator[None]:
    """What is looked at inside runs only where a test has this outcome."""
    compared, holds, fails = _of_test(test)
    told = (
        {}
        if compared is None
        else {compared: _facts_of_atom(compared) | (holds if side else fails)}
    )
    _told.sides.append(told)
    try:
        yield
    finally:
        _told.sides.pop()


def chooses(function: Function) -> bool:
    """Whether tangents may get exactly zero by choice in a called function."""
    if "chooses" not in function.derived:
        function.derived["chooses"] = any(map(_chooses, statements(function.block)))
    return bool(function.derived["chooses"])


def _chooses(s: Statement) -> bool:
    return s.op in CHOICES if isinstance(s, Let) else not isinstance(s, Effect)


def _facts_of_atom(a: Atom) -> int:
    if isinstance(a, Literal):
        return of_number(a.value)
    for side in reversed(_told.sides):
        if a in side:
            return side[a]
    facts = _facts.get(a)
    if facts is None:
        let = defining_statement(a)
        if let is None:
            return 0
        facts = _facts_of_let(let)
        if _told.sides:  # of this side only
            _told.sides[-1][a] = facts
        else:
            _facts[a] = facts
    return facts


def _facts_of_let(let: Let) -> int:
    facts = [_facts_of_atom(a) for a in let.args]
    if let.op is select:
        compared, *told = _of_test(let.args[0])
        for k, more in enumerate(told, 1):
            facts[k] |= more if let.args[k] is compared else 0
    return of_result(let, facts)


def _of_test(test: Atom) -> tuple[Atom | None, int, int]:
    """What a test compares, and what is known of that where it holds and where it does not."""
    let = defining_statement(test)
    if let is not None and isinstance(test, Var) and test not in _tests:
        _comparison(let)
    return _tests.get(test, (None, 0, 0)) if isinstance(test, Var) else (None, 0, 0)


def _comparison(let: Let) -> None:
    if len(let.args) == 2 and isinstance(let.args[0], Var):
        x, bound = let.args
        _tests[let.outs[0]] = (x, *of_comparison(let.op, bound, _facts_of_atom(bound)))
