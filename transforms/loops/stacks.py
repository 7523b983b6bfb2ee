"""Stacks of numbers as arrays with a cursor, where the loops say how many numbers there can be.

for i: for j: push(saved, v)      becomes      saved[top] = v; top += 1, and saved has n * m places
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
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
)
from tapeless.transforms.loops.memory import Memory

FIRST = 64  # places in the array of a stack, where nothing says how many there will be
GROWN = '''
@njit
def grown(saved):
    """The array with room for twice as many."""
    longer = np.empty(2 * saved.size, saved.dtype)
    for k in range(saved.size):  # a slice would take seconds to compile
        longer[k] = saved[k]
    return longer
'''
STACKS = frozenset(["new_stack", "push", "pop", "stack_length"])


def of_numbers(t: Any) -> bool:
    return isinstance(t, StackType) and isinstance(t.item, Type) and not t.item.shape


class Capacity:
    """How many numbers are pushed at most. `size` reads an integer, `widest` gives the largest
    value of a size for the values that loop variables take."""

    def __init__(
        self,
        memory: Memory,
        size: Callable[[Atom], Size],
        widest: Callable[[Size], Size],
        ranges: dict[Var, tuple[Size, Size]],
    ) -> None:
        self.memory, self.size, self.widest, self.ranges = memory, size, widest, ranges

    def of(self, body: Iterable[Statement], cell: Var) -> Size | None:
        total: Size = 0
        for s in body:
            more = self.one(s, cell)
            if more is None:
                return None
            total = total + more
        return total

    def one(self, s: Statement, cell: Var) -> Size | None:
        if isinstance(s, Let):
            pushes = s.op.name == "push" and self.memory.cell(s.args[0]) is cell  # type: ignore[arg-type]
            return int(pushes)
        if cell not in self.memory.writes(s):
            return 0
        match s:
            case For(step=Literal(value=1)):
                return self.loop(s, cell)
            case If():
                then, orelse = (self.of(b.body, cell) for b in blocks(s))
                return None if then is None or orelse is None else then + orelse
            case For() | While():
                pushes = any(self.of(b.body, cell) != 0 for b in blocks(s))
                return None if pushes else 0
        return None

    def loop(self, s: For, cell: Var) -> Size | None:
        start, stop = self.size(s.start), self.size(s.stop)
        passes = dims.maximum(self.widest(stop - start), 0)
        self.ranges[s.index] = (start, stop - 1)
        each = self.of(s.body.body, cell)
        self.ranges.pop(s.index)
        return None if each is None else passes * each
