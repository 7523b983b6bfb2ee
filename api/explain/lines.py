"""Attributes the statements of a program to the lines of the user's code, with what runs them."""

from __future__ import annotations

import linecache
import re
from collections.abc import Collection, Sequence
from dataclasses import field

from tapeless.explain.work import Work, WorkStep
from tapeless.transforms.core.language import (
    Effect,
    For,
    If,
    Let,
    Origin,
    StackType,
    Statement,
    Type,
    While,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.obstacles import library_of, shown_effect
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update

Place = tuple[str, str, int]  # file, function, line


@dataclass
class LineReport:
    """A line of the user's.

    file, function, number  where it is
    source    its text
    runs_in   what runs it: names of kernels, library calls ("FFT: np.fft.fft"), "NumPy", "Python"
    work      operations and bytes of all its runs, an estimate
    slow      why Python runs a loop that begins here, with the way out
    by_size   the work as formulas of sizes, where these are known
    """

    file: str
    function: str
    number: int
    source: str = ""
    runs_in: tuple[str, ...] = ()
    work: Work = field(default_factory=Work)
    slow: tuple[str, ...] = ()
    by_size: Work | None = field(default=None, repr=False, compare=False)


def attribute_to_lines(
    steps: Sequence[WorkStep], shared: Collection[Statement] = ()
) -> list[LineReport]:
    """The lines of each function that statements come from, from its beginning to the last of them;
    those of which nothing is left are run by nothing.

    shared  loops of which all threads make each pass
    """
    lines: dict[Place, LineReport] = {}
    placed = [(step, step.statement.origin) for step in steps if step.statement.origin is not None]
    functions = {(origin.file, origin.function) for _, origin in placed}
    for step, origin in placed:
        place = _place(origin, functions)
        line = lines.setdefault(place, LineReport(*place))
        by_python = "each pass by all threads" if step.statement in shared else None
        label = step.kernel or by_python or runner(step.statement)
        if label and label not in line.runs_in:
            line.runs_in = (*line.runs_in, label)
        line.work += step.work
    return [line for function in _functions(lines) for line in _all(function, lines)]


def _place(origin: Origin, functions: set[tuple[str, str]]) -> Place:
    """Where a statement comes from; lambdas (augmented assignments of items become some, too) are
    part of the function around them, if that is shown."""
    around = re.sub(r"(\.<locals>\.<\w+>)+$", "", origin.function)
    function = around if (origin.file, around) in functions else origin.function
    return origin.file, function, origin.line


def _functions(lines: dict[Place, LineReport]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((file, function) for file, function, _ in lines))


def _all(function: tuple[str, str], lines: dict[Place, LineReport]) -> list[LineReport]:
    numbers = [n for file, name, n in lines if (file, name) == function]
    every = []
    for n in range(_beginning(function, min(numbers)), max(numbers) + 1):
        line = lines.get((*function, n)) or LineReport(*function, n)
        line.source = linecache.getline(line.file, n).rstrip()
        every.append(line)
    return every


def _beginning(function: tuple[str, str], first: int) -> int:
    """The line in which a function begins, found from the first line of a statement of it."""
    file, name = function
    head = re.compile(rf"\s*def {re.escape(name.rpartition('.')[2])}\b")
    for n in range(first, 0, -1):
        if head.match(linecache.getline(file, n)):
            return n
    return first


def runner(s: Statement) -> str:
    """What runs a statement that is in no kernel; "" where nothing is left to be done.

    >>> runner(Effect("print", ()))
    'Python: print()'
    """
    match s:
        case For() | While():
            return "Python: loop"
        case If():
            return "Python: branch"
        case Effect():
            return "" if s.kind in ("blank", "check", "errstate") else f"Python: {shown_effect(s)}"
        case Let():
            return _of_let(s)


def _of_let(s: Let) -> str:
    if any(isinstance(a.type, StackType) for a in (*s.outs, *s.args)):
        return "Python: list"
    if is_view(s) or s.op in (size_value, empty, cast):
        return ""
    arrays = any(isinstance(a.type, Type) and a.type.shape for a in (*s.outs, *s.args))
    kind, name = library_of(s)
    if s.op.elementwise or s.op in (index, update, add_at, identity):
        return "NumPy" if arrays else "Python"
    if kind in ("Python", "NumPy") and name.startswith("the "):
        return "NumPy" if arrays else "Python"
    return f"{kind}: {name}"
