"""Holds what a transformed function does, as data, and prints it line by line."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import field

from tapeless.backends.compilation import Compilation
from tapeless.explain.by_size import BySize
from tapeless.explain.lines import LineReport
from tapeless.explain.residuals import Residual
from tapeless.explain.work import Work
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.dataclass import dataclass

MANY = 3  # kernels of a line that are named
WIDEST = 80  # characters of a line of the user's that are shown


@dataclass(frozen=True)
class Explanation:
    """What a function does for the arguments at hand; prints itself.

    name          what was transformed, and how
    lines         the user's lines, each with what runs it and what it costs
    loops         loops that Python runs or that were unrolled, with reasons and ways out
    specialised   what the code was made for: it is made again where one of these does not hold
    saved         what is kept for the backward pass
    work          operations and bytes of the whole, an estimate
    peak_memory   the most bytes that arguments, results and arrays between take at once, an
                  estimate
    compilations  the kernels that were compiled so far: `kernel`, `seconds`, `cached`
    notes         what else was decided while staging
    returned      the user's lines, (file, number), of what the `return` of array form computes
    by_size       the same numbers as formulas of the sizes of arguments
    """

    name: str
    lines: tuple[LineReport, ...]
    loops: tuple[SlowCode, ...]
    specialised: tuple[str, ...]
    saved: tuple[Residual, ...]
    work: Work
    peak_memory: int
    compilations: tuple[Compilation, ...]
    notes: tuple[str, ...]
    returned: tuple[tuple[str, int], ...] = ()
    by_size: BySize | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(self.text())

    __repr__ = __str__

    def text(self) -> Iterator[str]:
        """The lines of the report."""
        yield self.name + "\n"
        yield from self.table()
        total = (
            f"{short_number(self.work.operations)} operations, {in_bytes(self.work.bytes)} moved"
        )
        yield f"\nall lines: {total}; memory at once: {in_bytes(self.peak_memory)} (estimates)"
        yield from section("made for", self.specialised)
        yield from section("saved for the backward pass", map(_residual, self.saved))
        yield from section("slow loops elsewhere", self.loops_elsewhere())
        yield from section("notes", self.notes)
        yield from section("compiled", map(_compilation, self.compilations))

    def loops_elsewhere(self) -> Iterator[str]:
        """Slow loops of lines that the table does not have."""
        shown = {(x.file, x.number) for x in self.lines}
        for loop in self.loops:
            if (loop.file, loop.line) not in shown:
                yield f"{os.path.basename(loop.file)}: {loop}"

    def table(self) -> Iterator[str]:
        """The user's lines with what runs them, function by function."""
        rows = [_row(line) for line in self.lines]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
        before = None
        for line, row in zip(self.lines, rows, strict=True):
            if (line.file, line.function) != before:
                gap = "" if before is None else "\n"
                before = line.file, line.function
                yield f"{gap}{line.function}, {os.path.basename(line.file)}"
            number, source, operations, moved = (
                row[0].rjust(widths[0]),
                row[1].ljust(widths[1]),
                row[2].rjust(widths[2]),
                row[3].rjust(widths[3]),
            )
            yield f"  {number}  {source}  {operations}  {moved}  {row[4]}".rstrip()
            for reason in line.slow:
                yield " " * (widths[0] + 6) + f"! {reason}"


def _row(line: LineReport) -> Sequence[str]:
    work = line.work
    operations = f"{short_number(work.operations)} op" if work.operations else ""
    moved = in_bytes(work.bytes) if work.bytes else ""
    source = line.source if len(line.source) <= WIDEST else f"{line.source[: WIDEST - 4]} ..."
    return str(line.number), source, operations, moved, _runners(line.runs_in)


def _runners(runs_in: Sequence[str]) -> str:
    """What runs a line; of many kernels the first and how many there are."""
    kernels = [name for name in runs_in if ":" not in name and name not in ("NumPy", "Python")]
    if len(kernels) <= MANY:
        return "; ".join(runs_in)
    others = [name for name in runs_in if name not in kernels]
    return "; ".join([f"{kernels[0]} and {len(kernels) - 1} others", *others])


def section(title: str, rows: object) -> Iterator[str]:
    """A part of the report; nothing where it is empty."""
    texts = list(rows)  # type: ignore[call-overload]
    if texts:
        yield f"\n{title}:"
        yield from (f"  {text}" for text in texts)


def _residual(r: Residual) -> str:
    size = "as it grows" if r.bytes is None else in_bytes(r.bytes)
    where = f", line {r.line}" if r.line else ""
    return f"{r.name or 'an array'}: {r.what}, {size}{where}"


def _compilation(c: Compilation) -> str:
    return f"{c.kernel}: {c.seconds:.2f} s{' (from the cache)' if c.cached else ''}"


def short_number(number: float) -> str:
    """A number with three digits; the script of the page of `tapeless view` writes the same.

    >>> [short_number(x) for x in (999, 1234, 5.6e7, 999_999, 1.2e15)]
    ['999', '1.23 k', '56 M', '1 M', '1200 T']
    """
    step = 1
    while number >= 1000 * step:
        step *= 10
    rounded = math.floor(number / step + 0.5) * step  # a half goes up
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if rounded >= size:
            return f"{rounded / size:.{3 if rounded < 1000 * size else 17}g} {unit}"
    return str(rounded)


def in_bytes(number: float) -> str:
    """
    >>> in_bytes(8), in_bytes(2_000_000)
    ('8 B', '2 MB')
    """
    text = short_number(number)
    return f"{text}B" if text[-1].isalpha() else f"{text} B"
