"""Collect the listings of a page: the user's lines, and emitted code with its origins."""

from __future__ import annotations

import inspect
import linecache
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import tapeless
from tapeless.explain.lines import LineReport
from tapeless.explain.report import Explanation
from tapeless.explain.residuals import Residual
from tapeless.tools import internals
from tapeless.tools.target import Target
from tapeless.tools.transform import transformed
from tapeless.transforms.python_text.line_origins import line_origins

Place = tuple[str, int]  # file, line
CUDA_TEXT = re.compile(r'^CODE = r"""\n(.*?)^"""$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class ViewLine:
    """A line of a pane.

    number  where it is in its file
    text    of it
    places  indexes of the user's lines that it belongs to; of such a line its own
    report  what runs a line of the user's, and what that costs
    saved   what a line of the user's keeps for the backward pass
    """

    number: int
    text: str
    places: tuple[int, ...]
    report: LineReport | None = None
    saved: tuple[Residual, ...] = ()


@dataclass(frozen=True)
class Pane:
    """A listing.

    name      of its anchors: line 3 is #name-L3
    title     its heading
    language  as Pygments calls it
    lines     what is shown
    text      what is coloured: the whole file that the lines are of
    remark    what is to be known of it
    """

    name: str
    title: str
    language: str
    lines: tuple[ViewLine, ...]
    text: str = ""
    remark: str = ""


@dataclass(frozen=True)
class PageContent:
    """All that a page shows: listings, and what is known of the whole."""

    explanation: Explanation
    panes: list[Pane] = field(default_factory=list)


def view_of(target: Target, names: tuple[str, ...]) -> PageContent:
    """The listings of a function under transformations, for the arguments of the target."""
    explanation = transformed(target, names).explain(*target.args)
    inner = names[1:] if names[0] == "jit" else names
    plain = transformed(target, inner) if inner else internals.array_form(target.function)
    array = plain.explain(*target.args)
    reports = _reports(target.function, (*array.lines, *explanation.lines))
    places = {place: k for k, place in enumerate(reports)}
    loops = tapeless.jit(plain if inner else target.function).lower(*target.args).source()
    forms = [
        _array(internals.emitted(plain, target.args), places, array),
        _emitted("loop", "Loop form", loops, places),
        _cuda(plain if inner else target.function, target.args, places),
    ]
    return PageContent(explanation, [*_sources(reports, places, explanation.saved), *forms])


def _reports(function: Any, lines: Iterable[LineReport]) -> dict[Place, LineReport]:
    """What is known of each of the user's lines, file by file, the function's own first; of the
    same line in two functions, one inside the other, the report that tells more."""
    reports: dict[Place, LineReport] = {}
    for line in (*_own_lines(function), *lines):
        place = line.file, line.number
        before = reports.get(place)
        if before is None or line.runs_in or not before.runs_in:
            reports[place] = line
    order = {file: k for k, file in enumerate(dict.fromkeys(file for file, _ in reports))}
    return dict(sorted(reports.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def _own_lines(function: Any) -> list[LineReport]:
    """All lines of a function, those of which no statement is left, too."""
    try:
        source, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function)
    except (OSError, TypeError):  # it has no source: a builtin, say
        return []
    name = getattr(function, "__qualname__", "")
    return [LineReport(str(file), name, first + k, x.rstrip()) for k, x in enumerate(source)]


def _sources(
    reports: dict[Place, LineReport], places: dict[Place, int], saved: Iterable[Residual]
) -> list[Pane]:
    """A listing for each of the user's files."""
    kept: dict[Place, list[Residual]] = {}
    for residual in saved:
        kept.setdefault((residual.file, residual.line), []).append(residual)
    files: dict[str, list[ViewLine]] = {}
    for (file, number), report in reports.items():
        place = file, number
        text = linecache.getline(file, number).rstrip("\n") or report.source
        residuals = tuple(kept.get(place, ()))
        line = ViewLine(number, text, (places[place],), report, residuals)
        files.setdefault(file, []).append(line)
    return [
        Pane(
            "source" if k == 1 else f"source-{k}",
            f"Your source, {os.path.basename(file)}",
            "python",
            tuple(lines),
            "".join(linecache.getlines(file)),
        )
        for k, (file, lines) in enumerate(files.items(), 1)
    ]


def _emitted(
    name: str, title: str, text: str, places: dict[Place, int], language: str = "python"
) -> Pane:
    """A listing of emitted code, each line with the places it belongs to."""
    text = text.strip("\n")
    by_number: dict[int, list[int]] = {}
    for (_, number), k in places.items():
        by_number.setdefault(number, []).append(k)
    origins = line_origins(text)
    lines = [
        ViewLine(number, line, tuple(k for n in numbers for k in by_number.get(n, ())))
        for number, (line, numbers) in enumerate(zip(text.split("\n"), origins, strict=True), 1)
    ]
    shared = sorted({n for numbers in origins for n in numbers if len(by_number.get(n, ())) > 1})
    remark = (
        f"{_lines(shared)} in several of your files; what comes from one of them is linked to each."
        if shared
        else ""
    )
    return Pane(name, title, language, tuple(lines), text, remark)


def _array(text: str, places: dict[Place, int], explanation: Explanation) -> Pane:
    """Array form; its `return` belongs to the lines of what it computes."""
    pane = _emitted("array", "Array form", text, places)
    returned = tuple(places[place] for place in explanation.returned if place in places)
    first = max((x.number for x in pane.lines if x.text.startswith("    return ")), default=0)
    lines = [replace(x, places=returned) if first <= x.number and first else x for x in pane.lines]
    return replace(pane, lines=tuple(lines))


def _cuda(function: Any, args: tuple[Any, ...], places: dict[Place, int]) -> Pane:
    """The kernels for GPUs, or why there are none."""
    try:
        text = tapeless.jit(function, backend="gpu").lower(*args).source()
    except tapeless.TapelessError as error:
        return Pane("cuda", "CUDA C", "cuda", (), remark=f"There is none: {error}")
    kernels = CUDA_TEXT.search(text)
    if kernels is None:
        return Pane("cuda", "CUDA C", "cuda", (), remark="There is none: no kernel is needed.")
    return _emitted("cuda", "CUDA C", kernels[1], places, "cuda")


def _lines(numbers: list[int]) -> str:
    texts = ", ".join(map(str, numbers))
    return f"Lines {texts} are" if len(numbers) > 1 else f"Line {texts} is"
