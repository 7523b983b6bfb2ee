"""Writes what the threads of a team add up together: each its part, which are put together then.

total = 0.0                                   double total = 0.0;
for j in each(n): total = plus(total, x[j])   for (i64 j = threadIdx.x; ...) total += x[j];
                                              total = team_sum(total);

A few sums at once, `sums[k] = plus(sums[k], x[j, k])`, are an array that each thread has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tapeless.transforms.c_text.values import CArray, CValue, NotPrintedError, c_type, cast
from tapeless.transforms.cuda.helpers import neutral, team_text
from tapeless.transforms.cuda.liveness import live_before
from tapeless.transforms.cuda.reductions import reductions
from tapeless.transforms.cuda.team_barriers import TeamBarriers
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import BOOL, DOUBLE, SINGLE, Dtype

LITERALS = (ast.Constant, ast.UnaryOp, ast.Call, ast.Attribute)  # numbers as they are written


class TeamSums(TeamBarriers):
    """`device_functions` are the texts of those that put numbers of threads together;
    `ends_of_loops` is what is read after each loop, by its id."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.device_functions: dict[str, None] = {}
        self.ends_of_loops: dict[int, set[str]] = {}

    def totals(self, s: ast.For) -> dict[str, str]:
        """What a shared loop adds up. Nothing else may go from one pass to another, or out."""
        totals = reductions(s, self.own_arrays())
        ends: dict[int, set[str]] = {}
        live = live_before(s.body, set(), ends) | self.ends_of_loops.get(id(s), set())
        assigned = {
            n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        handed_on = (assigned & live) - totals.keys() - self.scope.arrays.keys()
        handed_on -= {s.target.id} if isinstance(s.target, ast.Name) else set()
        if handed_on:
            raise NotPrintedError(f"the variable {min(handed_on)}, which a parallel loop hands on,")
        for name, word in totals.items():
            if word in ("any", "all") and self.dtype_of(name) != BOOL:
                raise NotPrintedError(f"the bits that a parallel loop puts together in {name}")
        return {n: w for n, w in totals.items() if n in live or n in self.ends_of_loops[id(s)]}

    def dtype_of(self, name: str) -> Dtype:
        x = self.scope.arrays.get(name)
        return self.scope.numbers[name] if x is None else x.dtype

    def own_arrays(self) -> set[str]:
        """The few numbers that each thread of a team has in an array of its own."""
        return {name for name, x in self.scope.arrays.items() if x.where == "local"}

    def begins_neutral(self, before: Sequence[ast.stmt], x: CArray, first: str) -> bool:
        """Whether an array of a thread has in all places what a reduction begins with: the loop
        that fills it is the last statement before that names it."""
        for s in reversed(before):
            if not any(isinstance(n, ast.Name) and n.id == x.name for n in ast.walk(s)):
                continue
            places = []
            while isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and len(s.body) == 1:
                if len(s.iter.args) > 1:  # from elsewhere than the first place
                    return False
                places.append((ast.unparse(s.target), self.number(s.iter.args[0]).known))
                (s,) = s.body
            match s:
                case ast.Assign([ast.Subscript(value=ast.Name(id=x.name), slice=at)], e):
                    parts = at.elts if isinstance(at, ast.Tuple) else [at]
                    lengths = [n.known for n in x.lengths]
                    pairs = [*zip(map(ast.unparse, parts), lengths, strict=True)]
                    whole = [(k, n) for k, n in pairs if (k, n) != ("0", 1)]
                    value = cast(self.number(e), x.dtype) if isinstance(e, LITERALS) else None
                    return whole == places and value is not None and value.text == first.strip("()")
            return False
        return False

    def start_own(self, name: str, word: str) -> None:
        """An array of each thread for what it adds up itself."""
        x = self.scope.arrays[name]
        mine = self.fresh(f"{name}_mine")
        self.put(f"{c_type(x.dtype)} {mine}[{x.count}];")
        first = neutral(word, x.dtype)
        first = f"{c_type(x.dtype)}({first})" if x.dtype.kind == "c" else first
        self.for_each_place(x, lambda k: [f"{mine}[{k}] = {first};"])
        self.spelled[name] = mine
        self.scope.arrays[name] = replace(x, pointer=mine)

    def for_each_place(self, x: CArray, write: Callable[[str], Sequence[str]]) -> None:
        """What is done for each number of an array that a thread has in registers."""
        k = self.fresh("k")
        with self.braces(f"for (int {k} = 0; {k} < {x.count}; {k}++)"):
            for text in write(k):
                self.put(text)

    def put_together(self, name: str, word: str) -> None:
        """The numbers that a shared loop has added up, from what each thread has."""
        dtype, spelled = self.dtype_of(name), self.spelled.pop(name, name)
        if name in self.scope.arrays:
            x = self.scope.arrays[name] = replace(self.scope.arrays[name], pointer=name)
            self.for_each_place(
                x, lambda k: self.with_team(f"{name}[{k}]", f"{spelled}[{k}]", word, dtype)
            )
            return
        self.scope.fixed.pop(name, None)
        for text in self.with_team(name, spelled, word, dtype):
            self.put(text)

    def with_team(self, place: str, mine: str, word: str, dtype: Dtype) -> list[str]:
        """The statements that add to a number, or to a new one, what the threads have together."""
        total = self.of_team(word, dtype, mine)
        if mine == place:
            return [f"{place} = {total};"]
        if word in ("max", "min"):
            sign = ">" if word == "max" else "<"
            nan = f" || {place} != {place}" if dtype.kind == "f" else ""
            larger = f"{place} {sign} {mine}{nan} ? {place} : {mine}"
            return [f"{mine} = {total};", f"{place} = {larger};"]
        sign = {"sum": "+", "prod": "*", "any": "||", "all": "&&"}[word]
        return [f"{place} = {place} {sign} {total};"]

    def start_total(self, name: str, word: str, before: Sequence[ast.stmt]) -> None:
        """A variable, or an array, of each thread for what it adds up itself, unless the one of the
        program begins with what a reduction does."""
        dtype = self.dtype_of(name)
        first = neutral(word, dtype)
        if name in self.scope.arrays:
            if not self.begins_neutral(before, self.scope.arrays[name], first):
                self.start_own(name, word)
        elif not _is_neutral(before, name, first, self):
            self.spelled[name] = self.fresh(f"{name}_mine")
            self.put(f"{c_type(dtype)} {self.spelled[name]} = {first};")
            self.scope.fixed[name] = CValue(self.spelled[name], dtype)

    def of_team(self, word: str, dtype: Dtype, text: str) -> str:
        """The number that the threads of a team have together."""
        return self.reduce_text("team", team_text, word, dtype, text)

    def reduce_text(
        self, of: str, write: Callable[[str, Dtype], str], word: str, dtype: Dtype, text: str
    ) -> str:
        if dtype.kind == "c" and word not in ("sum", "prod"):
            raise NotPrintedError(f"{word} of complex numbers")
        if dtype.kind == "c" and word == "sum":
            of_parts = SINGLE if dtype.itemsize == 8 else DOUBLE
            parts = [
                self.reduce_text(of, write, word, of_parts, f"{text}.{p}") for p in ("real", "imag")
            ]
            return f"{c_type(dtype)}({', '.join(parts)})"
        self.device_functions[write(word, dtype)] = None
        return f"{of}_{word}({text})"


def _is_neutral(before: Sequence[ast.stmt], name: str, first: str, writer: TeamSums) -> bool:
    """Whether a variable has the value that a reduction begins with: statements before say so."""
    for s in reversed(before):
        match s:
            case ast.Assign(targets=[ast.Name(id=target)], value=e) if target == name:
                value = cast(writer.number(e), writer.scope.numbers[name])
                return value.text == first.strip("()")
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(s)):
            return False
    return False
