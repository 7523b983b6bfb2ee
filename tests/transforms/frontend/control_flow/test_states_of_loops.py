"""Loops that texts and members of enumerations end, and objects that a pass may replace."""

import enum

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, strict, vmap


class Status(enum.Enum):
    RUNNING = 1
    STOPPED = 2


class Run:
    def __init__(self, y):
        self.y, self.status = y, "running"


def text(y, rate):
    t, status = 0.0, "running"
    while t < 2.0 and status == "running":
        y = y - 0.3 * rate * y
        if np.sum(y) < 0.4:
            status = "low"
        t += 0.1
    return np.sum(y) + (10.0 * t if status == "low" else t)


def member(y, rate):
    t, status = 0.0, Status.RUNNING
    while status is not Status.STOPPED:
        y = y - 0.3 * rate * y
        t += 0.1
        if t > 2.0 or np.sum(y) < 0.4:
            status = Status.STOPPED
    return np.sum(y) * t


def attribute(y, rate):
    run, t = Run(y), 0.0
    while run.status == "running" and t < 2.0:
        step = run.y - 0.3 * rate * run.y
        if np.sum(step) < 0.4:
            run.status = "low"
            run.y = 0.5 * (run.y + step)
        else:
            run.y = step
        t += 0.1
    return np.sum(run.y) + t


def one_of_three(y, rate):
    t, status = 0.0, "start"
    while status in ("start", "go"):
        status = "go" if t > 0.3 else status
        y = y - 0.3 * rate * y * (1 if status == "go" else 2)
        if t > 2.0:
            status = "late"
        elif np.sum(y) < 0.4:
            status = "low"
        t += 0.1
    return np.sum(y) + t


@pytest.mark.parametrize("program", [text, member, attribute, one_of_three])
def test_loops_that_end_by_a_constant(program):
    points = [(np.array([1.0, 0.3]), 2.0), (np.array([1.0, 0.3]), 0.1), (np.array([0.1, 0.1]), 0.7)]
    with strict(True):
        for point in points:
            assert jit(program)(*point) == pytest.approx(program(*point))
            check_grads(program, point, order=1)
        ys, rates = (np.array(a) for a in zip(*points, strict=True))
        assert np.allclose(vmap(program)(ys, rates), [program(*p) for p in points])
    assert "while " in grad(program, argnums=1).source(*points[0])


class Turn:
    def __init__(self, c, s):
        self.c, self.s = c, s

    def __mul__(self, other):
        if isinstance(other, Turn):
            return Turn(self.c * other.c - self.s * other.s, self.c * other.s + self.s * other.c)
        return Turn(self.c * other, self.s * other)


def turned(angle, factor):
    turn = Turn(1.0, 0.0)
    for k in range(60):
        turn = turn * Turn(np.cos(angle), np.sin(angle))
        if k % 20 == 0:
            turn = turn * factor
        elif turn.c < -0.9:
            turn = Turn(-turn.c, turn.s)
    return turn.c + 2 * turn.s


def test_objects_that_a_pass_replaces_under_a_test():
    """The loop stays one: the code is short."""
    with strict(True):
        for point in [(0.1, 1.1), (0.05, 0.7)]:
            assert jit(turned)(*point) == pytest.approx(turned(*point))
            check_grads(turned, point, order=1)
        assert len(grad(turned).source(0.1, 1.1).splitlines()) < 120
