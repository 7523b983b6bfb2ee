"""Sums in blocks: passes of a loop add to a partial sum, and few partial sums to the total, so that
rounding errors do not grow with the number of terms.

for i in range(n):                      for start in range(0, n, 1024):
    s = plus(s, x[i])                       part = 0.0
                          becomes           for i in range(start, min(start + 1024, n)):
                                                part = plus(part, x[i])
                                            s, lost = compensated(s, lost, part)
                                        s += lost

Partial sums of float32 numbers are added up in float64, those of float64 numbers together with what
rounding takes from each addition. Source: N. Higham, Accuracy and Stability of Numerical
Algorithms, second edition, chapter 4; T. Ogita, S. Rump and S. Oishi, Accurate sum and dot product,
SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.annotated import AnnotatedKernel
from tapeless.transforms.lowering.kernels.writer_base import Names
from tapeless.transforms.lowering.schedule.accumulations import (
    may_cut,
    may_run_in_vectors,
    only_added_to,
    way_to,
)
from tapeless.transforms.python_text.tree_walk import walk

COMPENSATED = '''
@njit
def compensated(total, lost, part):
    """total + part, and lost with what rounding takes from this sum."""
    new = total + part
    back = new - total
    error = (total - (new - back)) + (part - back)
    return new, lost + error if error == error else lost
'''
VECTORS = 1 << 13  # bytes in a block that runs in vectors: some 32 additions to each accumulator
SINGLE = 64  # passes in a block that runs number by number
ROWS, FEW = 32, 4  # passes in a block of loops over FEW numbers
MANY = 1 << 14  # numbers from which their blocks are worth it
MOST = 8  # times as many passes as get no blocks: with more of them the function is compiled again
ZEROS = {"f4": "np.float32(0)", "f8": "0.0", "c8": "np.complex64(0)", "c16": "0j"}
WIDER = {"f4": "f8", "c8": "c16"}  # in which partial sums are added up


@dataclass(frozen=True, eq=False)
class Total:
    """A number to which a nest of loops adds, and nothing else is done with in there.

    code  its dtype
    loop  the one of the nest that is cut into blocks of so many passes (`width`)
    part  the name of the partial sum
    rest  the name of the sum in a wider dtype, or else of what rounding takes
    new   whether it is zero before
    """

    name: str
    code: str
    loop: ast.For
    width: int
    part: str
    rest: str
    new: bool

    @property
    def zero(self) -> str:
        """What a partial sum starts with: minus zero leaves minus zero as it is."""
        zero = ZEROS[self.code]
        return zero if self.new else {"f4": "np.float32(-0.0)", "f8": "-0.0"}.get(self.code, zero)

    def initial_text(self) -> str:
        if self.code not in WIDER:
            zero = ZEROS[self.code]
            return f"{self.name} = {self.rest} = {zero}" if self.new else f"{self.rest} = {zero}"
        wider = WIDER[self.code]
        value = ZEROS[wider] if self.new else f"np.{np.dtype(wider)}({self.name})"
        return f"{self.rest} = {value}"

    def add_block_text(self) -> str:
        """The partial sum of a block, added to those before."""
        if self.code in WIDER:
            return f"{self.rest} += {self.part}"
        both = f"{self.name}, {self.rest}"
        return f"{both} = compensated({both}, {self.part})"

    def final_text(self) -> str:
        if self.code in WIDER:
            return f"{self.name} = np.{np.dtype(self.code)}({self.rest})"
        if self.new:
            return f"{self.name} += {self.rest}"
        return f"{self.name} = {self.name} + {self.rest} if {self.rest} != 0 else {self.name}"


@dataclass
class Blocks:
    """Rewrites the lines of a kernel.

    names     those that are taken
    sums      the variables that loops may add to in another order, and their dtypes
    passes    how many passes a loop makes in this call, by the text of its range
    in_order  whether the terms of a block are added one after another
    limits    the ranges that must not be longer, as they get no blocks, and how long they may be
    added     the names to which a loop only adds, of those that were looked through
    """

    names: Names
    sums: Mapping[str, np.dtype[Any]]
    passes: Mapping[str, int | None]
    in_order: bool
    limits: dict[str, int] = field(default_factory=dict)
    totals: list[Total] = field(default_factory=list)
    added: dict[ast.For, set[str]] = field(default_factory=dict)

    def lines(self, head: str, lines: list[str]) -> list[str]:
        """The lines of the function with that head."""
        if not self.sums:
            return lines
        self.text = AnnotatedKernel(head, lines)
        body = self.suite(self.text.function.body, [])
        return [*self.text.lines(body)] if self.totals else lines

    @property
    def helpers(self) -> dict[str, None]:
        return {COMPENSATED.strip(): None} if any(t.code not in WIDER for t in self.totals) else {}

    def suite(self, body: Sequence[ast.stmt], around: list[ast.For]) -> list[ast.stmt]:
        """Statements inside of these loops."""
        statements: list[ast.stmt] = []
        for s in body:
            if not isinstance(s, ast.For):
                statements.append(
                    self.branch(s, around) if isinstance(s, (ast.If, ast.While)) else s
                )
                continue
            totals = [*self.totals_of(s, around, statements)]
            self.totals += totals
            statements.append(self.loop(s, around))
            statements += [_statement(t.final_text()) for t in totals]
        return statements

    def branch(self, s: ast.If | ast.While, around: list[ast.For]) -> ast.stmt:
        same = copy.copy(s)
        same.body, same.orelse = self.suite(s.body, around), self.suite(s.orelse, around)
        return self.text.annotate_like(s, same)

    # -- which loops

    def totals_of(
        self, s: ast.For, around: list[ast.For], before: list[ast.stmt]
    ) -> Iterator[Total]:
        """The totals of a nest; what holds at its beginning is put before it."""
        names = self.only_added_to(s).difference(*map(self.only_added_to, around[-1:]))
        for name, dtype in self.sums.items():
            if name not in names:
                continue
            chosen = self.loop_to_cut(way_to(s, name), bool(around), dtype)
            if chosen is None or not may_cut(chosen[0]):
                continue
            loop, width = chosen
            code = dtype.str[1:]
            rest = self.names.new(f"{name}_wide" if code in WIDER else "lost")
            at = _set_to_zero(before, name)
            total = Total(name, code, loop, width, self.names.new("part"), rest, at is not None)
            first = _statement(total.initial_text())
            if at is None:
                before.append(first)
            else:
                before[at] = self.text.noted_like(before[at], first)
            yield total

    def only_added_to(self, s: ast.For) -> set[str]:
        if s not in self.added:
            self.added[s] = only_added_to(s)
        return self.added[s]

    def loop_to_cut(
        self, way: list[ast.For], inside: bool, dtype: np.dtype[Any]
    ) -> tuple[ast.For, int] | None:
        """The loop to cut, of those that lead to the additions, outermost first, and how many of
        its passes are a block (one: all passes of the loop in it); None where the only one makes
        few passes at a time."""
        *outer, inner = way
        count, width = self.count(inner), self.width(inner, dtype)
        if not (outer or inside) or (count or 0) > width:
            return inner, width
        few = self.short_inner_count(outer, count)
        self.limits[ast.unparse(inner.iter)] = MOST * (few or width)
        return (outer[-1], ROWS if few else 1) if outer else None

    def short_inner_count(self, outer: list[ast.For], count: int | None) -> int:
        """How many numbers the inner loops run over together, if only few in very many passes;
        loops that run over few go to those inner ones."""
        total = math.prod(self.count(s) or 1 for s in outer) * (count or SINGLE)
        reached = count or SINGLE
        while len(outer) > 1 and reached <= FEW:
            reached *= self.count(outer.pop()) or SINGLE
        return reached if outer and reached <= FEW and total >= MANY else 0

    def count(self, s: ast.For) -> int | None:
        match s.iter:
            case ast.Call(args=[ast.Constant(value=int(n))]):
                return n
        return self.passes.get(ast.unparse(s.iter))

    def width(self, s: ast.For, dtype: np.dtype[Any]) -> int:
        """The passes of a block of a loop that adds itself."""
        if self.in_order or not may_run_in_vectors(s, self.sums):
            return SINGLE
        return VECTORS // dtype.itemsize

    # -- what is written

    def loop(self, s: ast.For, around: list[ast.For]) -> ast.stmt:
        same = copy.copy(s)
        same.body = self.suite(s.body, [*around, s])
        totals = [t for t in self.totals if t.loop is s]
        if not totals:
            return self.text.annotate_like(s, same)
        same.body = self.text.rename_all(same.body, {t.name: t.part for t in totals})
        zeros = [_statement(f"{t.part} = {t.zero}") for t in totals]
        sums = [_statement(t.add_block_text()) for t in totals]
        width = min(t.width for t in totals)
        if width == 1:
            same.body = [*zeros, *same.body, *sums]
            return self.text.annotate_like(s, same)
        *first, last = map(ast.unparse, s.iter.args[:2])  # type: ignore[attr-defined]
        start = self.names.new("start")
        same.iter = _expression(f"range({start}, min({start} + {width}, {last}))")
        blocks = _expression(f"range({first[0] if first else 0}, {last}, {width})")
        blocked = ast.For(ast.Name(start, ast.Store()), blocks, [*zeros, same, *sums], [])
        return self.text.noted_like(s, blocked)


def _set_to_zero(body: list[ast.stmt], name: str) -> int | None:
    """Which of the last statements sets a number to zero, if nothing else is done with it since."""
    for at in range(len(body) - 1, -1, -1):
        match body[at]:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return at if ast.unparse(value) in ZEROS.values() else None
        if any(isinstance(x, ast.Name) and x.id == name for x in walk(body[at])):
            return None
    return None


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]
