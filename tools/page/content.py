"""Collect what a page shows of a function under transformations: its listings, and their cost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tapeless
from tapeless.explain.lines import LineReport
from tapeless.explain.report import Explanation
from tapeless.profiler.line_profile import Line
from tapeless.tools import internals
from tapeless.tools.target import Target
from tapeless.tools.transform import transformed
from tapeless.transforms.errors import SourceError
from tapeless.view.flame import flame_graph
from tapeless.view.panes import (
    Pane,
    Place,
    by_place,
    emitted,
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


def view_of(target: Target, names: tuple[str, ...], profiled: bool = False) -> PageContent:
    """The listings of a function under transformations, for the arguments of the target; with
    `profiled` the function is called, and where its time goes is shown as well."""
    explanation = transformed(target, names).explain(*target.args)
    inner = names[1:] if names[0] == "jit" else names
    plain = transformed(target, inner) if inner else internals.array_form(target.function)
    array = plain.explain(*target.args)
    reports = by_place([*_own_lines(target.function), *array.lines, *explanation.lines])
    places = {place: k for k, place in enumerate(reports)}
    under_jit = plain if inner else target.function
    loops = tapeless.jit(under_jit).lower(*target.args).source()
    text = internals.emitted(plain, target.args)
    forms = [
        with_returned(emitted("array", "Array form", text, places), array.returned, places),
        emitted("loop", "Loop form", loops, places),
        _cuda(under_jit, target.args, places),
    ]
    users = sources(reports, explanation.saved)
    flame = _flame(plain, target.args, users, forms[0], list(places)) if profiled else ""
    return PageContent(explanation, [*users, *forms], flame)


def _flame(
    plain: Any, args: tuple[Any, ...], users: list[Pane], array: Pane, places: list[Place]
) -> str:
    """The flame graph of array form, whose boxes are links to the lines of the listings."""
    anchors = {
        places[line.places[0]]: f"{pane.name}-L{line.number}"
        for pane in users
        for line in pane.lines
    }
    texts = {line.number: line.text.strip() for line in array.lines}

    def of_user(line: Line) -> str:
        return anchors.get(line.place, "") if line.place else ""

    def of_array(line: Line) -> str:
        same = texts.get(line.number, "").startswith(line.source.strip())
        return f"{array.name}-L{line.number}" if same else ""

    return flame_graph(plain.profile(*args), of_user, of_array)


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
    return emitted("cuda", "CUDA C", kernels[1], places, "cuda")
