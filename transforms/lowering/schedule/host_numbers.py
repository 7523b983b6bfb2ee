"""Finds the numbers that the driver of a GPU program computes itself: counters, sizes, and what is
made of them.

i = 0; while i < n: x = step(x); i = i + 1      the driver counts, and launches the kernels of step

All other numbers stay in the memory of the device: to read one, Python has to wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
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
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum

#: Operations whose emitted text is Python's own, for numbers of the host.
PLAIN = frozenset(
    [
        *(add, sub, mul, neg, less, less_equal, greater, greater_equal),
        *(equal, not_equal, logical_and, logical_or, logical_not, minimum, maximum),
    ]
)


def host_numbers(block: Block, on_device: Collection[Var] = ()) -> set[Var]:
    """The numbers that the driver has: parameters, sizes, and what plain arithmetic makes of them.

    on_device  parameters that lie in the memory of the device
    """
    finder = HostNumbers()
    finder.known |= {v for v in block.params if _is_number(v) and v not in on_device}
    finder.body(block.body)
    return finder.known


class HostNumbers:
    """`known` are numbers of the host, in the statements that were looked at."""

    def __init__(self) -> None:
        self.known: set[Var] = set()

    def has(self, a: Atom) -> bool:
        return isinstance(a, Literal) or a in self.known

    def body(self, body: Iterable[Statement]) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        match s:
            case Let():
                if s.op is size_value or (is_arithmetic(s) and all(map(self.has, s.args))):
                    self.known |= set(s.outs)
            case If():
                for b in (s.then, s.orelse):
                    self.body(b.body)
                self.join(s.outs, s.then.results, s.orelse.results)
                if not self.has(s.test):
                    self.known -= set(s.outs)
            case For():
                self.known.add(s.index)
                self.loop(s.carries, s.inits, s.body, s.yields)
                self.join(s.outs, s.inits, s.yields)
                self.known |= {s.count} if s.count is not None else set()
            case While():
                self.loop(s.body.params, s.inits, s.body, s.body.results)
                self.known |= {
                    q for p, q in zip(s.body.params, s.test.params, strict=True) if p in self.known
                }
                self.body(s.test.body)
                self.join(s.outs, s.inits, s.body.results)

    def loop(
        self,
        carries: tuple[Var, ...],
        inits: tuple[Atom, ...],
        body: Block,
        yields: tuple[Atom, ...],
    ) -> None:
        """Carries are numbers of the host if what they start with and all later values are."""
        candidates = {
            p for p, a in zip(carries, inits, strict=True) if _is_number(p) and self.has(a)
        }
        while True:
            before = set(self.known)
            self.known |= candidates
            self.body(body.body)
            late = dict(zip(carries, yields, strict=True))
            still_host = {p for p in candidates if self.has(late[p])}
            if still_host == candidates:
                return
            candidates, self.known = still_host, before

    def join(self, outs: Iterable[Var], *ways: tuple[Atom, ...]) -> None:
        for v, *values in zip(outs, *ways, strict=True):
            if _is_number(v) and all(map(self.has, values)):
                self.known.add(v)


def is_length(s: Let) -> bool:
    """Whether a statement makes an integer of lengths, or of other integers."""
    integers = (*s.outs, *s.args)
    return s.op is size_value or (
        is_arithmetic(s) and all(a.type.dtype.kind == "i" for a in integers)
    )


def is_arithmetic(s: Let) -> bool:
    """Whether a statement makes a number of numbers by what Python's operators do."""
    return s.op in PLAIN and all(map(_is_number, s.outs))


def _is_number(v: Var) -> bool:
    return isinstance(v.type, Type) and not v.type.shape
