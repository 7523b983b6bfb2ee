"""Shows a transformed function in a notebook: a line that opens to the user's and emitted code."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from tapeless.disk_cache.load import Recalled
from tapeless.explain.lines import LineReport
from tapeless.staging.emitted_names import place
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.core.language import statements
from tapeless.transforms.emit.module import called_functions
from tapeless.transforms.emit.writer import result_origins
from tapeless.transforms.errors import ArgumentError, SourceError
from tapeless.transforms.frontend.trace.readers import AttributeOf
from tapeless.view.cell_names import file_title
from tapeless.view.listings import listings, style_sheet
from tapeless.view.panes import (
    Pane,
    Place,
    by_place,
    emitted_pane,
    function_lines,
    sources,
    with_returned,
)

if TYPE_CHECKING:
    from tapeless.dispatch.specialisation import Specialisation
    from tapeless.dispatch.transformation import Transformed

MOST = 400  # lines of a listing
BEFORE = "After a call, or after .source(...) with arguments, the emitted code stands here, too."
AFTER = (
    "The code is that of the last call. Point at a line to light the lines that belong to it; "
    ".explain(...) tells what each of yours costs."
)


def notebook_view(function: Transformed) -> str:
    """The HTML of a function, which stands for itself: it neither runs scripts nor loads anything.

    It is closed at first, and shows the user's source, and the code that was emitted last. Nothing
    is staged for it. Anchors differ from those of all other outputs.
    """
    function.renew()
    specialisation = _of_last_call(function)
    panes = _panes(function, specialisation)
    prefix = f"tapeless-{secrets.token_hex(4)}"
    panes = [replace(_shorten(pane), name=f"{prefix}-{pane.name}") for pane in panes]
    at = place(function)
    where = f", {file_title(at[0])}, line {at[1]}" if at else ""
    return (
        f'<div class="tapeless-view">\n<style>\n{_style(panes)}</style>\n'
        f"<details>\n<summary>{escape(function.describe() + where)}</summary>\n"
        f"<p>{escape(AFTER if specialisation else BEFORE)}</p>\n"
        f'<div class="panes">\n{_columns(panes)}\n</div>\n</details>\n</div>'
    )


def _of_last_call(function: Transformed) -> Specialisation | None:
    """What was emitted for the last call; None where there was none since the code of the user's
    functions changed."""
    try:
        specialisation = function.pick((), {})
    except ArgumentError:
        return None
    return specialisation if all(g.holds() for g in _code_guards(specialisation)) else None


def _columns(panes: Sequence[Pane]) -> str:
    """The user's source, and beside it the emitted code."""
    columns = {"users": "", "emitted": ""}
    for pane, html in zip(panes, listings(panes, heading="div"), strict=True):
        columns["users" if pane.is_users else "emitted"] += html
    return "\n".join(f'<div class="column">{html}</div>' for html in columns.values() if html)


def _panes(function: Transformed, specialisation: Specialisation | None) -> list[Pane]:
    """The listings of the user's functions and of the emitted code."""
    refusals: list[str] = []
    called_functions = (g.get.obj for g in _code_guards(specialisation)) if specialisation else ()
    functions = [function, *called_functions]
    reports = by_place(line for each in functions for line in _lines_or_refusal(each, refusals))
    panes = sources(reports)
    if refusals:
        remark = "\n".join(refusals)
        panes.append(Pane("missing", "Source that is not shown", "python", (), remark, True))
    if specialisation:
        places = {place: k for k, place in enumerate(reports)}
        panes.append(_emitted_pane(function, specialisation, places))
    return panes


def _emitted_pane(
    function: Transformed, specialisation: Specialisation, places: dict[Place, int]
) -> Pane:
    """The emitted code; lines of several cells with the same number are told apart by what was
    staged, unless that was another process."""
    text = function.source()
    if isinstance(specialisation, Recalled):
        return emitted_pane("emitted", "Emitted code", text, places)
    block = specialisation.simplified
    blocks = [block, *called_functions([block], function.emitted_name).values()]
    origins = (s.origin for each in blocks for s in statements(each))
    staged = {(origin.file, origin.line) for origin in origins if origin is not None}
    linked = {place: k for place, k in places.items() if place in staged}
    pane = emitted_pane("emitted", "Emitted code", text, linked)
    compiled = isinstance(function, Jit)  # the results of a driver are those of kernels
    returned = () if compiled else result_origins(block)
    return with_returned(pane, [(x.file, x.line) for x in returned], linked)


def _lines_or_refusal(function: Any, refusals: list[str]) -> list[LineReport]:
    """The lines of a function; where they are not to be had, the reason joins the refusals."""
    try:
        return function_lines(function)
    except SourceError as e:
        refusals.append(str(e))
        return []


def _code_guards(specialisation: Specialisation) -> Iterator[Any]:
    """What the emitted code relies on: the code of the user's functions that are called."""
    for guard in specialisation.guards:
        if isinstance(guard.get, AttributeOf) and guard.get.name == "__code__":
            home = str(guard.get.obj.__module__).partition(".")[0]
            if home not in ("numpy", "scipy", "tapeless"):
                yield guard


def _shorten(pane: Pane) -> Pane:
    """The pane with as many lines as a notebook shows."""
    hidden = len(pane.lines) - MOST
    if hidden <= 0:
        return pane
    remark = f"{pane.remark}\n{hidden} more lines are not shown.".strip()
    return replace(pane, lines=pane.lines[:MOST], remark=remark)


def _style(panes: Iterable[Pane]) -> str:
    """The style sheet, which is the same for the same number of lines: outputs share its rules."""
    own = resources.files("tapeless.view").joinpath("notebook.css").read_text(encoding="utf-8")
    users = {k for pane in panes if pane.is_users for line in pane.lines for k in line.places}
    lit = ",\n".join(
        f'.tapeless-view:has([data-places~="{k}"]:is(:hover, :focus-within)) [data-places~="{k}"]'
        for k in sorted(users)
    )
    rule = f"{lit} {{ background: var(--lit); border-left-color: var(--lit-edge); }}\n"
    return f"{style_sheet()}{own}{rule if lit else ''}"
