"""Flame graphs: boxes are as wide as what they stand for, and lie in those that called them."""

import re

import numpy as np
import pytest

from tapeless import custom_jvp, grad
from tapeless.profiler.line_profile import Line, LineProfile
from tapeless.view.flame import boxes, flame_graph

PLACE, OTHER = ("a.py", 5), ("a.py", 6)
LINES = (
    Line(10, "    y = f(x)", 1, 0.6, PLACE, "y = f(x < 1)"),
    Line(11, "    z = y + 1", 1, 0.1, OTHER, "z = y + 1"),
    Line(12, "    return z", 1, 0.3, None, ""),
    Line(20, "    u = x * x", 2, 0.5, OTHER, "z = y + 1"),
)
STACKS = {(10,): 0.6, (10, 20): 0.5, (11,): 0.1, (12,): 0.3}
PROFILE = LineProfile("grad of f", "", 1, 0.9, LINES, STACKS)


def of_user(line):
    return f"source-L{line.place[1]}"


def of_array(line):
    return f"array-L{line.number}"


def test_boxes_lie_in_what_called_them():
    root = boxes(PROFILE, of_user, of_array)
    assert (root.text, root.seconds) == ("grad of f", pytest.approx(1.0))
    first, second, rest = root.inner
    assert (first.text, first.anchor, first.seconds) == ("5: y = f(x < 1)", "source-L5", 0.6)
    assert (second.text, rest.text) == ("6: z = y + 1", "of no line of yours")
    (emitted,) = first.inner
    assert (emitted.text, emitted.anchor) == ("y = f(x)", "array-L10")
    ((called,),) = (box.inner for box in emitted.inner)
    assert (called.text, called.seconds) == ("u = x * x", 0.5)


def test_inner_boxes_fit_into_outer_ones():
    def check(box):
        assert sum(part.seconds for part in box.inner) <= box.seconds * (1 + 1e-9)
        for part in box.inner:
            check(part)

    @grad
    def walk(x):
        for _ in range(20):
            x = np.sin(x) + stretched(x)
        return np.sum(x)

    check(boxes(walk.profile(np.ones(1000)), of_user, of_array))


@custom_jvp
def stretched(x):
    return 0.5 * x


@stretched.defjvp
def _(primals, tangents):
    return stretched(*primals), 0.5 * tangents[0]


def test_the_page_needs_no_script_and_escapes_text():
    text = flame_graph(PROFILE, of_user, of_array)
    assert "<script" not in text
    assert "f(x &lt; 1)" in text
    assert re.findall(r'href="(#[^"]+)"', text) == [
        "#source-L5",
        "#array-L10",
        "#source-L6",
        "#array-L20",
        "#source-L6",
        "#array-L11",
        "#array-L12",
    ]
    assert 'style="width: 60.000%"' in text


def test_what_cannot_be_seen_is_left_out():
    lines = (*LINES, Line(13, "    v = 1", 1, 1e-6, PLACE, "v"))
    profile = LineProfile("f", "", 1, 1.0, lines, {**STACKS, (13,): 1e-6})
    assert "v = 1" not in flame_graph(profile, of_user, of_array)


def test_nothing_was_measured():
    assert "Where the time of array form goes" in flame_graph(
        LineProfile("f", "", 1, 0.0, (), {}), of_user, of_array
    )
