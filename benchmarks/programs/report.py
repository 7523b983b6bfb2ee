"""Writes what the transformations made of the programs: lines, totals, and a page in Markdown."""

from __future__ import annotations

import datetime
import platform
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import scipy

from benchmarks.programs import catalogue
from benchmarks.programs.program import Program

TRANSFORMATIONS = ("jit", "grad", "jit(grad)", "jvp", "vmap", "jit(vmap)")
UNSURE = ("refused", "wrong", "error", "unchecked")
OUTCOMES = ("right", "traced", "refused", "wrong", "error", "unchecked")


@dataclass(frozen=True)
class Row:
    """A program and what each transformation made of it."""

    program: Program
    outcomes: Sequence[dict[str, Any]]

    @property
    def ran(self) -> bool:
        return bool(self.outcomes[0]["outcome"] != "not run")

    def text(self) -> str:
        if not self.ran:
            return f"{self.program.name}: not run: {self.outcomes[0]['why']}"
        lines = [self.program.name]
        for o in self.outcomes:
            times = f" {o['first']:.1f} s, x{o['ratio']:.2f}" if "first" in o else ""
            lines.append(f"    {o['transformation']}: {o['outcome']}{times}  {o['why']}".rstrip())
        return "\n".join(lines)

    def cells(self) -> str:
        """The row of the table."""
        field = catalogue.REPOSITORIES[self.program.repository].field
        return f"| {field} | {self.program.name} | " + " | ".join(map(cell, self.outcomes)) + " |"


def cell(outcome: dict[str, Any]) -> str:
    if "first" not in outcome:
        return str(outcome["outcome"])
    mark = "" if outcome["outcome"] == "right" else f"{outcome['outcome']}, "
    return f"{mark}{outcome['first']:.1f} s, {outcome['ratio']:.2g}"


def counted(rows: Sequence[Row]) -> list[tuple[str, Counter[str]]]:
    """How often each outcome came, by transformation."""
    by_name: dict[str, Counter[str]] = {name: Counter() for name in TRANSFORMATIONS}
    for row in rows:
        for o in row.outcomes if row.ran else ():
            by_name[o["transformation"]][o["outcome"]] += 1
    return [*by_name.items(), ("all", sum(by_name.values(), Counter()))]


def totals(rows: Sequence[Row]) -> str:
    """A table of the outcomes, with the share that is right among those that could be checked."""
    head = "| transformation | " + " | ".join(OUTCOMES) + " | right, traced or not |"
    lines = [head, "|---" * (len(OUTCOMES) + 2) + "|"]
    for name, count in counted(rows):
        checked = sum(count.values()) - count["unchecked"]
        share = (count["right"] + count["traced"]) / max(checked, 1)
        numbers = " | ".join(str(count[o]) for o in OUTCOMES)
        lines.append(f"| {name} | {numbers} | {share:.1%} |")
    return "\n".join(lines)


def times(rows: Sequence[Row]) -> str:
    """First calls and ratios, by transformation."""
    lines = ["| transformation | first call, median | nine tenths | most | ratio, median | most |"]
    lines.append("|---|---|---|---|---|---|")
    for name in TRANSFORMATIONS:
        every = [
            o
            for r in rows
            if r.ran
            for o in r.outcomes
            if o["transformation"] == name and "first" in o
        ]
        if every:
            first, ratio = [o["first"] for o in every], [o["ratio"] for o in every]
            lines.append(
                f"| {name} | {statistics.median(first):.1f} s | {np.quantile(first, 0.9):.1f} s | "
                f"{max(first):.1f} s | {statistics.median(ratio):.2g} | {max(ratio):.2g} |"
            )
    return "\n".join(lines)


def failures(rows: Sequence[Row]) -> str:
    """What is not right, with its reason."""
    lines = []
    for row in rows:
        for o in row.outcomes if row.ran else ():
            if o["outcome"] in UNSURE and not o["why"].startswith("no argument of it"):
                why = " ".join(o["why"].split())[:300]
                lines.append(f"- {row.program.name}, {o['transformation']}: {o['outcome']}: {why}")
    return "\n".join(lines) or "None."


def page(rows: Sequence[Row]) -> str:
    """The whole page."""
    ran = [r for r in rows if r.ran]
    repositories = {r.program.repository for r in ran}
    commits = "\n".join(
        f"- {name} at {catalogue.REPOSITORIES[name].commit[:12]}" for name in sorted(repositories)
    )
    head = "| field | program | " + " | ".join(TRANSFORMATIONS) + " |"
    return f"""# Public programs

{len(ran)} functions of {len(repositories)} public repositories, run on {datetime.date.today()}
with Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__} and
Numba {numba.__version__} by `python -m benchmarks.programs`. Values are compared with the plain
function, batches with a loop of calls, derivatives with central differences along a random
direction.

{totals(ran)}

"Traced" is right, too, but some of it is run by Python on the values of each call, which a \
`PerformanceWarning` says. "Unchecked" is what has no value to compare with: no argument that is \
differentiated, or central differences that disagree with one another.

{times(ran)}

A ratio is the time of a call over that of the plain function, or of {3} calls of it for `vmap`.

## Not right

{failures(ran)}

## Programs

Each cell has the first call and the ratio.

{head}
{"|---" * (len(TRANSFORMATIONS) + 2)}|
{chr(10).join(r.cells() for r in ran)}

## Commits

{commits}
"""
