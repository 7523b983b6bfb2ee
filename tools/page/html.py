"""Print a view as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from string import Template

from tapeless.explain.report import counted, in_bytes
from tapeless.tools.page.colours import coloured
from tapeless.tools.page.panes import PageContent, Pane, ViewLine


def page(view: PageContent) -> str:
    """The text of the page."""
    explanation = view.explanation
    title, _, arguments = explanation.name.partition("; ")
    anchors = _anchors(view.panes)
    template = resources.files("tapeless.tools.page").joinpath("view.html")
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        arguments=escape(arguments),
        operations=counted(explanation.work.operations),
        moved=in_bytes(explanation.work.bytes),
        memory=in_bytes(explanation.peak_memory),
        facts="\n".join(
            (
                _facts("Made for", explanation.specialised),
                _facts("Slow loops elsewhere", explanation.elsewhere()),
                _facts("Notes", explanation.notes),
            )
        ),
        panes="\n".join(_pane(pane, anchors) for pane in view.panes),
    )


def _anchors(panes: Sequence[Pane]) -> dict[int, tuple[str, int]]:
    """For each of the user's lines its anchor and its number."""
    return {
        line.places[0]: (f"{pane.name}-L{line.number}", line.number)
        for pane in panes
        if pane.name.startswith("source")
        for line in pane.lines
    }


def _facts(title: str, rows: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>" if items else ""


def _pane(pane: Pane, anchors: dict[int, tuple[str, int]]) -> str:
    html = coloured(pane.text, pane.language)
    items, before = [], 0
    for line in pane.lines:
        gap = " gap" if before and line.number != before + 1 else ""
        items.append(_line(pane, line, html[line.number - 1], anchors, gap))
        before = line.number
    remark = f'<p class="remark">{escape(pane.remark)}</p>' if pane.remark else ""
    listing = f'<ol class="listing" role="list">\n{"".join(items)}</ol>' if items else ""
    return (
        f'<section class="pane" id="{pane.name}" aria-labelledby="{pane.name}-title">\n'
        f'<h2 id="{pane.name}-title">{escape(pane.title)}</h2>\n{remark}{listing}\n</section>'
    )


def _line(
    pane: Pane, line: ViewLine, code: str, anchors: dict[int, tuple[str, int]], gap: str
) -> str:
    """A list item: the line's number, which is a link to it, its code, and what is known of it."""
    anchor = f"{pane.name}-L{line.number}"
    places = " ".join(map(str, line.places))
    depth = len(line.text) - len(line.text.lstrip())
    own = pane.name.startswith("source")
    beside = _notes(line) if own else _origins(line, anchors)
    return (
        f'<li id="{anchor}" class="line{gap}" value="{line.number}" data-places="{places}">'
        f'<a class="number" href="#{anchor}" aria-label="line {line.number}">{line.number}</a>'
        f'<code style="--depth:{depth}ch">{code}</code>{beside}</li>\n'
    )


def _origins(line: ViewLine, anchors: dict[int, tuple[str, int]]) -> str:
    """Links to the user's lines that a line comes from."""
    links = [
        f'<a href="#{anchors[k][0]}" tabindex="-1" aria-label="from line {anchors[k][1]} '
        f'of your source">{anchors[k][1]}</a>'
        for k in line.places
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
