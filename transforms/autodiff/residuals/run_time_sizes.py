"""Binds sizes that are known at run time only to variables, which can be saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    outputs,
)
from tapeless.transforms.ops.primitives.axis_lengths import axis_size, size_if_set

Wanted = dict[Var, list[dims.Symbol]]


class Sized:
    """The primal statements with `k = v.shape[i]` after each variable whose run-time size is
    needed later."""

    def __init__(self, wanted: Wanted, size_variables: dict[dims.Symbol, Var]) -> None:
        self.wanted, self.made = wanted, size_variables
        self.lacking: set[Var] = set()
        self.new: dict[int, Statement] = {}  # what became of each structured statement

    def primal(self, body: list[Statement]) -> list[Statement]:
        self.lacking = may_lack(Block((), tuple(body), ()))
        return self.statements(body)

    def statements(self, body: Any) -> list[Statement]:
        out: list[Statement] = []
        for s in body:
            old = s
            match s:
                case If():
                    s = replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
                case For() | While():
                    s = replace(s, body=self.block(s.body))
            self.new[id(old)] = s
            out.append(s)
            out += self.sizes(outputs(s))
        return out

    def block(self, block: Block) -> Block:
        first = self.sizes(block.params)
        return Block(block.params, (*first, *self.statements(block.body)), block.results)

    def sizes(self, defined: tuple[Var, ...]) -> list[Statement]:
        statements: list[Statement] = []
        for v in defined:
            op = size_if_set if v in self.lacking else axis_size
            for symbol in self.wanted.get(v, ()):
                axis = v.type.shape.index(dims.single(symbol))
                statements.append(Let((self.made[symbol],), op, (v,), {"axis": axis}))
        return statements

    def with_new_mirrors(self, body: Any) -> list[Statement]:
        """Backward statements that mirror the new primal ones."""
        out: list[Statement] = []
        for s in body:
            match s:
                case If():
                    then, orelse = (
                        Block(b.params, tuple(self.with_new_mirrors(b.body)), b.results)
                        for b in (s.then, s.orelse)
                    )
                    s = replace(
                        s, then=then, orelse=orelse, mirror=self.new.get(id(s.mirror), s.mirror)
                    )
                case For():
                    b = Block(
                        s.body.params, tuple(self.with_new_mirrors(s.body.body)), s.body.results
                    )
                    s = replace(s, body=b, mirror=self.new.get(id(s.mirror), s.mirror))
            out.append(s)
        return out
