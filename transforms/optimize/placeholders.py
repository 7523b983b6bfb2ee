"""Gives a dummy value to variables that only one arm of a branch sets, where a later kernel takes
them in any case, or an array saves them.

if c: t = f(x)                  becomes      if c: t = f(x)
g_kernel(c, t)                               else: t = 0.0
                                             g_kernel(c, t)

They are read under the same test only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.undefined_values import unset_sizes
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    is_undefined,
    outputs,
    statements,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.stacks import new_stack
from tapeless.transforms.optimize.loop_carries import carries, yields


def with_placeholders(block: Block, passed: Collection[Atom], memory: Op) -> Block:
    """A block in which all that is passed on has a value; `memory` makes an array."""
    return _Placing(
        _needed_variables(block, {a for a in passed if isinstance(a, Var)}), memory
    ).block(block)


def with_sizes(block: Block) -> Block:
    """A block in which lengths that arrays are made with have a value: 0 where nobody looks at
    these."""
    sizes = unset_sizes(block)
    return with_placeholders(block, sizes, empty) if sizes else block


def _needed_variables(block: Block, needed: set[Var]) -> set[Var]:
    """What must have a value so that these have one."""
    rows: list[tuple[Any, ...]] = []
    for s in statements(block):
        if isinstance(s, If):
            rows += zip(s.outs, s.then.results, s.orelse.results, strict=True)
        elif isinstance(s, (For, While)):
            rows += zip(s.outs, carries(s), s.inits, yields(s), strict=True)
    while True:
        beside_needed = {a for row in rows if not needed.isdisjoint(row) for a in row}
        more = {a for a in beside_needed if isinstance(a, Var)} - needed
        if not more:
            return needed
        needed |= more


class _Placing:
    """`sizes` are the lengths of arrays that are ahead of the statement that is looked at."""

    def __init__(self, needed: set[Var], memory: Op) -> None:
        self.needed, self.memory = needed, memory
        self.sizes: frozenset[dims.Symbol] = frozenset()

    def block(self, block: Block) -> Block:
        outside = self.sizes
        self.note(block.params)
        body: list[Statement] = []
        for s in block.body:
            body += self.statement(s)
            self.note(outputs(s))
        self.sizes = outside
        return replace(block, body=tuple(body))

    def note(self, variables: Iterable[Var]) -> None:
        arrays = (v for v in variables if isinstance(v.type, Type) and not v.partial)
        lengths = [n for v in arrays for n in v.type.shape]
        self.sizes |= {s for n in lengths for s in dims.symbols(n) if dims.single(s) == n}

    def statement(self, s: Statement) -> list[Statement]:
        match s:
            case If():
                sides = [self.side(b, s.outs) for b in (s.then, s.orelse)]
                return [replace(s, then=sides[0], orelse=sides[1])]
            case For() | While():
                definitions: list[Statement] = []
                inits = tuple(
                    self.value(a, p, definitions) for a, p in zip(s.inits, carries(s), strict=True)
                )
                return [*definitions, replace(s, inits=inits, body=self.block(s.body))]
        return [s]

    def side(self, side: Block, outs: tuple[Var, ...]) -> Block:
        definitions: list[Statement] = []
        results = tuple(
            self.value(a, v, definitions) for a, v in zip(side.results, outs, strict=True)
        )
        side = self.block(side)
        return replace(side, body=(*side.body, *definitions), results=results)

    def value(self, a: Atom, to: Var, definitions: list[Statement]) -> Atom:
        if to not in self.needed or not is_undefined(a):
            return a
        value_type = to.type
        op, params = self.memory, dict[str, Any]()
        if isinstance(value_type, StackType):
            op, params = new_stack, {"item": value_type.item}
        elif value_type.shape:
            # sizes of its own are not looked at elsewhere
            shape = tuple(n if self.is_there(n) else 0 for n in value_type.shape)
            op, params = self.memory, {"shape": shape, "dtype": value_type.dtype}
        else:
            zero = value_type.dtype.type(0)
            return Literal(zero.item() if value_type.weak else zero, value_type)
        v = Var(value_type, to.name)
        definitions.append(Let((v,), op, (), params))
        return v

    def is_there(self, n: dims.Size) -> bool:
        return dims.is_given(n) or dims.symbols(n) <= self.sizes
