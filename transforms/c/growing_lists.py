"""Prints lists in kernels whose lengths depend on values: arrays of `room` numbers.

saved[top] = x; top += 1      becomes      if (top == room) return 1;
                                           saved[top] = x; top++;

The caller says how large `room` is, and passes the memory; a list that would be longer is an error.
"""

from __future__ import annotations

import ast

from tapeless.transforms.c_text.inference import is_filled
from tapeless.transforms.c_text.statements import Error, Statements, growing_arrays
from tapeless.transforms.c_text.values import CArray, CValue, c_type
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype

ROOM = CValue("room", INT, natural=True)
TOO_LONG: Error = ("MemoryError", ("an array or a list is longer than there is room for",))


@dataclass(frozen=True)
class KernelResult:
    """What a kernel leaves where its last arguments point to: a number, or an array of at most
    `room` numbers and its length."""

    dtype: Dtype
    is_array: bool

    def parameters(self, k: int) -> list[str]:
        """How the result of this position is declared."""
        if not self.is_array:
            return [f"{c_type(self.dtype)}* result_{k}"]
        return [f"{c_type(self.dtype)}* restrict result_{k}", f"i64* result_{k}_length"]


class GrowingLists(Statements):
    """`filled` are the arrays that a kernel returns, with their positions among its results."""

    filled: dict[str, int]

    def begin(self) -> None:
        returns = [s.value for s in ast.walk(self.node) if isinstance(s, ast.Return) and s.value]
        values = [e.elts if isinstance(e, ast.Tuple) else [e] for e in returns]
        filled = {
            target.id
            for s in ast.walk(self.node)
            if isinstance(s, ast.Assign) and is_filled(s.value)
            for target in s.targets
            if isinstance(target, ast.Name)
        }
        self.filled = {
            e.id: k
            for each in values
            for k, e in enumerate(each)
            if isinstance(e, ast.Name) and e.id in filled
        }
        self.growing = growing_arrays(self.node)
        super().begin()

    def growing_memory(self, name: str, lengths: tuple[CValue, ...], dtype: Dtype) -> CArray:
        return CArray(name, name, dtype, (ROOM,), "growing")

    def grow(self, name: str, s: ast.stmt) -> None:
        self.fail(TOO_LONG, s)

    def declare(self, name: str) -> None:
        if name not in self.growing:  # others are parameters
            super().declare(name)

    def statement(self, s: ast.stmt, before: list[ast.stmt]) -> None:  # type: ignore[override]  # narrower
        match s:
            case ast.While(body=[ast.Assign(value=ast.Call(func=ast.Name(id="grown")))]):
                super().statement(ast.copy_location(ast.If(s.test, s.body, []), s), before)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[array, count])) if (
                name in self.filled
            ):
                self.fill(self.filled[name], array, count, s)
            case _:
                super().statement(s, before)

    def fill(self, k: int, array: ast.expr, count: ast.expr, s: ast.stmt) -> None:
        """A result: the first numbers of a list."""
        n, i = self.number(count).text, self.fresh("i")
        self.scope.numbers[i] = INT
        element = self.number(ast.Subscript(array, ast.Name(i, ast.Load()), ast.Load()))
        self.put(f"for (i64 {i} = 0; {i} < {n}; {i}++) result_{k}[{i}] = {element.text};", s)
        self.put(f"*result_{k}_length = {n};")
