"""Evaluates lengths and integers of a program for the arguments of one call.

for i in range(n - 1): y[i] = x[:i] @ x[:i]      has, for n = 101, 100 passes, with x[:i] of 49
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeless.explain.formulas import of_ufunc
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, Let, Literal, Type, Var, statements
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import cast


class KnownNumbers:
    """The integers of a program, as far as arguments decide them; a loop index is taken at the
    middle of its range.

    block    the program
    lengths  what its sizes are in the call
    values   what its parameters are in the call, where they are integers
    bounded  a size that the driver knows, and that is at least as large as the given one
    """

    def __init__(
        self,
        block: Block,
        lengths: Mapping[dims.Symbol, int],
        values: Mapping[Var, int],
        bounded: Callable[[Size], Size] = lambda size: size,
    ) -> None:
        self.lengths, self.bounded = lengths, bounded
        self.numbers: dict[Var, int | None] = dict(values)
        self.definitions: dict[Var, Let] = {}
        self.loops: dict[Var, For] = {}
        for s in statements(block):
            if isinstance(s, Let):
                self.definitions |= dict.fromkeys(s.outs, s)
            elif isinstance(s, For):
                self.loops[s.index] = s

    def length(self, size: Size) -> int:
        """The number that a size is; 0 where only the contents of arrays tell."""
        number = self.size(size)
        return 0 if number is None else max(number, 0)

    def size(self, size: Size) -> int | None:
        exact = self.evaluate(size)
        return self.evaluate(self.bounded(size)) if exact is None else exact

    def evaluate(self, size: Size) -> int | None:
        values = dict(self.lengths)
        for x in dims.symbols(size) - values.keys():
            number = None if x.var is None else self.number(x.var)
            if number is not None:
                values[x] = number
        return dims.evaluate(size, values)

    def number(self, a: Atom) -> int | None:
        """The value of an integer; None where arguments do not decide it."""
        if isinstance(a, Literal):
            return a.value if isinstance(a.value, int) else None
        if a not in self.numbers:
            self.numbers[a] = None  # of what goes round in a circle
            self.numbers[a] = self.compute(a)
        return self.numbers[a]

    def compute(self, v: Var) -> int | None:
        if v in self.loops:
            return self.middle(self.loops[v])
        s = self.definitions.get(v)
        if (
            s is None
            or not isinstance(v.type, Type)
            or v.type.shape
            or v.type.dtype.kind not in "iu"
        ):
            return None
        if s.op is size_value:
            return self.size(s.params["size"])
        numbers = [self.number(a) for a in s.args]
        if None in numbers or not numbers:
            return None
        if s.op in (identity, cast):
            return numbers[0]
        return self.apply(s.op.ufunc, numbers)

    def apply(self, ufunc: Any, numbers: list[Any]) -> int | None:
        return of_ufunc(ufunc, numbers)

    def middle(self, loop: For) -> int | None:
        ends = [self.number(a) for a in (loop.start, loop.stop, loop.step)]
        if None in ends or ends[2] == 0:
            return None
        indices = range(*ends)  # type: ignore[arg-type]
        return indices[len(indices) // 2] if indices else ends[0]

    def passes(self, loop: For) -> int | None:
        """How many passes a loop makes at most; None where arguments do not decide it."""
        ends = [self.number(a) for a in (loop.start, loop.stop, loop.step)]
        return None if None in ends or ends[2] == 0 else len(range(*ends))  # type: ignore[arg-type]
