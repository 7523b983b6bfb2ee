"""Print a view as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template

from tapeless.explain.report import counted, in_bytes
from tapeless.tools.page.content import PageContent
from tapeless.view.listings import listings, style_sheet


def page(view: PageContent) -> str:
    """The text of the page."""
    explanation = view.explanation
    title, _, arguments = explanation.name.partition("; ")
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
        style=style_sheet(),
        panes="\n".join((*filter(None, [view.flame]), *listings(view.panes, heading="h2"))),
    )


def _facts(title: str, rows: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>" if items else ""
