"""Adds up in registers what passes of a loop add to elements of an array in memory.

for j in range(n):                     total = 0.0
    y[i] += A[i, j] * x[j]   becomes   for j in range(n):
                                           total += A[i, j] * x[j]
                                       if total != 0: y[i] += total

Where nothing was added the element is not touched: it need not be there if no pass names it.
Elements along a short axis, `a[i, k]` in a loop over k, are added up in an array of registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tapeless.transforms.c_text.expressions import owner
from tapeless.transforms.c_text.renaming import names_and_parameters
from tapeless.transforms.cuda.user_loops import counts_from_zero
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

FEW = 16  # numbers of an array that a thread has in registers
ADDED = (ast.Add, ast.Sub)
Dtypes = Mapping[str, Dtype]


def sums_in_registers(
    node: ast.FunctionDef, arrays: Dtypes, fresh: Callable[[str], str]
) -> ast.FunctionDef:
    """The kernel, changed in place.

    arrays  the dtypes of arrays that the kernel gets
    fresh   gives a name that nothing else has
    """
    registers: list[ast.stmt] = []
    _block(node.body, arrays, fresh, registers)
    node.body[:0] = registers
    return node


def _block(
    body: list[ast.stmt], arrays: Dtypes, fresh: Callable[[str], str], registers: list[ast.stmt]
) -> None:
    """Changes the loops of a block; `registers` gets the arrays of registers."""
    for k in reversed(range(len(body))):
        s = body[k]
        for inner in ("body", "orelse"):
            if isinstance(getattr(s, inner, None), list):
                _block(getattr(s, inner), arrays, fresh, registers)
        if isinstance(s, ast.For) and counts_from_zero(s):
            before: list[ast.stmt] = []
            after: list[ast.stmt] = []
            for sums in _sums(s, arrays):
                sums.move(s, fresh, registers, before, after)
            body[k : k + 1] = [*before, s, *after]


@dataclass(frozen=True)
class MovedSums:
    """What the passes of a loop add to elements of one array.

    steps  the statements that add, by the element as text
    short  the counter of a short loop around all of them, and how many passes that makes; None if
           each element has one place
    """

    dtype: Dtype
    array: str
    steps: dict[str, list[ast.AugAssign]]
    short: tuple[str, int] | None

    def move(
        self,
        loop: ast.For,
        fresh: Callable[[str], str],
        registers: list[ast.stmt],
        before: list[ast.stmt],
        after: list[ast.stmt],
    ) -> None:
        """Lets the steps add to registers, which begin at zero and are added to memory later."""
        for steps in self.steps.values():
            place = steps[0].target
            register = fresh(f"{self.array}_sum")
            begin, end = f"{register} = {self.zero}", self.addition_text(place, register)
            if self.short is not None:
                counter, count = self.short
                dtype = f"np.{self.dtype.name}"
                registers += _parse(f"{register} = scratch(({count},), {dtype})")
                register = f"{register}[{counter}]"
                head = f"for {counter} in each({count}):"
                begin = f"{head}\n    {register} = {self.zero}"
                end = f"{head}\n    {self.addition_text(place, register)}"
            before += _parse(begin)
            after += _parse(end)
            for step in steps:
                target = ast.parse(register, mode="eval").body
                target.ctx = ast.Store()  # type: ignore[attr-defined]
                step.target = target  # type: ignore[assignment]

    def addition_text(self, place: ast.expr, register: str) -> str:
        return f"if {register} != {self.zero}: {ast.unparse(place)} += {register}"

    @property
    def zero(self) -> str:
        """Zero, as loop form writes it in this dtype."""
        if self.dtype == np.float64:
            return "0.0"
        return "0" if self.dtype == np.int64 else f"np.{self.dtype.name}(0)"


def _parse(text: str) -> list[ast.stmt]:
    lines = ast.parse(text).body
    for line in lines:
        for x in ast.walk(line):
            for attribute in ("lineno", "end_lineno"):
                if hasattr(x, attribute):
                    delattr(x, attribute)
    return lines


def _sums(loop: ast.For, arrays: Dtypes) -> Iterator[MovedSums]:
    """The arrays that passes of a loop only add to, at places that are the same in each pass."""
    changed = {x.id for x in ast.walk(loop) if isinstance(x, ast.Name) and _is_store(x)}
    steps: dict[str, list[tuple[ast.AugAssign, tuple[str, int] | None]]] = {}
    for step, short in _steps(loop.body, None):
        steps.setdefault(owner(step.target), []).append((step, short))
    for name, steps_of_array in steps.items():
        named = sum(isinstance(x, ast.Name) and x.id == name for x in ast.walk(loop))
        if name not in arrays or arrays[name].kind not in "fiu" or named != len(steps_of_array):
            continue
        around = {short for _, short in steps_of_array}
        places: dict[str, list[ast.AugAssign]] = {}
        for step, _ in steps_of_array:
            places.setdefault(ast.unparse(step.target), []).append(step)
        parts = [_parts(s[0].target) for s in places.values()]
        short = around.pop() if len(around) == 1 else None
        counters = [p for index in parts for p in index if short and ast.unparse(p) == short[0]]
        if short is not None and len(counters) == len(parts) == 1:
            if not changed & _names(parts[0]) - {short[0]}:
                yield MovedSums(arrays[name], name, places, short)
        elif not any(changed & _names(index) for index in parts) and _are_apart(parts):
            yield MovedSums(arrays[name], name, places, None)


def _steps(
    body: list[ast.stmt], short: tuple[str, int] | None
) -> Iterator[tuple[ast.AugAssign, tuple[str, int] | None]]:
    """Statements that add to an element, each with the short loop that is right around it."""
    for s in body:
        match s:
            case ast.AugAssign(target=ast.Subscript(), op=op) if isinstance(op, ADDED):
                yield s, short
            case ast.For(
                ast.Name(id=counter), ast.Call(func=ast.Name(id="each"), args=[ast.Constant(n)])
            ) if isinstance(n, int) and 0 < n <= FEW:
                yield from _steps(s.body, (counter, n))
            case ast.If():
                yield from ((t, None) for t, _ in _steps([*s.body, *s.orelse], None))


def _parts(place: ast.expr) -> list[ast.expr]:
    assert isinstance(place, ast.Subscript)
    return list(place.slice.elts) if isinstance(place.slice, ast.Tuple) else [place.slice]


def _names(index: list[ast.expr]) -> set[str]:
    return set[str]().union(*map(names_and_parameters, index))


def _are_apart(places: list[list[ast.expr]]) -> bool:
    """Whether all places differ in a number that is written in the text."""
    for k, a in enumerate(places):
        for b in places[:k]:
            numbers = [
                (p.value, q.value)
                for p, q in zip(a, b, strict=True)
                if isinstance(p, ast.Constant) and isinstance(q, ast.Constant)
            ]
            if all(p == q for p, q in numbers):
                return False
    return True


def _is_store(x: ast.Name) -> bool:
    return isinstance(x.ctx, ast.Store)
