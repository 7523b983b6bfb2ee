"""Draws where the time of a call goes as boxes in boxes: a flame graph, its root on top.

A box is as wide as its share of the time. Under the whole call lie the user's lines, under each the
emitted lines that do what it says, and under a line that calls an emitted function those of this.
It is a list of links in lists, so that it needs no script, and keyboards and screen readers reach
all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from tapeless.profiler.line_profile import Line, LineProfile, readable
from tapeless.view.panes import Place

LEAST = 0.002  # of the whole time: smaller boxes cannot be seen

Stack = tuple[int, ...]
Anchor = Callable[[Line], str]


@dataclass(frozen=True)
class Box:
    """A part of the time.

    text     what took it
    seconds  how much
    anchor   the line of a listing that it is, or ""
    kind     "call", "users" or "emitted"
    inner    its parts
    """

    text: str
    seconds: float
    anchor: str
    kind: str
    inner: tuple[Box, ...] = ()


def boxes(profile: LineProfile, users: Anchor, emitted: Anchor) -> Box:
    """The boxes of a profile.

    users, emitted  what the line of the user, or the emitted line, is called in the listings
    """
    lines = {line.number: line for line in profile.lines}

    def inner(stack: Stack) -> tuple[Box, ...]:
        groups: dict[Place | None, list[Box]] = {}
        origins: dict[Place | None, Line] = {}
        for called, seconds in sorted(profile.stacks.items()):
            if called[:-1] == stack and called[-1] in lines:
                line = lines[called[-1]]
                box = Box(line.source.strip(), seconds, emitted(line), "emitted", inner(called))
                groups.setdefault(line.place, []).append(box)
                origins.setdefault(line.place, line)
        return tuple(_of_user(origins[place], group, users) for place, group in groups.items())

    parts = inner(())
    return Box(profile.name, sum(box.seconds for box in parts), "", "call", parts)


def _of_user(line: Line, group: list[Box], anchor: Anchor) -> Box:
    """The box of a line of the user's, or of emitted lines that are of none."""
    text = f"{line.place[1]}: {line.user}" if line.place else "of no line of yours"
    place = anchor(line) if line.place else ""
    return Box(text, sum(box.seconds for box in group), place, "users", tuple(group))


def flame_graph(profile: LineProfile, users: Anchor, emitted: Anchor) -> str:
    """A flame graph of a profile as HTML, for the style sheet of the listings."""
    root = boxes(profile, users, emitted)
    note = f" {profile.note}" if profile.note else ""
    return (
        '<section class="pane flame" id="flame" aria-labelledby="flame-title">\n'
        '<h2 class="title" id="flame-title">Where the time of array form goes</h2>\n'
        f'<p class="remark">A call takes {escape(readable(profile.seconds))}; while its lines are '
        f"watched, as here, {escape(readable(root.seconds))}.{escape(note)}</p>\n"
        f'<ul class="boxes">\n{"".join(_item(root, root.seconds, root.seconds))}</ul>\n</section>'
    )


def _item(box: Box, around: float, total: float) -> Iterator[str]:
    share = box.seconds / total if total else 1.0
    if share < LEAST:
        return
    width = 100 * box.seconds / around if around else 100.0
    time = f"{readable(box.seconds)}, {share:.1%}"
    label = f'<span class="box-text">{escape(box.text)}</span> <span class="time">{time}</span>'
    yield f'<li class="{box.kind}" style="width: {width:.3f}%">'
    if box.anchor:
        yield f'<a href="#{box.anchor}" title="{escape(box.text)}: {time}">{label}</a>'
    else:
        yield f'<span class="plain" title="{escape(box.text)}: {time}">{label}</span>'
    inner = [part for each in box.inner for part in _item(each, box.seconds, total)]
    yield f"<ul>{''.join(inner)}</ul></li>\n" if inner else "</li>\n"
