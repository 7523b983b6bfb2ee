"""Sorts the statements of a loop by how many products of all passes are made before them.

h = tanh(x[i] @ w); y[i] = h @ v      h is of the first loop, y[i] of the second: h @ v is between
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from tapeless.transforms.core.language import For, Statement, Var, outputs
from tapeless.transforms.core.uses import nested_reads

#: A product whose operand is there ahead of the loop.
AHEAD = -1


def values_of_pass(loop: For) -> set[Var]:
    """The values of a pass of a loop."""
    return {*loop.body.params, *(v for s in loop.body.body for v in outputs(s))}


class Dependence:
    """What the statements and carries of a loop need of one another, from pass to pass, too.

    reads  what each statement reads of the values of a pass, its statement's or its carry
    """

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.definitions: dict[Var, Statement] = {v: s for s in loop.body.body for v in outputs(s)}
        self.next = dict(zip(loop.carries, loop.yields, strict=True))
        self.reads = {s: self._in_pass(nested_reads(s)) for s in loop.body.body}

    def _in_pass(self, variables: Iterable[Var]) -> list[Var]:
        return [v for v in dict.fromkeys(variables) if v in self.definitions or v in self.next]

    def needs(self, v: Var) -> list[Var]:
        """What a value is made of: of this pass, or the one before if it is a carry."""
        return self.needs_of(v if v in self.next else self.definitions[v])

    def needs_of(self, node: Var | Statement) -> list[Var]:
        """The same of a carry or a statement."""
        if isinstance(node, Var):
            return self._in_pass(a for a in [self.next[node]] if isinstance(a, Var))
        return self.reads[node]

    def is_circular(self, v: Var) -> bool:
        """Whether a value depends on itself in an earlier pass."""
        seen: set[Var] = set()
        stack = [*self.needs(v)]
        while stack:
            u = stack.pop()
            if u is v:
                return True
            if u not in seen:
                seen.add(u)
                stack += self.needs(u)
        return False


def levels(
    dependence: Dependence, products: Collection[Statement], ahead: Collection[Statement]
) -> Mapping[Any, int]:
    """The level of each statement and carry: the loop in which it is. A product of level k is made
    after the loop of that level.

    products  the statements that leave the loop, none of which depends on itself
    ahead     those of them whose operands are there ahead of the loop
    """
    level: dict[Any, int] = dict.fromkeys([*dependence.loop.body.body, *dependence.next], 0)
    level.update(dict.fromkeys(ahead, AHEAD))

    def level_of(v: Var) -> int:
        s = dependence.definitions.get(v)
        return level[v] if s is None else level[s] + (s in products)

    changed = True
    while changed:
        changed = False
        for node in level:
            if node in ahead:
                continue
            deepest = max(map(level_of, dependence.needs_of(node)), default=0)
            if deepest > level[node]:
                level[node] = deepest
                changed = True
    return level
