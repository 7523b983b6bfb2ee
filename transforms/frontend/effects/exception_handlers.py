"""Decides which errors the user's except clauses catch: those that staging knows to be raised, or
not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic, atom_of_size, size_of
from tapeless.transforms.core.language import Atom, Block, Let, Var, statements
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import NotSquareError, ShapeError, TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.effects.fallible_operations import failures, may_raise
from tapeless.transforms.frontend.effects.try_attempts import Attempt, Fork
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.numpy.run_time_errors import raise_where
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, isfinite, logical_and

HINT = "write it as if and else"


@dataclass(frozen=True)
class Handler:
    """An open try statement: what it catches, and the blocks and tests that it is in."""

    kinds: Callable[[], Any]
    depth: int
    tests: int
    attempt: Attempt | None = None

    def raise_failures(self, s: Let) -> None:
        """Raises what an operation raises in this run of the statement."""
        t = trace()
        for error, fails in failures(s) if self.attempt is not None else ():
            if t.handlers.innermost(type(error)) is not self:
                continue
            self.decide(error, fails)
            for attempt in t.handlers.attempts:
                attempt.passed.append((s.op, s.args))

    def decide(self, error: Exception, fails: Callable[[], Atom]) -> None:
        """Raises an error in the runs of the statement in which it is raised."""
        assert self.attempt is not None
        tests = trace().tests
        if len(tests) > self.tests:
            raise Fork(self.attempt, tests[-1])
        with _without_watching():
            test = fails()
        if self.attempt.outcome(test):
            raise error


@contextmanager
def _without_watching() -> Iterator[None]:
    """What is recorded inside raises nothing that matters."""
    t = trace()
    handlers, t.handlers.open = t.handlers.open, []
    try:
        yield
    finally:
        t.handlers.open = handlers


@contextmanager
def handling(kinds: Callable[[], Any]) -> Iterator[Attempt | None]:
    """What is staged inside is in a try statement that catches `kinds()`."""
    t = trace()
    depth, attempt = t.depth, t.handlers.attempts[-1] if t.handlers.attempts else None
    if attempt is not None and attempt.depth:
        attempt = None  # that of a statement around
    elif attempt is not None:
        attempt.depth, attempt.tests = depth, len(t.tests)
    t.handlers.open.append(Handler(kinds, depth, len(t.tests), attempt))
    try:
        yield attempt
    finally:
        t.handlers.open.pop()


def caught(clauses: Iterable[Callable[[], Any]]) -> Any:
    """What the clauses of a try statement catch, as one nested tuple. Python evaluates a clause
    only where an error comes to it: behind one whose names are not there, none catches."""
    kinds: list[Any] = []
    with suppress(NameError, AttributeError):
        kinds.extend(clause() for clause in clauses)
    return tuple(kinds)


@contextmanager
def trying(kinds: Callable[[], Any]) -> Iterator[None]:
    """The body of a try statement: shapes that do not fit raise what NumPy raises."""
    t = trace()
    body = t.blocks[-1]
    start = len(body)
    with handling(kinds) as attempt:
        try:
            yield
        except ShapeError as e:
            expected = np.linalg.LinAlgError if isinstance(e, NotSquareError) else ValueError
            if issubclass(expected, kinds()):
                raise expected(e.problem) from None
            raise
    _refuse_failures(Block((), tuple(body[start:]), ()), kinds, attempt)


def is_always_caught(kind: type[BaseException]) -> bool:
    """Whether an error that is raised here is caught, and raised in all runs of the program;
    refuses one that is caught and may not be raised."""
    t = trace()
    handler = t.handlers.innermost(kind)
    if handler is None:
        return False
    if handler.depth == t.depth:
        return True
    why = f"whether this {kind.__name__} is raised must be known, an except clause catches it"
    if len(t.tests) > handler.tests:
        if handler.attempt is not None and not can_be_known(t.tests[-1]):
            raise Fork(handler.attempt, t.tests[-1])
        raise NeedStatic(t.tests[-1], why, HINT)
    raise UnsupportedError(why, HINT)


@contextmanager
def suppressing(kinds: tuple[type[BaseException], ...]) -> Iterator[None]:
    """contextlib.suppress"""
    try:
        with trying(lambda: kinds):
            yield
    except TapelessError:
        raise
    except kinds:
        pass


def divide(kind: str, left: Any, right: Any) -> None:
    """Raises, where that is caught, what Python raises for a division by a zero that is known; and,
    when the program runs, for a sum of nothing by a zero: sum(found) / len(found)."""
    if kind == "Div" and isinstance(left, Symbol) and isinstance(right, Symbol):
        count = trace().sums.get(left.value())
        if count is not None and right.type.weak and right.type.dtype.kind in "iub":
            trace().handlers.refuse_undecided(ZeroDivisionError)
            nothing = logical_and(equal(atom_of_size(count), 0), equal(right.value(), 0))
            raise_where(nothing, ZeroDivisionError, "division by zero")
        return
    if kind not in ("Div", "FloorDiv", "Mod") or not (type(right) in (int, float) and right == 0):
        return
    of_python = isinstance(left, Symbol) and left.type.weak
    if of_python and trace().handlers.innermost(ZeroDivisionError) is not None:
        raise ZeroDivisionError("division by zero")


def _refuse_failures(body: Block, kinds: Callable[[], Any], attempt: Attempt | None) -> None:
    """Refuses a try statement that would catch what an operation in it may raise, if that depends
    on data; integers that decide it are made known."""
    has_passed = attempt.has_passed if attempt is not None else lambda op, args: False
    lets = (s for s in statements(body) if isinstance(s, Let) and not has_passed(s.op, s.args))
    for let, (error, operands) in ((s, effect) for s in lets for effect in may_raise(s)):
        if not issubclass(error, kinds()) or _is_finite_here(let.outs[0]):
            continue
        why = f"whether this raises {error.__name__} depends on the contents of arrays"
        if operands and all(not a.type.shape and _knowable(a) for a in operands):
            raise NeedStatic(operands[0], why)
        raise UnsupportedError(
            f"{why}, and an except clause catches it", "test for it with if and else"
        )


def _is_finite_here(result: Var) -> bool:
    """Whether a number is finite in the call at hand, on whose values a program is traced, so that
    what computes it did not overflow; a guard then says so."""
    kind, t = result.type, trace()
    if not t.tracing or kind.shape or kind.dtype.kind not in "fc":
        return False
    return bool(t.require(isfinite(result), "an except clause catches it where it is not finite"))


def _knowable(a: Var) -> bool:
    """Whether integers and lengths decide a value, or which pass of a loop it is in."""
    size = size_of(a) if a.type.dtype.kind in "iu" else None
    of_loops = dims.symbols(size) & trace().bounds.keys() if size is not None else ()
    return bool(of_loops) or can_be_known(a)
