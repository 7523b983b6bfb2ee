"""Joins variables that statements make one thing (union-find): what loops carry, and what
arms give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapeless.transforms.core.language import Atom, For, If, Statement, Var, While
from tapeless.transforms.optimize.loop_carries import carries, yields


class Groups:
    """Disjoint sets of variables."""

    def __init__(self) -> None:
        self.root: dict[Var, Var] = {}

    def find(self, v: Var) -> Var:
        while (up := self.root.setdefault(v, v)) is not v:
            self.root[v] = v = self.root.setdefault(up, up)
        return v

    def join(self, group: Iterable[Atom]) -> None:
        members = [a for a in group if isinstance(a, Var)]
        for v in members[1:]:
            self.root[self.find(v)] = self.find(members[0])


def possible_values(s: Statement) -> Iterator[tuple[Atom, ...]]:
    """For each result of a branch or a loop, all that it may be at the end."""
    match s:
        case If():
            yield from zip(s.outs, s.then.results, s.orelse.results, strict=True)
        case For() | While():
            tests = s.test.params if isinstance(s, While) else carries(s)
            yield from zip(s.outs, carries(s), s.inits, yields(s), tests, strict=True)
