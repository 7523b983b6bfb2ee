"""Tells of loops that Python runs under `jit`, and which of them are worth a warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tapeless.explain.known_numbers import KnownNumbers
from tapeless.explain.work import Work, WorkWalk
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    Function,
    Let,
    Literal,
    Statement,
    While,
    blocks,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.slow_code import MANY, SlowCode
from tapeless.transforms.lowering.obstacles import RECURSION
from tapeless.transforms.lowering.placement import DriverLoop, Placement
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.function_calls import calls

BY_PYTHON = "is run by Python, pass by pass"
CALL = 1e-6  # seconds that Python takes for a statement of a driver: a call, mostly
OPERATION, BYTE = 0.3e-9, 0.1e-9  # seconds that compiled code takes
SHARE = 0.2  # of its time that Python may take of a loop without a warning


def as_slow_code(loop: DriverLoop) -> SlowCode | None:
    """A loop of the driver as the user is told of it; None for one without a line."""
    origin = loop.loop.origin
    if origin is None:
        return None
    because = loop.obstacle.statement.origin
    there = because is not None and (because.file, because.line) != (origin.file, origin.line)
    where = f" (line {because.line})" if because is not None and there else ""
    reason = f"{loop.obstacle.reason}{where}"
    place = origin.file, origin.line, origin.function
    return SlowCode(*place, BY_PYTHON, reason, loop.obstacle.way_out)


def driver_loops(placement: Placement) -> list[SlowCode]:
    """All loops that Python runs, each line once."""
    loops = [slow for each in placement.loops if (slow := as_slow_code(each)) is not None]
    loops += in_functions(placement.block)
    return list({(x.file, x.line, x.function): x for x in loops}.values())


def costly_loops(placement: Placement, hints: Mapping[dims.Symbol, int]) -> Iterator[SlowCode]:
    """The loops in which what Python adds counts, by the sizes of the call at hand: those that hold
    themselves what keeps them out of kernels."""
    yield from in_functions(placement.block)
    if not placement.loops:
        return
    numbers = KnownNumbers(placement.block, hints, {}, placement.analysis.upper)
    walk = WorkWalk(numbers, placement)
    for each in placement.loops:
        slow = as_slow_code(each)
        if slow is not None and each.obstacle.loop is each.loop and counts(each, walk):
            yield slow


def counts(loop: DriverLoop, walk: WorkWalk) -> bool:
    """Whether Python takes a large part of the time of a loop that makes many passes."""
    calls = python_statements(blocks(loop.lowered))
    if isinstance(loop.loop, For) and makes_few_passes(loop.loop, calls):
        return False
    work = sum((s.work for b in blocks(loop.loop) for s in walk.steps(b)), Work())
    by_python = CALL * calls
    return by_python > SHARE * (by_python + OPERATION * work.operations + BYTE * work.bytes)


def makes_few_passes(loop: For, calls: int) -> bool:
    """Whether a loop makes so few passes, in each call, that what Python adds does not count."""
    ends = [a.value for a in (loop.start, loop.stop, loop.step) if isinstance(a, Literal)]
    return len(ends) == 3 and len(range(*ends)) * calls <= MANY


def python_statements(bodies: Iterable[Block]) -> int:
    """How many statements of a driver cost something."""
    return sum(_costs(s) for b in bodies for s in statements(b))


def _costs(s: Statement) -> bool:
    if isinstance(s, Let):
        return not is_view(s) and s.op is not size_value
    return isinstance(s, (Effect, For, While))


def in_functions(block: Block) -> list[SlowCode]:
    """The loops of functions that a program calls: of recursions, which are not compiled."""
    functions, pending = dict[Function, None](), calls(block)
    while pending:
        function = pending.pop()
        if function not in functions:
            functions[function] = None
            pending += calls(function.block)
    return [
        loop
        for f in functions
        for loop in not_compiled(f.block, f"{f.name}() calls itself", RECURSION)
    ]


SETTING = "leave that setting out, or call the function without jit"


def not_compiled(block: Block, reason: str, way_out: str = SETTING) -> list[SlowCode]:
    """The loops of a program of which nothing is compiled."""
    loops = (s for s in statements(block) if isinstance(s, (For, While)))
    places = ((s.origin.file, s.origin.line, s.origin.function) for s in loops if s.origin)
    return [SlowCode(*place, BY_PYTHON, reason, way_out) for place in dict.fromkeys(places)]
