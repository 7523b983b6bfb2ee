"""Puts together what is known of a specialisation, for the arguments of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.backends import cpu, cuda
from tapeless.dispatch.specialisation import Specialisation
from tapeless.explain.by_size import BySize, CallSizes, Value, argument_formulas
from tapeless.explain.lines import LineReport, attribute_to_lines
from tapeless.explain.peak_memory import PeakMemory
from tapeless.explain.report import Explanation
from tapeless.explain.residuals import residuals
from tapeless.explain.size_formulas import SizeFormulas
from tapeless.explain.specialised import made_for
from tapeless.explain.work import Work, WorkWalk
from tapeless.transformations.compilation.cost_analysis import elements
from tapeless.transformations.eval_shape import known_lengths
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Symbol
from tapeless.transforms.core.language import Block, Effect, Let, Statement, Type, Var
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.emit.module import called_functions
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
    integers = _integers(specialisation, leaves)
    pairs = zip(staged.leaves, leaves, strict=True)
    values = {integers[leaf.var]: int(x) for leaf, x in pairs if leaf.var in integers}
    call = CallSizes(specialisation, known_lengths(specialisation, leaves) | values)
    numbers = _numbers(call, integers, block, lowered)
    bodies = [block, *called_functions([block], name).values()]
    walk = WorkWalk(numbers, placement)
    steps = [step for body in bodies for step in walk.steps(body)]
    by_size = BySize(
        call.table,
        call.sizes(),
        tuple(call.requirements()),
        tuple(argument_formulas(specialisation, numbers)),
        sum((s.work for s in steps), Work()),
        _peak(specialisation, leaves, numbers, lowered),
    )
    value = by_size.evaluated()
    lines = [
        _evaluate_line(line, value)
        for line in attribute_to_lines(steps, placement.shared if placement else ())
    ]
    return Explanation(
        name,
        tuple(_with_loops(lines, loops)),
        tuple(loops),
        tuple(dict.fromkeys(made_for(specialisation))),
        tuple(residuals(block, numbers, value, placement)),
        _work(by_size.work, value),
        value(by_size.peak_memory),
        (*cpu.compilations(specialisation.run), *cuda.compilations(specialisation.run))
        if lowered
        else (),
        tuple(staged.notes),
        () if lowered else tuple((x.file, x.line) for x in result_origins(block)),
        by_size,
    )


def _evaluate_line(line: LineReport, value: Value) -> LineReport:
    """A line with formulas as one with numbers."""
    return replace(line, work=_work(line.work, value), by_size=line.work)


def _work(work: Work, value: Value) -> Work:
    return Work(float(value(work.operations)), float(value(work.bytes)))


def _integers(specialisation: Specialisation, leaves: Sequence[Any]) -> dict[Var, Symbol]:
    """The parameters that are integers, each with the size that it is."""
    sizes = {}
    for leaf, x in zip(specialisation.staged.leaves, leaves, strict=True):
        if leaf.var is not None and _is_integer(x):
            own = None if leaf.var.size is None else dims.symbols(leaf.var.size)
            sizes[leaf.var] = next(iter(own)) if own else Symbol(leaf.name, var=leaf.var)
    return sizes


def _is_integer(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _numbers(
    call: CallSizes, integers: Mapping[Var, Symbol], block: Block, lowered: Lowered | None
) -> SizeFormulas:
    lengths = call.lengths()
    values = {v: lengths[size] for v, size in integers.items()}
    if lowered is None:
        return SizeFormulas(call.table, block, lengths, values)
    return SizeFormulas(call.table, block, lengths, values, lowered.placement.analysis.upper)


def _peak(
    specialisation: Specialisation,
    leaves: Sequence[Any],
    numbers: SizeFormulas,
    lowered: Lowered | None,
) -> Any:
    """The most bytes at once, with the arguments, as a formula."""
    arguments: Any = 0
    for leaf, x in zip(specialisation.staged.leaves, leaves, strict=True):
        if isinstance(x, np.ndarray):
            arguments += x.nbytes if leaf.var is None else _bytes(leaf.var.type, numbers)
    if lowered is None:
        block = with_stores(specialisation.simplified)
        return arguments + PeakMemory(numbers, lambda s: 0).peak_of(block)
    inner = {
        name: sum(_bytes(t, numbers) for t in types)
        for name, types in lowered.placement.inner.items()
    }
    return arguments + PeakMemory(numbers, lambda s: inner.get(_called_kernel(s), 0)).peak_of(
        lowered.driver
    )


def _bytes(kind: Type, numbers: SizeFormulas) -> Any:
    return elements(kind, numbers.length) * kind.dtype.itemsize


def _called_kernel(s: Statement) -> str:
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
