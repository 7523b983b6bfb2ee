"""Collects listings: the user's lines, and emitted code with the lines that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from tapeless.explain.lines import LineReport
from tapeless.explain.residuals import Residual
from tapeless.staging.emitted_names import unwrap
from tapeless.transforms.errors import SourceError
from tapeless.transforms.frontend.source import find
from tapeless.transforms.python_text.line_origins import line_origins
from tapeless.view.cell_names import file_title

Place = tuple[str, int]  # file, line


@dataclass(frozen=True)
class LineTime:
    """A measured time of a line.

    seconds  of one call, in all of its runs
    share    of the time of all lines
    text     what is said beside the time
    """

    seconds: float
    share: float
    text: str = ""


@dataclass(frozen=True)
class ViewLine:
    """A line of a pane.

    number  where it is in its file
    text    of it
    places  indexes of the user's lines that it belongs to; of such a line its own
    report  what runs a line of the user's, and what that costs
    saved   what a line of the user's keeps for the backward pass
    times   what was measured of it
    """

    number: int
    text: str
    places: tuple[int, ...]
    report: LineReport | None = None
    saved: tuple[Residual, ...] = ()
    times: tuple[LineTime, ...] = ()


@dataclass(frozen=True)
class Pane:
    """A listing.

    name      of its anchors: line 3 is #name-L3
    title     its heading
    language  as Pygments calls it
    lines     what is shown
    remark    what is to be known of it
    is_users  whether the user wrote it
    """

    name: str
    title: str
    language: str
    lines: tuple[ViewLine, ...]
    remark: str = ""
    is_users: bool = False


def function_lines(function: Any) -> list[LineReport]:
    """All lines of a function of the user, those of which no statement is left, too.

    Raises SourceError where its source is not to be had, or has changed since it was run.
    """
    inner = unwrap(function)
    if not isinstance(inner, FunctionType):
        raise SourceError(f"{getattr(inner, '__name__', 'it')} has no source in Python")
    first, lines = find.own_lines(inner)
    file, name = inner.__code__.co_filename, inner.__qualname__
    return [LineReport(file, name, first + k, line) for k, line in enumerate(lines)]


def by_place(lines: Iterable[LineReport]) -> dict[Place, LineReport]:
    """What is known of each of the user's lines, file by file, as the first lines come; of the same
    line in two functions, one inside the other, the report that tells more."""
    reports: dict[Place, LineReport] = {}
    for line in lines:
        place = line.file, line.number
        before = reports.get(place)
        if before is None or line.runs_in or not before.runs_in:
            reports[place] = line
    order = {file: k for k, file in enumerate(dict.fromkeys(file for file, _ in reports))}
    return dict(sorted(reports.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def sources(reports: Mapping[Place, LineReport], saved: Iterable[Residual] = ()) -> list[Pane]:
    """A listing for each of the user's files."""
    kept: dict[Place, list[Residual]] = {}
    for residual in saved:
        kept.setdefault((residual.file, residual.line), []).append(residual)
    files: dict[str, list[ViewLine]] = {}
    for k, (place, report) in enumerate(reports.items()):
        file, number = place
        line = ViewLine(number, report.source, (k,), report, tuple(kept.get(place, ())))
        files.setdefault(file, []).append(line)
    return [
        Pane(
            "source" if k == 1 else f"source-{k}",
            f"Your source, {file_title(file)}",
            "python",
            tuple(lines),
            is_users=True,
        )
        for k, (file, lines) in enumerate(files.items(), 1)
    ]


def emitted_pane(
    name: str, title: str, text: str, places: Mapping[Place, int], language: str = "python"
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
    return Pane(name, title, language, tuple(lines), remark)


def with_returned(pane: Pane, returned: Iterable[Place], places: Mapping[Place, int]) -> Pane:
    """A pane of array form whose `return` belongs to the lines of what it computes."""
    numbers = tuple(places[place] for place in returned if place in places)
    first = max((x.number for x in pane.lines if x.text.startswith("    return ")), default=0)
    lines = [replace(x, places=numbers) if first <= x.number and first else x for x in pane.lines]
    return replace(pane, lines=tuple(lines))


def _lines(numbers: list[int]) -> str:
    texts = ", ".join(map(str, numbers))
    return f"Lines {texts} are" if len(numbers) > 1 else f"Line {texts} is"
