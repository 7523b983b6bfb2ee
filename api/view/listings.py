"""Prints listings as HTML for the style sheet `listings.css`: lines of code, linked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from typing import Any

from tapeless.explain.residuals import Residual, size_of
from tapeless.profiler.line_profile import readable
from tapeless.view.colours import colour
from tapeless.view.panes import LineTime, Pane, ViewLine
from tapeless.view.sized_numbers import SizedNumbers

Anchors = dict[int, tuple[str, int]]  # for each of the user's lines its anchor and its number


def style_sheet() -> str:
    """The rules for listings, all of them for what is inside of an element of the class
    `tapeless-view`."""
    return resources.files("tapeless.view").joinpath("listings.css").read_text(encoding="utf-8")


def listings(panes: Sequence[Pane], heading: str, numbers: SizedNumbers | None = None) -> list[str]:
    """An element for each listing, under an element `heading` with its title; `numbers` writes
    those that depend on sizes."""
    anchors = {
        line.places[0]: (f"{pane.name}-L{line.number}", line.number)
        for pane in panes
        if pane.is_users
        for line in pane.lines
    }
    numbers = numbers or SizedNumbers()
    return [_pane(pane, anchors, heading, numbers) for pane in panes]


def _pane(pane: Pane, anchors: Anchors, heading: str, numbers: SizedNumbers) -> str:
    items = "".join(
        _line(pane, line, code, _side_note(pane, line, anchors, numbers), gap=bool(k and not j))
        for k, block in enumerate(_blocks(pane.lines))
        for j, (line, code) in enumerate(_colour_block(block, pane.language))
    )
    remark = f'<p class="remark">{escape(pane.remark)}</p>' if pane.remark else ""
    listing = f'<ol class="listing" role="list">\n{items}</ol>' if items else ""
    return (
        f'<section class="pane" id="{pane.name}" aria-labelledby="{pane.name}-title">\n'
        f'<{heading} class="title" id="{pane.name}-title">{escape(pane.title)}</{heading}>\n'
        f"{remark}{listing}\n</section>"
    )


def _blocks(lines: Sequence[ViewLine]) -> Iterator[Sequence[ViewLine]]:
    """The lines, cut where some of the file are left out."""
    start = 0
    for k in range(1, len(lines) + 1):
        if k == len(lines) or lines[k].number != lines[k - 1].number + 1:
            yield lines[start:k]
            start = k


def _colour_block(block: Sequence[ViewLine], language: str) -> Iterator[tuple[ViewLine, str]]:
    return zip(block, colour("\n".join(x.text for x in block), language), strict=True)


def _side_note(pane: Pane, line: ViewLine, anchors: Anchors, numbers: SizedNumbers) -> str:
    return _notes(line, numbers) if pane.is_users else _time(line) + _origins(line, anchors)


def _line(pane: Pane, line: ViewLine, code: str, beside: str, gap: bool) -> str:
    """A list item: the line's number, which is a link to it, its code, and what is known of it."""
    anchor = f"{pane.name}-L{line.number}"
    places = " ".join(map(str, line.places))
    depth = len(line.text) - len(line.text.lstrip())
    return (
        f'<li id="{anchor}" class="line{" gap" if gap else ""}" value="{line.number}" '
        f'data-places="{places}">'
        f'<a class="number" href="#{anchor}" aria-label="line {line.number}">{line.number}</a>'
        f'<code style="--depth:{depth}ch">{code}</code>{beside}</li>\n'
    )


def _origins(line: ViewLine, anchors: Anchors) -> str:
    """Links to the user's lines that a line comes from."""
    links = [
        f'<a href="#{anchors[k][0]}" tabindex="-1" aria-label="from line {anchors[k][1]} '
        f'of your source">{anchors[k][1]}</a>'
        for k in line.places
        if k in anchors
    ]
    return f'<span class="from">{" ".join(links)}</span>' if links else ""


def _time(line: ViewLine) -> str:
    """What an emitted line took, with a bar as long as its share."""
    return "".join(
        f'<span class="took" style="--share:{time.share:.1%}" title="{escape(_time_title(time))}">'
        f"{readable(time.seconds)}</span>"
        for time in line.times
    )


def _time_title(time: LineTime) -> str:
    return f"{time.share:.1%} of the time of all lines, {time.text}".removesuffix(", ")


def _notes(line: ViewLine, numbers: SizedNumbers) -> str:
    """What runs a line, what that costs, what it took, and what it keeps."""
    report = line.report
    if report is None:
        return ""
    chips = [_chip(_kind(name), escape(name)) for name in report.runs_in]
    work = report.by_size or report.work
    chips.append(_cost(work.operations, "count", "operations", numbers))
    chips.append(_cost(work.bytes, "bytes", "moved", numbers))
    chips += [
        _chip("took", escape(f"{readable(time.seconds)} {time.text}".strip()))
        for time in line.times
    ]
    chips += [_chip("saved", _saved_text(r, numbers)) for r in line.saved]
    chips += [_chip("slow", escape(reason)) for reason in report.slow]
    items = "".join(chips)
    label = f"about line {line.number}"
    return f'<ul class="notes" role="list" aria-label="{label}">{items}</ul>' if items else ""


def _chip(kind: str, html: str) -> str:
    return f'<li class="{kind}">{html}</li>'


def _cost(number: Any, form: str, what: str, numbers: SizedNumbers) -> str:
    """A number of operations or bytes; one that is zero is hidden until it is another."""
    if numbers.value(number):
        return _chip("cost", f"{numbers.span(number, form)} {what}")
    if numbers.varies(number):
        return f'<li class="cost" hidden>{numbers.span(number, form)} {what}</li>'
    return ""


def _saved_text(r: Residual, numbers: SizedNumbers) -> str:
    name = escape(r.name or "an array")
    if not r.dtype:
        return f"saves {name}: {escape(r.what)}, as it grows"
    shape = numbers.shape(r.dtype, r.lengths)
    size = "as it grows" if None in r.lengths else numbers.span(size_of(r), "bytes")
    return f"saves {name}: {shape}, {size}"


def _kind(runner: str) -> str:
    """What sort of thing runs a line: a kernel, a library or Python.

    >>> _kind("f_kernel"), _kind("FFT: np.fft.fft"), _kind("Python: loop")
    ('kernel', 'library', 'python')
    """
    head = runner.partition(":")[0]
    if head == "Python":
        return "python"
    return "library" if ":" in runner or head == "NumPy" else "kernel"
