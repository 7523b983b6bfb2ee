"""Times beside lines: what emitted lines took, and what belongs to lines of the user's."""

import pytest

from tapeless.profiler.line_profile import Line, LineProfile
from tapeless.view.line_times import with_times, with_times_of
from tapeless.view.panes import Pane, ViewLine

EMITTED = Pane(
    "loop",
    "Loop form",
    "python",
    (
        ViewLine(1, "def f(x):", ()),
        ViewLine(2, "    y = np.sin(x)  # line 11", (0,)),
        ViewLine(3, "    f_kernel(y)", (0, 1)),
        ViewLine(4, "    g_kernel(y)", (1, 2, 3)),
        ViewLine(5, "    return y", ()),
    ),
)
USERS = Pane(
    "source",
    "Your source",
    "python",
    tuple(ViewLine(11 + k, text, (k,)) for k, text in enumerate("abcd")),
    is_users=True,
)
LINES = (
    Line(1, "def f(x):", 0, 0.0, None, ""),
    Line(2, "    y = np.sin(x)", 1, 1e-6, None, ""),
    Line(3, "    f_kernel(y)", 1000, 3e-6, None, ""),
    Line(4, "    g_kernel(y)", 1, 4e-6, None, ""),
    Line(5, "    return z", 1, 2e-6, None, ""),
)
PROFILE = LineProfile("f", "", 5, 9e-6, LINES)


def test_emitted_lines_have_what_was_measured():
    times = [line.times for line in with_times(EMITTED, PROFILE).lines]
    assert times[0] == ()
    assert (times[1][0].seconds, times[1][0].share, times[1][0].text) == (1e-6, 0.1, "")
    assert times[2][0].text == "in 1,000 runs"
    assert times[4] == ()  # the text is another one: it was not this line that was timed


def test_lines_have_other_numbers_in_modules_that_stand_alone():
    before = (ViewLine(1, "DATA = np.ones(3)", ()), ViewLine(2, "", ()))
    moved = tuple(ViewLine(x.number + 2, x.text, x.places) for x in EMITTED.lines)
    alone = Pane("loop", "Loop form", "python", (*before, *moved))
    times = {x.number: x.times[0].seconds for x in with_times(alone, PROFILE).lines if x.times}
    assert times == {4: 1e-6, 5: 3e-6, 6: 4e-6}


def test_users_lines_have_what_belongs_to_them():
    emitted = with_times(EMITTED, PROFILE)
    pane = with_times_of(USERS, emitted, [11, 12, 13, 14])
    told = [[(t.seconds, t.text) for t in line.times] for line in pane.lines]
    assert told[0] == [(1e-6, ""), (3e-6, "together with line 12")]
    assert told[1] == [(pytest.approx(7e-6), "together with lines 11, 13, 14")]
    assert told[2] == [(4e-6, "together with lines 12, 14")]
