"""Measures time by line of an emitted module, beside the user's lines that they come from."""

from __future__ import annotations

import inspect
import io
import linecache
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.profiler.line_clock import Clock
from tapeless.transforms.core.language import statements
from tapeless.transforms.python_text.line_breaking import NOTE
from tapeless.transforms.python_text.line_origins import noted_lines

if TYPE_CHECKING:
    from tapeless.dispatch.specialisation import Specialisation

SECONDS = 0.2  # how long lines are timed
MOST = 1000  # calls


@dataclass(frozen=True)
class Line:
    """A line of an emitted module.

    number   where it is in the module
    source   its text
    hits     how often it was run in the fastest call
    seconds  how long that took, with what it calls
    place    the user's line that it comes from: (file, number), or None
    user     the text of that
    """

    number: int
    source: str
    hits: int
    seconds: float
    place: tuple[str, int] | None
    user: str


@dataclass(frozen=True)
class LineProfile:
    """The lines of the function that ran, and of those that it calls; prints itself as a table.

    name     what was timed
    note     what is to be known of it
    calls    how many calls were timed
    seconds  how long the fastest takes while nothing is watched
    lines    what the fastest took while lines were watched
    stacks   what it took by the lines of the module that called one another, the outermost first;
             of a line with what it calls
    """

    name: str
    note: str
    calls: int
    seconds: float
    lines: tuple[Line, ...]
    stacks: dict[tuple[int, ...], float] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        from rich.console import Console  # noqa: PLC0415 (takes time to import)

        text = io.StringIO()
        widths = [len(x.source) + len(x.user) for x in self.lines]
        width = min(max(widths, default=0) + 60, 200)
        Console(file=text, width=width, color_system=None).print(self)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.table import Table  # noqa: PLC0415 (takes time to import)
        from rich.text import Text  # noqa: PLC0415

        title = f"{self.name}: {readable(self.seconds)} a call"
        table = Table(title=title, caption=self.note or None, box=None, title_justify="left")
        for name in ("line", "hits", "time", "share"):
            table.add_column(name, justify="right")
        table.add_column("emitted", no_wrap=True)
        table.add_column("from", no_wrap=True)
        total = sum(x.seconds for x in self.lines) or 1.0
        before = None
        for x in self.lines:
            shown = (str(x.hits), readable(x.seconds), f"{x.seconds / total:.0%}")
            new = x.place is not None and x.place != before
            origin = f"{x.place[1]}: {x.user}" if x.place and new else ""
            before = x.place or before
            row = (str(x.number), *(shown if x.hits else ("", "", "")))
            table.add_row(*row, Text(x.source), Text(origin))
        return table


def readable(seconds: float) -> str:
    """
    >>> readable(0.0012), readable(3.0), readable(4.5e-8)
    ('1.2 ms', '3 s', '45 ns')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


# -- timing


def line_profile(
    name: str,
    specialisation: Specialisation,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    note: str = "",
) -> LineProfile:
    """Times the emitted function for some calls."""
    own = bool(specialisation.staged.overwritten) or bool(
        getattr(specialisation.staged, "writes", ())
    )

    def call() -> float:
        passed = tree.map(_copy_array, (args, kwargs)) if own else (args, kwargs)
        start = time.perf_counter()
        specialisation(*passed)
        return time.perf_counter() - start

    call()
    seconds, calls, remaining = float("inf"), 0, SECONDS / 2
    while remaining > 0 and calls < MOST:
        spent = call()
        seconds, calls, remaining = min(seconds, spent), calls + 1, remaining - spent
    file = inspect.unwrap(specialisation.run).__code__.co_filename
    clock = min((_run_watched(call, file) for _ in range(calls)), key=lambda c: c.total)
    lines = tuple(_lines(specialisation, file, clock))
    return LineProfile(name, note, calls, seconds, lines, dict(clock.stacks))


def _run_watched(call: Callable[[], Any], file: str) -> Clock:
    clock = Clock(file)
    clock.watch(call)
    return clock


def _copy_array(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


# -- the table


def _lines(specialisation: Specialisation, file: str, clock: Clock) -> list[Line]:
    text = specialisation.text.splitlines()
    shown = _functions(text, clock)
    files = {
        s.origin.line: s.origin.file for s in statements(specialisation.simplified) if s.origin
    }
    lines = []
    for number, noted in enumerate(noted_lines(specialisation.text), 1):
        if number not in shown:
            continue
        source, origin = noted.text, noted.current
        plain = NOTE.sub("", source).rstrip()
        hits = clock.hits[number]
        unknown = source.strip().startswith("return") and not noted.noted
        place = (files[origin], origin) if hits and origin in files and not unknown else None
        user = "" if place is None else linecache.getline(*place).strip()
        lines.append(Line(number, plain, hits, clock.seconds[number], place, user))
    return lines


def _functions(text: list[str], clock: Clock) -> set[int]:
    """The lines of functions that were run."""
    shown: set[int] = set()
    starts = [k for k, line in enumerate(text, 1) if line.startswith("def ")]
    for start in starts:
        rest = enumerate(text[start:], start + 1)
        stop = next(
            (k for k, line in rest if line and not line.startswith((" ", ")"))), len(text) + 1
        )
        own = set(range(start, stop))
        if own & {k for k, n in clock.hits.items() if n}:
            shown |= {k for k in own if text[k - 1].strip()}
    return shown
