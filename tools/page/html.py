"""Prints a view as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import resources
from string import Template

from tapeless.explain.by_size import FreeSize
from tapeless.explain.report import Explanation
from tapeless.tools.page.content import PageContent
from tapeless.view.listings import listings, style_sheet
from tapeless.view.sized_numbers import SizedNumbers


def page(view: PageContent) -> str:
    """The text of the page."""
    explanation = view.explanation
    by_size = explanation.by_size
    numbers = SizedNumbers(by_size)
    work = by_size.work if by_size else explanation.work
    peak = by_size.peak_memory if by_size else explanation.peak_memory
    panes = listings(view.panes, heading="h2", numbers=numbers)
    return Template(_file("view.html")).substitute(
        title=escape(explanation.name.partition("; ")[0]),
        arguments=_arguments(explanation, numbers),
        operations=numbers.span(work.operations, "count"),
        moved=numbers.span(work.bytes, "bytes"),
        memory=numbers.span(peak, "bytes"),
        facts="\n".join(
            (
                _facts("Made for", explanation.specialised),
                _facts("Slow loops elsewhere", explanation.loops_elsewhere()),
                _facts("Notes", explanation.notes),
                _facts("How times were measured", view.measured),
            )
        ),
        sizes=_sizes(numbers),
        style=style_sheet() + _file("view.css"),
        script=_file("lines.js") + _file("sizes.js"),
        panes="\n".join((*filter(None, [view.flame]), *panes)),
        formulas=numbers.data().replace("</", "<\\/"),
    )


def _file(name: str) -> str:
    return resources.files("tapeless.tools.page").joinpath(name).read_text(encoding="utf-8")


def _facts(title: str, rows: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>" if items else ""


def _arguments(explanation: Explanation, numbers: SizedNumbers) -> str:
    """The shapes of the arguments, as the explanation has them."""
    text = explanation.name.partition("; ")[2]
    rows = explanation.by_size.arguments if explanation.by_size else ()
    shown = [(f"{name}: ", dtype, lengths) for name, dtype, lengths in rows]
    plain = ", ".join(
        f"{head}{dtype}[{', '.join(str(numbers.value(n)) for n in lengths)}]"
        for head, dtype, lengths in shown
    )
    if plain != text:  # such as containers that are passed as arrays
        return escape(text)
    return ", ".join(escape(head) + numbers.shape(dtype, lengths) for head, dtype, lengths in shown)


def _sizes(numbers: SizedNumbers) -> str:
    """What sets the sizes that the numbers of the page depend on."""
    if numbers.by_size is None or not numbers.sizes():
        return ""
    rows = "\n".join(_size(k, numbers.by_size.sizes[k]) for k in numbers.sizes())
    return (
        '<section class="pane sizes" aria-labelledby="sizes-title">\n'
        '<h2 class="title" id="sizes-title">Sizes</h2>\n'
        f'<div class="size-rows">\n{rows}\n</div>\n'
        '<p class="remark"><button type="button" id="sizes-of-call">Sizes of the call</button> '
        '<span id="requirements" role="status"></span></p>\n</section>'
    )


def _size(k: int, size: FreeSize) -> str:
    """A slider and a field for one size."""
    label = ", ".join(size.names)
    bound = "" if size.least is None else f' min="{size.least}"'
    return (
        f'<div class="size" data-size="{k}">'
        f'<label for="size-{k}">{escape(label)}</label>'
        f'<input type="range" aria-label="{escape(label)}, slider">'
        f'<input type="number" id="size-{k}" value="{size.value}" step="1"{bound}></div>'
    )
