"""Collects what a page shows of a function under transformations: its listings, and their cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tapeless
from tapeless.explain.lines import LineReport
from tapeless.explain.report import Explanation
from tapeless.profiler.line_profile import Line, LineProfile, readable
from tapeless.tools import internals
from tapeless.tools.target import CommandTarget
from tapeless.tools.transform import transform
from tapeless.transforms.errors import SourceError
from tapeless.view.flame import flame_graph
from tapeless.view.line_times import lines_of, with_times, with_times_of
from tapeless.view.panes import (
    Pane,
    Place,
    by_place,
    emitted_pane,
    function_lines,
    sources,
    with_returned,
)

CUDA_TEXT = re.compile(r'^CODE = r"""\n(.*?)^"""$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class PageContent:
    """All that a page shows: listings, and what is known of the whole."""

    explanation: Explanation
    panes: list[Pane]
    flame: str = ""  # where the time of a call goes, as HTML
    measured: tuple[str, ...] = ()  # how times were measured


def view_of(target: CommandTarget, names: tuple[str, ...], profiled: bool = False) -> PageContent:
    """The listings of a function under transformations, for the arguments of the target; with
    `profiled` the function is called, and what its lines take is shown as well."""
    explanation = transform(target, names).explain(*target.args)
    inner = names[1:] if names[0] == "jit" else names
    plain = transform(target, inner) if inner else internals.array_form(target.function)
    array = plain.explain(*target.args)
    of_array = (LineReport(x.file, x.function, x.number, x.source) for x in array.lines)
    reports = by_place([*_own_lines(target.function), *of_array, *explanation.lines])
    places = {place: k for k, place in enumerate(reports)}
    under_jit = plain if inner else target.function
    compiled = tapeless.jit(under_jit)
    loops = compiled.lower(*target.args).source()
    text = internals.emitted_module(plain, target.args)
    users = sources(reports, explanation.saved)
    array_pane = with_returned(
        emitted_pane("array", "Array form", text, places), array.returned, places
    )
    loop_pane = emitted_pane("loop", "Loop form", loops, places)
    cuda_pane = _cuda(under_jit, target.args, places)
    if not profiled:
        return PageContent(explanation, [*users, array_pane, loop_pane, cuda_pane])
    profile = plain.profile(*target.args)
    driver = internals.driver_profile(compiled, target.args)
    array_pane, loop_pane = with_times(array_pane, profile), with_times(loop_pane, driver)
    flame = _flame(profile, users, array_pane, list(places))
    numbers = [number for _, number in places]
    shown = loop_pane if names[0] == "jit" else array_pane
    users = [with_times_of(pane, shown, numbers) for pane in users]
    panes = [*users, array_pane, loop_pane, cuda_pane]
    return PageContent(
        explanation, panes, flame, _measurement_text(profile, driver, names[0] == "jit")
    )


def _measurement_text(array: LineProfile, loops: LineProfile, is_compiled: bool) -> tuple[str, ...]:
    """How times were measured."""
    form = "loop form" if is_compiled else "array form"
    return (
        "The function was called with these arguments on this machine. A call takes "
        f"{readable(array.seconds)} in array form and {readable(loops.seconds)} under jit: the "
        f"fastest of {array.calls:,} and of {loops.calls:,} calls that nothing watched.",
        "Lines were timed in as many further calls, by Python's trace function and its monotonic "
        "clock (time.perf_counter); shown is the fastest of these calls. Watching takes time as "
        "well, some tenths of a microsecond a line.",
        "In loop form, the driver ran as Python code, and what its lines call (kernels in machine "
        "code, libraries) counts for the line that calls it. Lines inside of kernels have no times "
        "of their own. A line that calls an emitted function has the time of that, too.",
        f"The times beside your lines are those of the lines of {form} that belong to them. Times "
        "do not follow the sizes that are set here.",
    )


def _flame(profile: LineProfile, users: list[Pane], array: Pane, places: list[Place]) -> str:
    """The flame graph of array form, whose boxes are links to the lines of the listings."""
    anchors = {
        places[line.places[0]]: f"{pane.name}-L{line.number}"
        for pane in users
        for line in pane.lines
    }
    numbers = lines_of(array, profile)

    def of_user(line: Line) -> str:
        return anchors.get(line.place, "") if line.place else ""

    def of_array(line: Line) -> str:
        number = numbers.get(line.number)
        return "" if number is None else f"{array.name}-L{number}"

    return flame_graph(profile, of_user, of_array)


def _own_lines(function: Callable[..., Any]) -> list[LineReport]:
    """All lines of a function; of one that has no source, such as a builtin, none."""
    try:
        return function_lines(function)
    except SourceError:
        return []


def _cuda(function: Callable[..., Any], args: tuple[Any, ...], places: Mapping[Place, int]) -> Pane:
    """The kernels for GPUs, or why there are none."""
    try:
        text = tapeless.jit(function, backend="gpu").lower(*args).source()
    except tapeless.TapelessError as error:
        return Pane("cuda", "CUDA C", "cuda", (), remark=f"There is none: {error}")
    kernels = CUDA_TEXT.search(text)
    if kernels is None:
        return Pane("cuda", "CUDA C", "cuda", (), remark="There is none: no kernel is needed.")
    return emitted_pane("cuda", "CUDA C", kernels[1], places, "cuda")
