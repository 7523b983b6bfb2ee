"""Knows the try statements that are open, which catch what an operation may raise.

try: y = 1 / n                    an operation that may raise ZeroDivisionError is refused, or
except ZeroDivisionError: ...     decided by a test, where such a statement is open
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError


class Handlers:
    """The open except clauses.

    open      the innermost last
    attempts  the runs of their try statements
    probes    how many of these only look for tests
    ways      how many of the statements are staged once for each way through them
    generators  how many clauses were open where each of the generators that run was entered
    """

    def __init__(self) -> None:
        self.open: list[Any] = []
        self.attempts: list[Any] = []
        self.probes = self.ways = 0
        self.generators: list[int] = []

    def innermost(self, kind: type[BaseException]) -> Any:
        """The innermost open clause that catches such an error; None if there is none."""
        return next((h for h in reversed(self.open) if issubclass(kind, h.kinds())), None)

    def leaves_generator(self, kind: type[BaseException]) -> bool:
        """Whether such an error is StopIteration that nothing catches in a generator."""
        if not self.generators or not issubclass(kind, StopIteration):
            return False
        return not any(issubclass(kind, h.kinds()) for h in self.open[self.generators[-1] :])

    def decides(self, error: Exception, fails: Callable[[], Atom]) -> bool:
        """Whether it is known that an operation does not fail; raises the error where it does."""
        handler = self.innermost(type(error))
        if handler is None:
            return False
        if handler.attempt is None:
            self.refuse_undecided(type(error))
        handler.decide(error, fails)
        return True

    def refuse_undecided(self, kind: type[BaseException]) -> None:
        """An operation may raise when the program runs: refused where that is caught."""
        if self.innermost(kind) is not None:
            raise UnsupportedError(
                f"whether this raises {kind.__name__} is known only when the program runs, "
                "and an except clause catches it",
                "test for it with if and else",
            )
