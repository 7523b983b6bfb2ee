"""Puts together what is known of a specialisation, for the arguments of one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.backends import cpu
from tapeless.dispatch.specialisation import Specialisation
from tapeless.explain.known_numbers import KnownNumbers
from tapeless.explain.lines import LineReport, attributed
from tapeless.explain.peak_memory import PeakMemory
from tapeless.explain.report import Explanation
from tapeless.explain.residuals import residuals
from tapeless.explain.specialised import made_for
from tapeless.explain.work import Work, WorkWalk
from tapeless.transformations.cost_analysis import elements
from tapeless.transformations.eval_shape import known_lengths
from tapeless.transforms.core.language import Block, Effect, Let, Statement, Type
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.emit.module import called
from tapeless.transforms.emit.writer import result_origins
from tapeless.transforms.lowering.lower import Lowered
from tapeless.transforms.pipelines.array_form import with_stores


def explanation(
    name: str,
    specialisation: Specialisation,
    leaves: Sequence[Any],
    lowered: Lowered | None = None,
    loops: Sequence[SlowCode] = (),
) -> Explanation:
    """The report for a call with these leaves.

    lowered  the loop form of the program; None where it runs as NumPy code
    loops    the loops that Python runs or that were unrolled
    """
    staged = specialisation.staged
    placement = lowered.placement if lowered else None
    block = placement.block if placement else specialisation.simplified
    numbers = _numbers(specialisation, leaves, block, lowered)
    bodies = [block, *called([block], name).values()]
    walk = WorkWalk(numbers, placement)
    steps = [step for body in bodies for step in walk.steps(body)]
    compilations = cpu.compilations(specialisation.run) if lowered else []
    return Explanation(
        name,
        tuple(_with_loops(attributed(steps, placement.shared if placement else ()), loops)),
        tuple(loops),
        tuple(dict.fromkeys(made_for(specialisation))),
        tuple(residuals(block, numbers, placement)),
        sum((s.work for s in steps), Work()),
        _peak(specialisation, leaves, numbers, lowered),
        tuple(compilations),
        tuple(staged.notes),
        () if lowered else tuple((x.file, x.line) for x in result_origins(block)),
    )


def _numbers(
    specialisation: Specialisation, leaves: Sequence[Any], block: Block, lowered: Lowered | None
) -> KnownNumbers:
    pairs = zip(specialisation.staged.leaves, leaves, strict=True)
    values = {p.var: int(x) for p, x in pairs if p.var is not None and _is_integer(x)}
    lengths = known_lengths(specialisation, leaves)
    if lowered is None:
        return KnownNumbers(block, lengths, values)
    return KnownNumbers(block, lengths, values, lowered.placement.analysis.upper)


def _is_integer(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _peak(
    specialisation: Specialisation,
    leaves: Sequence[Any],
    numbers: KnownNumbers,
    lowered: Lowered | None,
) -> int:
    """The most bytes at once, with the arguments."""
    arguments = sum(x.nbytes for x in leaves if isinstance(x, np.ndarray))
    if lowered is None:
        block = with_stores(specialisation.simplified)
        return arguments + PeakMemory(numbers, lambda s: 0).of(block)
    inner = {
        name: sum(_bytes(t, numbers) for t in types)
        for name, types in lowered.placement.inner.items()
    }
    return arguments + PeakMemory(numbers, lambda s: inner.get(_called(s), 0)).of(lowered.driver)


def _bytes(kind: Type, numbers: KnownNumbers) -> int:
    return elements(kind, numbers.length) * kind.dtype.itemsize


def _called(s: Statement) -> str:
    """The kernel that a statement of a driver calls."""
    if isinstance(s, Let):
        return s.op.name
    text = s.params["text"] if isinstance(s, Effect) and s.kind == "kernel" else ""
    head, _, rest = text.partition("(")
    return rest.partition(",")[0].strip() if head.endswith("in_parallel") else head


def _with_loops(lines: list[LineReport], loops: Sequence[SlowCode]) -> list[LineReport]:
    """The lines with what is said of the loops that begin there."""
    for loop in loops:
        for line in lines:
            if (line.file, line.number) == (loop.file, loop.line):
                line.slow = (*line.slow, f"{loop.fate}: {loop.reason}; {loop.way_out}")
    return lines
