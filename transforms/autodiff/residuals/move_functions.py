"""Moves functions of numbers from a backward loop into the forward one, which saves what they give.

for t in range(n): y = y + sin(x)              for t in range(n): y = y + sin(x); c = cos(x)
...                                 becomes    ...
for t in reversed(range(n)):                   for t in reversed(range(n)):
    x_bar += y_bar * cos(x)                        x_bar += y_bar * c

Compilers compute a sine and a cosine of the same number at once. What the forward loop computes
anyway is not computed there a second time. Lengths of lists are always saved, and not the lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.autodiff.residuals.definitions import Definitions, Path
from tapeless.transforms.autodiff.residuals.min_cut_plan import is_square, mirrored_primal
from tapeless.transforms.autodiff.residuals.saved_functions import is_function
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.new_arrays import stack_length

Place = tuple[int, int]  # a structured statement, and which of its blocks


def move_functions(
    primal: list[Statement], backward: list[Statement], of_numbers: bool
) -> tuple[list[Statement], list[Statement]]:
    """The primal statements with what backward ones compute of their values alone, and these;
    `of_numbers`: functions of numbers, and not only lengths of lists."""
    moved = _FunctionMover(primal, of_numbers)
    backward = moved.without_moved(backward, ())
    if moved.there:
        backward = list(substitute(Block((), tuple(backward), ()), moved.there).body)
    if not moved.lets:
        return primal, backward
    primal = moved.with_functions(primal)
    return primal, moved.mirroring(backward)


class _FunctionMover:
    def __init__(self, primal: list[Statement], of_numbers: bool) -> None:
        self.primal, self.of_numbers = Definitions(primal), of_numbers
        self.unset = may_lack(Block((), tuple(primal), ()))
        self.lets: dict[Place, list[Let]] = {}
        self.there: dict[Var, Var] = {}  # for results of backward functions, those of forward ones
        self.new: dict[int, Statement] = {}  # what became of each structured statement

    def without_moved(self, body: Iterable[Statement], path: Path) -> list[Statement]:
        """The backward statements without the functions that are moved."""
        kept = []
        for s in body:
            if isinstance(s, Let) and path and (place := self.place_of(s, path)) is not None:
                statement, k = place
                same = next((t for t in blocks(statement)[k].body if _is_same(t, s)), None)
                if same is None:
                    self.lets.setdefault((id(statement), k), []).append(s)
                else:
                    self.there[s.outs[0]] = outputs(same)[0]
                continue
            for k, block in enumerate(blocks(s)):
                inner = (*path, mirrored_primal(s, k))
                new = replace(block, body=tuple(self.without_moved(block.body, inner)))
                if new.body != block.body:
                    s = _with_block(s, k, new)
            kept.append(s)
        return kept

    def place_of(self, s: Let, path: Path) -> tuple[Any, int] | None:
        """The statement of the primal program, and its block, in which a statement of the backward
        one may stand: it is about values of that block. None if there is none."""
        is_length = s.op is stack_length and s.args[0] not in self.unset
        is_moved = self.of_numbers and is_function(s) and not is_square(s)
        if not is_moved and not is_length:
            return None
        paths = [self.primal.path.get(a) for a in s.args if isinstance(a, Var)]
        if not paths or any(p is None for p in paths):
            return None
        places = [(id(t), k) for t, k in path]
        inner = max(([(id(t), k) for t, k in p] for p in paths if p is not None), key=len)
        around = places[: len(inner)] if is_length else places
        return path[len(inner) - 1] if inner and inner == around else None

    def with_functions(self, body: Iterable[Statement]) -> list[Statement]:
        new = []
        for s in body:
            rebuilt = s
            for k, block in enumerate(blocks(s)):
                rebuilt = _with_block(rebuilt, k, self.block(block, self.lets.get((id(s), k), [])))
            self.new[id(s)] = rebuilt
            new.append(rebuilt)
        return new

    def block(self, block: Block, lets: list[Let]) -> Block:
        """A block with more statements, each behind what it reads."""
        inside = {v for s in block.body for v in outputs(s)}
        pending, body = list(lets), list[Statement]()
        for s in (None, *self.with_functions(block.body)):
            if s is not None:
                body.append(s)
                inside -= set(outputs(s))
            body += [t for t in pending if not inside & set(t.args)]
            pending = [t for t in pending if inside & set(t.args)]
        return replace(block, body=tuple(body))

    def mirroring(self, body: Iterable[Statement]) -> list[Statement]:
        """Backward statements that mirror the new primal ones."""
        new = []
        for s in body:
            if isinstance(s, (If, For)):
                s = replace(s, mirror=self.new.get(id(s.mirror), s.mirror))
                s = with_blocks(s, lambda b: replace(b, body=tuple(self.mirroring(b.body))))
            new.append(s)
        return new


def _is_same(s: Statement, t: Let) -> bool:
    """Whether a statement computes the same function of the same numbers as another one."""
    return (
        isinstance(s, Let)
        and (s.op, s.args, s.params) == (t.op, t.args, t.params)
        and s.outs[0].type == t.outs[0].type
    )


def _with_block(s: Statement, k: int, block: Block) -> Statement:
    """A statement with another block in the place of one."""
    match s:
        case If():
            return replace(s, then=block) if k == 0 else replace(s, orelse=block)
        case While():
            return replace(s, test=block) if k == 0 else replace(s, body=block)
        case For():
            return replace(s, body=block)
    raise AssertionError(s)
