"""Folds values that are read once into the expressions that read them; the others get statements
and names.

t1 = cos(x); t2 = mul(y_bar, t1)      becomes      np.cos(x) folded into y_bar * np.cos(x)

A value that is used once is folded into the expression that uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.user_names import WORDS, of_user
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.emit.control_flow import flags_tested, loop_flag
from tapeless.transforms.emit.variable_names import Naming
from tapeless.transforms.memory.aliasing import has_memory, uses
from tapeless.transforms.memory.overwritten import overwritten
from tapeless.transforms.ops.primitives.arithmetic import add, neg, sub
from tapeless.transforms.ops.primitives.new_arrays import (
    empty,
    new_stack,
    zero_items,
    zeros,
    zeros_of_items,
)
from tapeless.transforms.ops.primitives.shapes import copy, transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index
from tapeless.transforms.optimize.loop_carries import carries, yields

WIDTH = 97
HEAVY = 8  # operations in one expression
NAMED = 4  # the same for a derivative that has the name of the user's value
SHORT = 12  # what is always worth a place
UNNAMED = "product"
HOLE = re.compile(r"\{.*?\}")


@dataclass
class TextLayout:
    """folded: values written where they are used; names: the others."""

    folded: dict[Var, Let] = field(default_factory=dict)
    names: dict[Var, str] = field(default_factory=dict)
    naming: Any = None


class Folding:
    """Finds values that are used once, by a statement of the same block (or a branch in it)."""

    def __init__(self, sizes: dict[Any, set[Var]]) -> None:
        self.sizes = sizes  # what each statement reads to spell sizes
        self.count: dict[Var, int] = {}
        self.folded: dict[Var, Let] = {}
        self.weight: dict[Var, int] = {}
        self.width: dict[Var, int] = {}
        self.depth = 0
        self.late: dict[Var, Let] = {}  # could be computed where a block ends

    def run(self, block: Block) -> dict[Var, Let]:
        self.overwritten = overwritten(block)
        self.tally(block)
        self.added = self.only_added(block)
        self.fold_at_all_uses(block)
        self.block(block, loop=False, side=False)
        return self.folded

    def fold_at_all_uses(self, block: Block) -> None:
        """Finds what is written wherever it is used: i + 1 and i - 1, x.T, and opposites that are
        only added to parts of arrays."""
        stored = {s.args[0] for s in statements(block) if isinstance(s, Let) and s.op.inplace}
        for s in statements(block):
            if not isinstance(s, Let) or not (is_neighbour(s) or is_transposed(s) or s.op is neg):
                continue
            (v,), (a, *_) = s.outs, s.args
            if is_neighbour(s):
                must_fold = not of_user(v.name)
            elif s.op is neg:
                must_fold = v in self.added and a not in self.overwritten
            else:
                must_fold = not of_user(v.name) and v not in stored
            if must_fold and isinstance(a, Var) and (is_neighbour(s) or self.count.get(v, 0) > 1):
                self.folded[v], self.width[v] = s, self.text_length(s)
                self.count[a] += max(self.count.get(v, 0) - 1, 0)

    def only_added(self, block: Block) -> set[Var]:
        """Variables that are used for nothing but to be added to parts of arrays."""
        counts: dict[Var, int] = {}
        for s in statements(block):
            if isinstance(s, Let) and s.op is add_at and isinstance(v := s.args[1], Var):
                counts[v] = counts.get(v, 0) + (v.type.dtype == s.args[0].type.dtype)
        return {v for v, n in counts.items() if n == self.count[v]}

    def tally(self, block: Block) -> None:
        for s in block.body:
            for a in (*operands(s), *self.sizes.get(s, ())):
                if isinstance(a, Var):
                    self.count[a] = self.count.get(a, 0) + 1
            for v in self.sizes.get(s, ()):
                self.count[v] = 2
            for b in blocks(s):
                self.tally(b)
            for v in flags_tested(s):
                self.count[v] -= 1
        for a in block.results:
            if isinstance(a, Var):
                self.count[a] = self.count.get(a, 0) + 1

    def block(self, block: Block, loop: bool, side: bool) -> None:
        self.depth += 1
        self.lines(block, loop, side)
        self.depth -= 1

    def lines(self, block: Block, loop: bool, side: bool) -> None:
        waiting: dict[Var, Let] = {}
        for s in block.body:
            self.claim(s, waiting)
            self.spoil(s, waiting)
            for b in blocks(s):
                loops = isinstance(s, (For, While)) and b is not getattr(s, "test", None)
                self.block(b, loops, isinstance(s, If))
            flag = loop_flag(s)
            if isinstance(flag, Var) and flag in self.late:
                told = not self.reads_changing(flag, s)  # where a pass ends, as well as before
                ended = self.late.pop(flag)
                self.folded |= {flag: ended} if told else {}
            if (isinstance(s, Let) and self.foldable(s, block.results)) or (
                isinstance(s, If) and self.conditional(s)
            ):
                waiting[s.outs[0]] = s  # type: ignore[assignment]
        for a in block.results:
            if isinstance(a, Var) and a in waiting:
                if loop or of_user(a.name):
                    self.late[a] = waiting[a]
                elif not (side and self.reads_as_elif(waiting[a])):
                    self.fold(a, waiting)

    def foldable(self, s: Let, results: tuple[Atom, ...]) -> bool:
        if len(s.outs) != 1:
            return False
        (v,) = s.outs
        if (
            s.op.inplace
            or not s.op.pure
            or s.op in (new_stack, zero_items, zeros_of_items, empty, zeros)
            or (s.op is copy and v not in results)
        ):
            return False
        if self.count.get(v, 0) != 1 or v in self.folded:
            return False
        named = of_user(v.name) and s.op is not size_value and not (s.op is neg and v in self.added)
        return not named or v in results

    def reads_as_elif(self, s: Let | If) -> bool:
        """Whether a choice on one side of a branch reads better as elif."""
        return isinstance(s, If) and s.outs[0].type.dtype.kind != "b"

    def conditional(self, s: If) -> bool:
        """Whether a branch can be written as `a if test else b`."""
        if (
            len(s.outs) != 1
            or getattr(s.outs[0].type, "shape", True)
            or self.count.get(s.outs[0], 0) != 1
        ):
            return False
        v = s.outs[0]
        if of_user(v.name):
            return False
        sides = (s.then, s.orelse)
        if any(isinstance(a, Literal) and a.value is None for side in sides for a in side.results):
            return False
        return all(t.outs and t.outs[0] in self.folded for side in sides for t in side.body)

    def claim(self, s: Statement, waiting: dict[Var, Let]) -> None:
        if isinstance(s, Let) and s.op.inplace and isinstance(s.args[0], Var):
            waiting.pop(s.args[0], None)  # what is stored into needs a name
        inner = [a for a in operands(s) if isinstance(a, Var) and a in waiting]
        room = WIDTH - 4 * self.depth - self.line(s) if inner else 0
        for a in inner:
            if a in waiting:
                room -= self.fold(a, waiting, room)
        if isinstance(s, If):
            for side in (s.then, s.orelse):
                inside = dict(waiting)
                for t in side.body:
                    self.claim(t, inside)
                    self.spoil(t, inside)
                    for x in operands(t):
                        waiting.pop(x, None) if isinstance(x, Var) else None
                for x in side.results:
                    if isinstance(x, Var) and x in inside:
                        self.fold(x, inside)
                        waiting.pop(x, None)

    def fold(self, v: Var, waiting: dict[Var, Let], room: int = WIDTH - 12) -> int:
        """Writes a value where it is used, if there is room for it; gives what it takes."""
        let = waiting.pop(v)
        weight = sum(self.weight.get(a, 0) for a in parts(let) if isinstance(a, Var))
        weight += not isinstance(let, Let) or not light(let)
        width = self.text_length(let)
        more = width - len(v.name or UNNAMED)
        if weight > (HEAVY if not v.name else NAMED) or more > max(room, SHORT):
            return 0
        self.weight[v], self.width[v], self.folded[v] = weight, width, let
        return more

    def line(self, s: Statement) -> int:
        """About how many characters a statement takes."""
        target = len(s.outs[0].name or UNNAMED) + 3 if s.outs else 0
        if isinstance(s, Let):
            return self.text_length(s) + target
        return 8 + sum(map(self.letters, operands(s)))

    def text_length(self, s: Let | If) -> int:
        """About how many characters the text of a value has."""
        if isinstance(s, If):
            return 9 + sum(map(self.letters, parts(s)))
        text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
        text = text[0] if isinstance(text, tuple) else text
        shapes = 8 * sum(
            len(v) for k, v in s.params.items() if f"{{{k}}}" in text and type(v) is tuple
        )
        return len(HOLE.sub("", text)) + shapes + sum(map(self.letters, s.args))

    def letters(self, a: Atom) -> int:
        if isinstance(a, Literal):
            return len(str(a.value))
        return self.width.get(a) or len(a.name or UNNAMED)

    def spoil(self, s: Statement, waiting: dict[Var, Let]) -> None:
        """A value that reads memory which is overwritten now cannot be computed later; one that
        reads an array whose name is used for another now is not."""
        if isinstance(s, (For, While)) or (isinstance(s, Let) and not s.op.pure):
            self.keep(waiting, lambda a: False)
        elif isinstance(s, Let) and s.op is copy and (name := s.outs[0].name):
            self.keep(waiting, lambda a: a.name != name)
        elif _stores(s):
            self.keep(waiting, lambda a: a not in self.overwritten)

    def keep(self, waiting: dict[Var, Let], safe: Callable[[Var], bool]) -> None:
        """Lets go of values that read other arrays than those that are safe."""
        for v in [v for v, let in waiting.items() if not self.reads_only(let, safe)]:
            del waiting[v]

    def reads_changing(self, a: Atom, s: Statement) -> bool:
        """Whether a value is made of loop variables, which are set anew where a pass ends."""
        assert isinstance(s, (For, While))
        changing = {p for p, y in zip(carries(s), yields(s), strict=True) if y is not p}

        def reads(a: Atom) -> bool:
            folded_read = self.folded.get(a) or self.late.get(a) if isinstance(a, Var) else None
            return a in changing if folded_read is None else any(map(reads, parts(folded_read)))

        return reads(a)

    def reads_only(self, let: Let, safe: Callable[[Var], bool]) -> bool:
        """Whether all arrays that a value reads are safe."""
        return all(
            (not has_memory(a) or safe(a))
            and (a not in self.folded or self.reads_only(self.folded[a], safe))
            for a in parts(let)
            if isinstance(a, Var)
        )


def is_neighbour(s: Let) -> bool:
    if s.op not in (add, sub) or not is_integer(s.outs[0].type):
        return False
    i, step = s.args
    named = isinstance(i, Var) and i.name not in ("", *WORDS) and is_integer(i.type)
    return named and isinstance(step, Literal) and 0 < abs(step.value) < 10


def is_transposed(s: Let) -> bool:
    """Whether it is x.T of something that has a name, or gets one."""
    (a, *_) = s.args or (None,)
    return s.op is transpose and isinstance(a, Var) and s.op.source(s.args, s.params) == "{0}.T"


def is_integer(t: Any) -> bool:
    return isinstance(t, Type) and t.dtype.kind == "i" and not t.shape


def light(s: Let) -> bool:
    """Whether an operation only says which element or which number is meant."""
    return s.op.view or s.op in (index, size_value) or is_index(s.outs[0].type)


def is_index(t: Any) -> bool:
    return isinstance(t, Type) and t.weak and t.dtype.kind == "i"


def parts(s: Let | If) -> tuple[Atom, ...]:
    """What a folded value is made of."""
    return s.args if isinstance(s, Let) else (s.test, *s.then.results, *s.orelse.results)


def _stores(s: Statement) -> bool:
    if isinstance(s, Let):
        return s.op.inplace
    if isinstance(s, Effect):
        return s.kind == "kernel"
    return any(isinstance(t, (For, While)) or _stores(t) for b in blocks(s) for t in b.body)


def lay_out(block: Block, sizes: dict[Any, set[Var]], reserved: set[str]) -> TextLayout:
    folding = Folding(sizes)
    folded = folding.run(block)
    naming = Naming(block, folded, sizes)
    late = {y: folding.late[y] for y in naming.renamed_at_end() if y in folding.late}
    if late:  # values at the end of a pass that cannot have the name they are for from the start
        folded |= late
        naming = Naming(block, folded, sizes)
    return TextLayout(folded, naming.names(reserved), naming)


__all__ = ["Literal", "TextLayout", "lay_out", "uses"]
