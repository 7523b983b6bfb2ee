"""Analyses divergence: which values of a program depend on the batch element, and where its control
flow does.

while x > 1: x = x / 2      with x of the element: x depends on it, and how often the body runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    free_variables,
    outputs,
    statements,
)
from tapeless.transforms.core.uses import reads
from tapeless.transforms.vmap.masked_region import is_calm


def read_by(body: Iterable[Statement]) -> dict[Var, None]:
    """The variables from outside that statements read, also through sizes."""
    whole = Block((), tuple(body), ())
    bound_variables = {v for s in statements(whole) for b in blocks(s) for v in b.params}
    bound_variables |= {v for s in statements(whole) for v in outputs(s)}
    inner = dict.fromkeys(
        v for s in statements(whole) for v in reads(s) if v not in bound_variables
    )
    return free_variables(whole) | inner


class DivergenceFlow:
    """`known` says of variables around the statements whether they depend on the element; `found`
    are those of the statements that do."""

    def __init__(self, is_known: Callable[[Any], bool]) -> None:
        self.known = is_known
        self.found: set[Var] = set()

    def depends(self, a: Any) -> bool:
        return a in self.found or (isinstance(a, Var) and self.known(a))

    def block(self, body: Iterable[Statement]) -> bool:
        """Whether elements take courses of their own that are no matter of selection."""
        own = [self.statement(s) for s in body]  # all of them: `found` grows
        return any(own)

    def statement(self, s: Statement) -> bool:
        match s:
            case Let():
                if any(map(self.depends, reads(s))):
                    self.found.update(s.outs)
                return False
            case If():
                return self.branch(s)
            case For():
                ends = any(map(self.depends, (s.start, s.stop, s.step)))
                flag = s.body.results[0] if s.until else None
                return self.loop(s, s.body, s.carries, s.yields, flag, ends)
            case While():
                return self.while_(s)
        return False

    def branch(self, s: If) -> bool:
        inside = [self.block(b.body) for b in (s.then, s.orelse)]
        differs = self.depends(s.test)
        for v, *ends in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            if differs or any(map(self.depends, ends)):
                self.found.add(v)
        calm = is_calm(s.then.body) and is_calm(s.orelse.body)
        return any(inside) or (differs and not calm)

    def while_(self, s: While) -> bool:
        pairs = dict(zip(s.test.params, s.body.params, strict=True))
        own = False
        while True:
            before = len(self.found)
            self.found |= {p for p, q in pairs.items() if self.depends(q)}
            own = self.block(s.test.body) or own
            test = s.test.results[0]
            own = self.loop(s, s.body, s.body.params, s.body.results, test, False) or own
            if len(self.found) == before:
                return own

    def loop(self, s: Any, body: Block, carries: Any, yields: Any, flag: Any, ends: bool) -> bool:
        rows = list(zip(carries, s.inits, yields, s.outs, strict=True))
        own = ends
        while True:
            before = len(self.found)
            differs = ends or self.depends(flag)
            if ends:
                self.found.update(body.params[:1])
            for p, a, y, v in rows:
                if differs or self.depends(a) or self.depends(y):
                    self.found |= {p, v}
            own = self.block(body.body) or self.depends(flag) or own
            if len(self.found) == before:
                break
        if differs:
            self.found.update(outputs(s))
        return own
