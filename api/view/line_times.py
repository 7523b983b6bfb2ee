"""Puts measured times beside the lines of listings: those of emitted lines, and of the user's.

y = sin(x)  # line 6      that took 2 us      gives line 6 of the user's      2 us
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from tapeless.profiler.line_profile import LineProfile
from tapeless.transforms.python_text.line_breaking import NOTE
from tapeless.view.panes import LineTime, Pane, ViewLine


def lines_of(pane: Pane, profile: LineProfile) -> dict[int, int]:
    """For the lines of a profile, by number, the numbers that they have in a listing: one that
    stands alone begins otherwise than the module that ran: it holds what is read from outside.
    """
    shown = [_plain(line.text) for line in pane.lines]
    measured = [_plain(line.source) for line in profile.lines]
    matcher = SequenceMatcher(None, shown, measured, autojunk=False)
    return {
        profile.lines[block.b + k].number: pane.lines[block.a + k].number
        for block in matcher.get_matching_blocks()
        for k in range(block.size)
    }


def _plain(text: str) -> str:
    """A line without its comment about the user's."""
    return NOTE.sub("", text).strip()


def with_times(pane: Pane, profile: LineProfile) -> Pane:
    """The listing of an emitted module with what its lines took."""
    total = sum(line.seconds for line in profile.lines) or 1.0
    numbers = lines_of(pane, profile)
    measured = {numbers[x.number]: x for x in profile.lines if x.hits and x.number in numbers}

    def with_time(line: ViewLine) -> ViewLine:
        if line.number not in measured:
            return line
        seconds, hits = measured[line.number].seconds, measured[line.number].hits
        text = f"in {hits:,} runs" if hits > 1 else ""
        return replace(line, times=(LineTime(seconds, seconds / total, text),))

    return replace(pane, lines=tuple(map(with_time, pane.lines)))


def with_times_of(pane: Pane, emitted: Pane, numbers: Sequence[int]) -> Pane:
    """A listing of the user's with the times of the emitted lines that belong to each line: of
    those that belong to it alone, and of those that belong to others as well.

    numbers  of the user's lines, by their places
    """
    return replace(pane, lines=tuple(_of_user(line, emitted, numbers) for line in pane.lines))


def _of_user(line: ViewLine, emitted: Pane, numbers: Sequence[int]) -> ViewLine:
    (place,) = line.places
    timed_lines = [x for x in emitted.lines if x.times and place in x.places]
    alone = [x for x in timed_lines if len(x.places) == 1]
    shared = [x for x in timed_lines if len(x.places) > 1]
    times = [_sum(alone, "")] if alone else []
    if shared:
        others = sorted({numbers[k] for x in shared for k in x.places} - {line.number})
        word = "line" if len(others) == 1 else "lines"
        times.append(_sum(shared, f"together with {word} {ranges(others)}"))
    return replace(line, times=tuple(times))


def ranges(numbers: Sequence[int]) -> str:
    """
    >>> ranges([3, 5, 6, 9, 10, 11])
    '3, 5, 6, 9 to 11'
    """
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(
        f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def _sum(lines: Sequence[ViewLine], text: str) -> LineTime:
    times = [x.times[0] for x in lines]
    return LineTime(sum(t.seconds for t in times), sum(t.share for t in times), text)
