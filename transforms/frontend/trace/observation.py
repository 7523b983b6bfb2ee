"""Traces on values: where Python needs a value while staging, the call at hand gives it, and the
program guards it.

if np.max(x) > 1.0: ...      becomes      if not np.max(x) > 1.0:
                                              raise RuntimeError("not the traced way: ...")

A call in which a guard fails takes another way; it is staged for its own (`dispatch/ways.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Block, Effect, If, Literal, Statement, Type, Var
from tapeless.transforms.core.traced_calls import OTHER_WAY
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import Signal
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, isnan, signbit

if TYPE_CHECKING:
    from tapeless.transforms.frontend.trace.trace import Trace


class Unobservable(Signal):
    """A value that the call at hand does not give: it differs from pass to pass of a loop, say."""


@dataclass
class Guarded:
    """A value that the program guards, and where: after `place` statements of a block."""

    value: Any
    block: list[Statement]
    place: int
    guard: Statement

    def stands(self, open_blocks: list[list[Statement]]) -> bool:
        """Whether the guard is still there, ahead of what is staged now."""
        inside = any(block is self.block for block in open_blocks)
        return inside and self.place < len(self.block) and self.block[self.place] is self.guard


class KnownValues(Protocol):
    """What values of the program are in the call at hand."""

    def value(self, wanted: Atom) -> Any:
        """The value of an atom; raises Unobservable."""

    def perform(self, s: Statement) -> None:
        """Carries a statement out for what it does, such as printing."""

    def give(self, v: Var, value: Any) -> None:
        """Notes the value of a variable."""


def observe(run: Trace, a: Atom, why: str, hint: str = "") -> Any:
    """The value of a number in the call at hand, which the program guards from here on; raises
    NeedStatic where the call gives none."""
    if isinstance(a, Literal):
        return a.value
    guarded = run.call.fixed.get(a)
    if guarded is not None and guarded.stands(run.blocks):
        return guarded.value
    values = run.call.values
    if not isinstance(a.type, Type):
        raise NeedStatic(a, why, hint)
    if run.call.constants is not None and is_constant(run, a):
        return _constant(run, run.call.constants, a, why, hint)
    if values is None or a.type.shape:
        raise NeedStatic(a, why, hint)
    try:
        value = python_value(values.value(a), a.type)
    except Unobservable:
        raise NeedStatic(a, why, hint) from None
    run.call.fixed[a] = _guard(run, a, value)
    line = f"line {run.origin.line}" if run.origin is not None else "the function"
    run.note(f"{line} is traced on the values of the call: {why}")
    return value


def is_constant(run: Trace, a: Var) -> bool:
    """Whether a value is computed of constants only, as `np.arange(3)[::-1][0]` is."""
    answers = run.call.of_constants
    if a not in answers:
        pending, seen = [a], {a}
        while pending:
            v = pending.pop()
            if not (answers[v] if v in answers else _has_value_of_operands(run, v)):
                answers[a] = False
                return False
            let = run.definitions[v]
            operands = {x for x in let.args if isinstance(x, Var)} - seen
            pending += operands if v not in answers else ()
            seen |= operands
        answers |= dict.fromkeys(seen, True)
    return answers[a]


def _has_value_of_operands(run: Trace, v: Var) -> bool:
    """Whether a value is that of an operation on its operands, and on nothing else."""
    let = run.definitions.get(v)
    if let is None or not let.op.pure or sizes_in((*let.params.values(),)):
        return False
    return not any(sizes_in(out.type) for out in let.outs)


def constant_value(run: Trace, a: Atom) -> Any:
    """What is computed of constants only, as an array; None of other values."""
    values = run.call.constants
    if values is None or not isinstance(a, Var) or not is_constant(run, a):
        return None
    try:
        return np.asarray(values.value(a))
    except Unobservable:
        return None


def _constant(run: Trace, values: KnownValues, a: Var, why: str, hint: str) -> Any:
    """The value of what is computed of constants: the same in each call."""
    try:
        value = values.value(a)
    except Unobservable:
        raise NeedStatic(a, why, hint) from None
    return np.asarray(value) if a.type.shape else python_value(value, a.type)


def python_value(value: Any, kind: Type) -> Any:
    """A number as the user's code sees it: one of Python's, or of NumPy's."""
    number = np.asarray(value, kind.dtype)[()]
    return number.item() if kind.weak or kind.dtype.kind == "b" else number


def _guard(run: Trace, a: Var, value: Any) -> Guarded:
    """Lets the program raise where a number is another one than in the call at hand."""
    origin = run.place()
    shown = value.item() if isinstance(value, np.generic) else value
    line = f"line {origin.line}" if origin is not None else "a test"
    text = f"{OTHER_WAY}{line} goes on with {shown!r}"
    fail = Effect("raise", (), {"type": RuntimeError, "parts": (("value", text),)}, origin)
    empty, failing = Block((), (), ()), Block((), (fail,), ())
    sides, test = (empty, failing), a
    if isinstance(value, (bool, np.bool_)):
        sides = sides if value else sides[::-1]
    else:
        test = isnan(a) if np.isnan(value) else equal(a, Literal(value, a.type))
    run.emit(If((), test, *sides, None, origin))
    if value == 0 and a.type.dtype.kind == "f":  # zeros of both signs are equal
        minus = bool(np.signbit(value))
        sides = (empty, failing) if minus else (failing, empty)
        run.emit(If((), signbit(a), *sides, None, origin))
    block = run.blocks[-1]
    return Guarded(value, block, len(block) - 1, block[-1])
