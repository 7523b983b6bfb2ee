"""Runs try statements that catch errors of run-time values: each way through one by itself."""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterator

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Statement,
    blocks,
    free_variables,
    has_effect,
    outputs,
    statements,
)
from tapeless.transforms.core.uses import reads
from tapeless.transforms.errors import Signal, TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branch_side import PYTHON_RAISES
from tapeless.transforms.frontend.control_flow.branches import branch
from tapeless.transforms.frontend.effects.effects import Unreachable, raise_
from tapeless.transforms.frontend.effects.fallible_operations import may_raise
from tapeless.transforms.frontend.effects.try_attempts import Attempt, Fork
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.slices_and_gathers import gather

SIGNALS = (TapelessError, Signal)
MOST = 64  # runs of one statement
Run = types.FunctionType  # the statement, as a function without arguments


def run_try(run: Run) -> None:
    """Runs a try statement."""
    t = trace()
    key = run.__code__
    if key in t.decisions.attempts:
        t.handlers.ways += 1
        try:
            _each_way(run, (), itertools.count(1))
        finally:
            t.handlers.ways -= 1
    else:
        _run(run, Attempt(None, lambda: t.decisions.attempt(key)))


def _run(run: Run, attempt: Attempt) -> None:
    t = trace()
    t.handlers.attempts.append(attempt)
    try:
        run()
    except (*SIGNALS, *PYTHON_RAISES):
        raise
    except Exception as e:
        if not attempt.outcomes:
            raise
        raise_(e)  # only on this way
    finally:
        t.handlers.attempts.pop()


def _each_way(run: Run, outcomes: tuple[bool, ...], runs: Iterator[int]) -> None:
    """What follows where tests have had these outcomes."""
    if next(runs) > MOST:
        raise UnsupportedError(
            f"there are more than {MOST} ways through this try statement, by data that decides "
            "which errors it catches",
            "try less in one statement",
        )
    test = _next_test(run, outcomes)
    if test is None:
        _run(run, Attempt(outcomes, _refuse_search))
        return
    branch(
        Symbol(test),
        lambda: _each_way(run, (*outcomes, True), runs),
        lambda: _each_way(run, (*outcomes, False), runs),
    )


def _next_test(run: Run, outcomes: tuple[bool, ...]) -> Atom | None:
    """The next test on which errors depend, and what it takes to compute it; None if there is no
    more."""
    t = trace()
    attempt, before = Attempt(outcomes, _refuse_search), t.memory.stale
    around = [(a, a.met, len(a.passed)) for a in t.handlers.attempts]
    lists = [(tail, len(tail.log), tail.length) for tail in t.containers.tails]
    t.memory.stale = dict(before)
    t.handlers.probes += 1
    fork_found: Fork | None = None
    with t.recording() as journal, t.block() as body:
        try:
            _run(run, attempt)
        except Fork as fork:
            fork_found = fork
        except Exception as e:
            if isinstance(e, TapelessError):
                raise
        except Unreachable:
            pass  # raised again by the run that counts, as other errors are
        finally:
            t.handlers.probes -= 1
    t.rollback(journal)
    t.memory.stale = before
    for a, met, passed in around:
        a.met = met
        del a.passed[passed:]
    for tail, mark, length in lists:
        del tail.log[mark:]
        tail.length = length
    if fork_found is None:
        return None
    if (
        fork_found.attempt is not attempt or not fork_found.at_hand
    ):  # for the statement around, or a refusal
        t.blocks[-1] += body
        raise fork_found
    for s in _needed_statements(body, fork_found.atom):
        t.emit(s)
    return fork_found.atom


def _needed_statements(body: list[Statement], test: Atom) -> list[Statement]:
    """The statements that a test needs."""
    wanted: set[Atom] = {test}
    needed: list[Statement] = []
    inside = list(statements(Block((), tuple(body), ())))
    ends = any(isinstance(s, Effect) and s.kind == "raise" for s in inside)
    for s in reversed(body):
        if wanted.isdisjoint(outputs(s)):
            continue
        parts = list(statements(Block((), (s,), ())))
        if any(map(has_effect, parts)) or (ends and any(map(_fails, parts))):
            raise UnsupportedError(
                "what an except clause catches depends on data, and so does what is done or "
                "raised before it in the try statement",
                "do that before the try statement",
            )
        wanted.update(reads(s))
        for b in blocks(s):
            wanted.update(free_variables(b))
        needed.append(s)
    return needed[::-1]


def _fails(s: Statement) -> bool:
    """Whether an error of its own may come before one of the statement."""
    return isinstance(s, Let) and (s.op is gather or any(may_raise(s)))


def _refuse_search() -> None:
    raise AssertionError("the outcomes are looked for already")
