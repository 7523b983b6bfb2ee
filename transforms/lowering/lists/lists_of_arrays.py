"""Finds lists of arrays in a program: which values are the same list at different times.

us = new_stack(); us_2 = push(us, u); v = peek(us_2, -1)      becomes      {us, us_2}, never copied
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.primitives.new_arrays import (
    new_stack,
    stack_length,
    zero_items,
)
from tapeless.transforms.ops.primitives.stacks import (
    POPS,
    add_item,
    peek,
    push,
    set_item,
    to_array,
    unstack,
)
from tapeless.transforms.optimize.disjoint_sets import Groups

GROWTH = {push: 1, set_item: 0, add_item: 0, **dict.fromkeys(POPS, -1)}
ORIGINS = (new_stack, zero_items, unstack)


def is_list(a: Any) -> bool:
    """Whether a value is a list of arrays, whose sides inputs tell."""
    kind = a.type.item if isinstance(a, Var) and isinstance(a.type, StackType) else None
    return isinstance(kind, Type) and bool(kind.shape) and all(x.given for x in sizes_in(kind))


class ListsOfArrays:
    """Which values are the same list at different times, and which lists do only what rows can."""

    def __init__(self, block: Block) -> None:
        self.groups, self.spoilt = Groups(), list[Any]()
        self.top = {v for s in block.body for v in outputs(s)}
        self.values: dict[Var, None] = {}
        self.members: dict[Any, list[Var]] = defaultdict(list)
        self.spoil(*block.params, *block.results)
        for s in statements(block):
            self.learn(s)

    def spoil(self, *atoms: Any) -> None:
        self.spoilt += [a for a in atoms if isinstance(a, Var)]

    def learn(self, s: Statement) -> None:
        held = (*operands(s), *outputs(s))
        self.values |= dict.fromkeys(a for a in held if isinstance(a, Var) and is_list(a))
        match s:
            case Let():
                self.let(s)
            case For() if not s.until and s.step == Literal(1, s.step.type):
                for same in zip(s.inits, s.carries, s.yields, s.outs, strict=True):
                    self.join(*same)
            case For() | While():
                self.spoil(*s.inits, *s.outs)
                self.spoil(*(a for b in blocks(s) for a in (*b.params, *b.results)))
            case If():
                self.spoil(*s.outs, *s.then.results, *s.orelse.results)
            case Effect():
                self.spoil(*s.args)

    def let(self, s: Let) -> None:
        if s.op in GROWTH:
            self.join(s.args[0], s.outs[0])
        elif s.op in ORIGINS:
            self.spoil(*(v for v in s.outs if v not in self.top))
        elif s.op not in (peek, stack_length, to_array):
            self.spoil(*s.args, *s.outs)

    def join(self, *same: Atom) -> None:
        lists = [a for a in same if isinstance(a, Var) and is_list(a)]
        if len(lists) == len(same):
            self.groups.join(lists)
            self.values |= dict.fromkeys(lists)
        else:
            self.spoil(*same)

    def group_of(self, a: Any) -> Any:
        """What stands for the list that a value is; None of other values."""
        return self.groups.find(a) if a in self.values else None

    def fitting(self) -> list[Any]:
        """The lists with which nothing else is done."""
        spoilt = {self.group_of(a) for a in self.spoilt}
        for v in self.values:
            self.members[self.group_of(v)].append(v)
        return [root for root in self.members if root not in spoilt]
