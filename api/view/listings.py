"""Print listings as HTML for the style sheet `listings.css`: lines of code, linked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from tapeless.explain.report import counted, in_bytes
from tapeless.view.colours import coloured
from tapeless.view.panes import Pane, ViewLine

Anchors = dict[int, tuple[str, int]]  # for each of the user's lines its anchor and its number


def style_sheet() -> str:
    """The rules for listings, all of them for what is inside of an element of the class
    `tapeless-view`."""
    return resources.files("tapeless.view").joinpath("listings.css").read_text(encoding="utf-8")


def listings(panes: Sequence[Pane], heading: str) -> list[str]:
    """An element for each listing, under an element `heading` with its title."""
    anchors = {
        line.places[0]: (f"{pane.name}-L{line.number}", line.number)
        for pane in panes
        if pane.is_users
        for line in pane.lines
    }
    return [_pane(pane, anchors, heading) for pane in panes]


def _pane(pane: Pane, anchors: Anchors, heading: str) -> str:
    items = "".join(
        _line(pane, line, code, anchors, gap=bool(k and not j))
        for k, block in enumerate(_blocks(pane.lines))
        for j, (line, code) in enumerate(_coloured(block, pane.language))
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


def _coloured(block: Sequence[ViewLine], language: str) -> Iterator[tuple[ViewLine, str]]:
    return zip(block, coloured("\n".join(x.text for x in block), language), strict=True)


def _line(pane: Pane, line: ViewLine, code: str, anchors: Anchors, gap: bool) -> str:
    """A list item: the line's number, which is a link to it, its code, and what is known of it."""
    anchor = f"{pane.name}-L{line.number}"
    places = " ".join(map(str, line.places))
    depth = len(line.text) - len(line.text.lstrip())
    beside = _notes(line) if pane.is_users else _origins(line, anchors)
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


def _notes(line: ViewLine) -> str:
    """What runs a line, what that costs, and what it keeps."""
    report = line.report
    if report is None:
        return ""
    chips = [(_kind(name), name) for name in report.runs_in]
    if report.work.operations:
        chips.append(("cost", f"{counted(report.work.operations)} operations"))
    if report.work.bytes:
        chips.append(("cost", f"{in_bytes(report.work.bytes)} moved"))
    for r in line.saved:
        size = "as it grows" if r.bytes is None else in_bytes(r.bytes)
        chips.append(("saved", f"saves {r.name or 'an array'}: {r.what}, {size}"))
    chips += [("slow", reason) for reason in report.slow]
    items = "".join(f'<li class="{kind}">{escape(text)}</li>' for kind, text in chips)
    label = f"about line {line.number}"
    return f'<ul class="notes" role="list" aria-label="{label}">{items}</ul>' if items else ""


def _kind(runner: str) -> str:
    """What sort of thing runs a line: a kernel, a library or Python.

    >>> _kind("f_kernel"), _kind("FFT: np.fft.fft"), _kind("Python: loop")
    ('kernel', 'library', 'python')
    """
    head = runner.partition(":")[0]
    if head == "Python":
        return "python"
    return "library" if ":" in runner or head == "NumPy" else "kernel"
