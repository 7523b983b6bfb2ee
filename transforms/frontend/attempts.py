"""Try statements that catch what data decides: each way through one is staged by itself.

try:                                      if factorises(np.linalg.cholesky, k):
    l = np.linalg.cholesky(k)                 l = np.linalg.cholesky(k)
except np.linalg.LinAlgError:             else:
    l = np.linalg.cholesky(k + 1e-6 * i)      l = np.linalg.cholesky(k + 1e-6 * i)

The statement is run once for each outcome of the tests on which its errors depend (`forks.py`): in
each run they are known, and the errors are raised as Python raises them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic, static
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.ops.definite import METHODS, factorises
from tapeless.transforms.ops.elementwise import absolute
from tapeless.transforms.ops.steps import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
)

MOST = 64  # runs of one statement
DIVISIONS = ("truediv", "floordiv", "mod", "remainder")
#: Whether functions of `math` raise ValueError for a number.
DOMAINS: dict[str, Callable[[Atom], Any]] = {
    "sqrt": lambda x: less(x, 0.0),
    **dict.fromkeys(("log", "log2", "log10"), lambda x: less_equal(x, 0.0)),
    "log1p": lambda x: less_equal(x, -1.0),
    **dict.fromkeys(("arcsin", "arccos"), lambda x: greater(absolute(x), 1.0)),
    "arccosh": lambda x: less(x, 1.0),
    "arctanh": lambda x: greater_equal(absolute(x), 1.0),
}

#: The largest numbers of which they have a result; above, they raise OverflowError.
LARGEST = {
    **dict.fromkeys(("exp", "expm1"), math.log(sys.float_info.max)),
    **dict.fromkeys(("sinh", "cosh"), math.asinh(sys.float_info.max)),
}
EVEN = ("sinh", "cosh")  # raise it for negative numbers, too


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


def failures(op: Any, args: tuple[Atom, ...]) -> Iterator[tuple[Exception, Callable[[], Atom]]]:
    """The errors that an operation may raise, and the tests of whether it does."""
    name = op.name
    if name in METHODS:
        message = METHODS[name][1]
        yield np.linalg.LinAlgError(message), lambda: logical_not(factorises(args[0], name=name))
    elif not all(getattr(a.type, "weak", False) for a in args):
        return
    elif name in DIVISIONS and isinstance(args[1], Var):
        yield ZeroDivisionError("division by zero"), lambda: equal(args[1], 0)
    elif name == "power" and args[0].type.dtype.kind == "f" and is_count(args[1]):
        error = OverflowError(34, "Numerical result out of range")
        largest = _largest_base(int(static(args[1], "")))
        yield error, lambda: _is_new(greater(absolute(args[0]), largest), args[0])
    elif len(args) != 1 or args[0].type.dtype.kind == "c":
        return
    elif name in DOMAINS:
        yield ValueError("math domain error"), lambda: DOMAINS[name](args[0])
    elif name in LARGEST:
        yield OverflowError("math range error"), lambda: _too_large(name, args[0])


def is_count(a: Atom) -> bool:
    return isinstance(a, Literal) and a.type.dtype.kind == "i" and a.value >= 0


def _largest_base(exponent: int) -> float:
    """The largest number with a finite power."""
    if exponent < 2:
        return sys.float_info.max
    x: float = sys.float_info.max ** (1 / exponent)
    while _overflows(x, exponent):
        x = math.nextafter(x, 0)
    while not _overflows(after := math.nextafter(x, math.inf), exponent):
        x = after
    return x


def _overflows(x: float, exponent: int) -> bool:
    try:
        return math.isinf(x**exponent)
    except OverflowError:
        return True


def _too_large(name: str, x: Atom) -> Any:
    return _is_new(greater(absolute(x) if name in EVEN else x, LARGEST[name]), x)


def _is_new(overflows: Any, x: Atom) -> Any:
    """Whether a finite number is why."""
    return logical_and(overflows, less(absolute(x), math.inf))
