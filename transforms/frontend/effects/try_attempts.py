"""Stages try statements whose exceptions depend on run-time values: each way through one is staged
by itself.

try:                                      if factorises(np.linalg.cholesky, k):
    l = np.linalg.cholesky(k)                 l = np.linalg.cholesky(k)
except np.linalg.LinAlgError:             else:
    l = np.linalg.cholesky(k + 1e-6 * i)      l = np.linalg.cholesky(k + 1e-6 * i)

The statement is run once for each outcome of the tests on which its errors depend (`forks.py`): in
each run they are known, and the errors are raised as Python raises them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.trace import trace


@dataclass
class Attempt:
    """A run of a try statement; `outcomes` are those of the tests that are known in it, in order,
    None where none are looked for."""

    outcomes: tuple[bool, ...] | None
    again: Callable[[], Any]  # starts staging again, with the tests looked for
    depth: int = 0
    tests: int = 0  # those that the statement is in
    met: int = 0
    passed: list[tuple[Any, tuple[Atom, ...]]] = field(default_factory=list)

    def outcome(self, test: Atom) -> bool:
        """Whether a test holds in this run."""
        t = trace()
        if t.tracing:
            return bool(t.require(test, "an except clause catches what it decides"))
        if self.outcomes is None:
            self.again()
        if t.depth != self.depth:
            raise Fork(self, t.tests[-1] if len(t.tests) > self.tests else test)
        self.met += 1
        if self.met <= len(self.outcomes or ()):
            return self.outcomes[self.met - 1]  # type: ignore[index]
        raise Fork(self, test, at_hand=True)

    def has_passed(self, op: Any, args: tuple[Atom, ...]) -> bool:
        """Whether it is known of an operation that it does not fail."""
        return any(o is op and a == args for o, a in self.passed)


class Fork(NeedStatic):
    """A test must be known in a run of a try statement; `at_hand`: it is no test of a side or of a
    pass of a loop inside."""

    def __init__(self, attempt: Attempt, test: Atom, at_hand: bool = False) -> None:
        super().__init__(
            test,
            "whether this error is raised must be known, an except clause catches it",
            "write it as if and else",
        )
        self.attempt, self.at_hand = attempt, at_hand
