"""Reuses values of the forward part in the backward part, where both compute the same from the same
operands.

for t in range(n):                        for t in range(n):
    s = sin(x); x = s * cos(x)                s = sin(x); x = s * cos(x)
...                           becomes     ...
for t in reversed(range(n)):              for t in reversed(range(n)):
    ... <s of pass t> * sin(<x of pass t>)    ... <s of pass t> * <s of pass t>
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.autodiff.residuals.definitions import Definitions, Path
from tapeless.transforms.autodiff.residuals.min_cut_plan import MinCutPlan
from tapeless.transforms.core.language import Atom, Block, Effect, For, If, Let, Statement, Var

Key = tuple[Any, tuple[Atom, ...]]


def known_before(plan: MinCutPlan, backward: list[Statement]) -> list[Statement]:
    """The backward statements, without costly values that they read anyway of the forward part."""
    reuse = _Known(plan)
    return list(reuse.statements(backward)) if reuse.values else backward


def _key(s: Let) -> Key | None:
    single = len(s.outs) == 1 and not s.params
    return (s.op, s.args) if single and s.op.costly and s.op.pure else None


def _innermost(primal: Definitions, atoms: Iterable[Atom]) -> Path:
    return max((primal.path.get(a, ()) for a in atoms if isinstance(a, Var)), key=len, default=())


class _Known:
    def __init__(self, plan: MinCutPlan) -> None:
        self.new: dict[Var, Var] = {}
        self.values: dict[Key, Var] = {}
        primal = plan.primal
        for v in sorted(plan.needed, key=primal.order.__getitem__):
            let = primal.let.get(v)
            key = None if let is None else _key(let)
            # it can be read wherever its operands can be
            if key is not None and primal.path[v] == _innermost(primal, key[1]):
                self.new[v] = self.values.setdefault(key, v)

    def atom(self, a: Atom) -> Atom:
        return self.new.get(a, a) if isinstance(a, Var) else a

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(map(self.atom, atoms))

    def block(self, block: Block) -> Block:
        body = self.statements(block.body)
        return Block(block.params, body, self.atoms(block.results))

    def statements(self, body: Iterable[Statement]) -> tuple[Statement, ...]:
        return tuple(
            new_statement for s in body if (new_statement := self.statement(s)) is not None
        )

    def statement(self, s: Statement) -> Statement | None:
        match s:
            case Let():
                candidate = Let(s.outs, s.op, self.atoms(s.args), s.params, s.origin)
                forward_value = self.values.get(key) if (key := _key(candidate)) else None
                if forward_value is None:
                    return candidate
                self.new[s.outs[0]] = forward_value
                return None
            case If():
                then, orelse = self.block(s.then), self.block(s.orelse)
                return replace(s, test=self.atom(s.test), then=then, orelse=orelse)
            case For():
                start, stop, step = self.atoms((s.start, s.stop, s.step))
                inits, body = self.atoms(s.inits), self.block(s.body)
                return replace(s, start=start, stop=stop, step=step, inits=inits, body=body)
            case Effect():
                return replace(s, args=self.atoms(s.args))
            case _:
                raise TypeError(s)
