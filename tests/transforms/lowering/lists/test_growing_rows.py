"""Lists of arrays that loops fill are arrays with a row for each item."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

C, U = np.linspace(0.3, 0.5, 6), np.exp(-(np.linspace(-0.5, 0.5, 6) ** 2))


def snapshots(c, u0, steps):
    us = [u0, u0]
    for _ in range(steps):
        u = us[-1]
        us.append(2 * u - us[-2] + c * (np.roll(u, 1) + np.roll(u, -1) - 2 * u))
    return us[-1]


def trajectory(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        us.append(us[-1] + c * np.sin(us[-1]))
    return np.array(us)


def stacked(c, u0, steps):
    us, u = [u0], u0
    for _ in range(steps):
        u = u * c + 1
        us.append(u)
    return np.stack(us) ** 2


def two_terms(c, u0, steps):
    us = [u0, u0 * c]
    for t in range(2, steps + 2):
        us.append(2 * us[t - 1] - us[t - 2] * c)
    total = 0.0
    for t in range(steps):
        total += us[t + 1] @ us[0]
    return total


def loops_in_loops(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        for k in range(3):
            us.append(us[-1] * c + k)
        us.append(us[-2] - us[-1])
    return us[-1] + us[0]


def items_in_turn(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        us.append(np.sin(us[-1]) * c)
    total = np.zeros(6)
    for k, u in enumerate(us):
        total = total + u**2 * k
    return total


def by_length(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        us.append(us[len(us) - 1] * c)
    return us[-1] * len(us)


def taken_back(c, u0, steps):
    us, total = [u0], np.zeros(6)
    for _ in range(steps):
        us.append(us[-1] * c)
    for _ in range(steps):
        total = total * c + us.pop()
    return total + us[-1]


def changed_in_place(c, u0, steps):
    us = [u0 * 1.0, c * 1.0]
    for k in range(steps):
        us.append(us[-1] * c)
        us[0] = us[0] + us[-2]
        us[-1][1:] += us[0][:-1] * k
    return us[0] * us[1]


def matrices(c, u0, steps):
    ms = [np.outer(u0, c)]
    for _ in range(steps):
        ms.append(ms[-1] @ ms[0] / 7)
    return ms[-1]


def of_two_kinds(c, u0, steps):
    xs, ks = [u0], [np.arange(6)]
    for _ in range(steps):
        ks.append(ks[-1] * 3 % 7)
        xs.append(xs[-1] * c + ks[-1])
    return xs[-1] * ks[-1]


COMPILED = [
    *(snapshots, trajectory, stacked, two_terms, loops_in_loops, items_in_turn, by_length),
    *(taken_back, changed_in_place, matrices, of_two_kinds),
]


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("function", COMPILED)
def test_values(function, steps):
    compiled = jit(function)
    np.testing.assert_allclose(compiled(C, U, steps), function(C, U, steps), rtol=1e-13)
    assert compiled.explain(C, U, steps).loops == ()
    assert "append" not in compiled.source()


@pytest.mark.parametrize("function", COMPILED)
def test_derivatives(function):
    def loss(c, u0, steps):
        return np.sum(function(c, u0, steps) ** 2)

    for steps in (0, 3):
        check_grads(lambda c, u, n=steps: jit(loss)(c, u, n), (C, U), order=1, modes=["rev"])
        got = jit(grad(loss, (0, 1)))(C, U, steps)
        for ours, theirs in zip(got, grad(loss, (0, 1))(C, U, steps), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def test_one_compilation_serves_all_numbers_of_passes():
    compiled = jit(snapshots)
    for steps in (3, 0, 40):
        np.testing.assert_allclose(compiled(C, U, steps), snapshots(C, U, steps))
    assert len(compiled.compilations) == 1


def may_not_be_there(c, u0, steps):
    us = []
    for _ in range(steps):
        u0 = u0 * c
        us.append(u0)
    return us[-1]


def too_far_back(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        us.append(us[-2] * c)
    return us[-1]


def beyond_the_end(c, u0, steps):
    us = [u0]
    for t in range(steps):
        us.append(us[t + 1] * c)
    return us[-1]


def emptied(c, u0, steps):
    us = [u0, c]
    for _ in range(steps):
        us.pop()
    return us[-1]


@pytest.mark.parametrize(
    ("function", "steps"),
    [(may_not_be_there, 0), (too_far_back, 2), (beyond_the_end, 2), (emptied, 2), (emptied, 3)],
)
def test_items_that_are_not_there_are_errors(function, steps):
    for f in (function, jit(function)):
        with pytest.raises(IndexError):
            f(C, U, steps)


def left_early(c, u0, steps):
    us = [u0]
    for t in range(steps):
        us.append(us[-1] * c)
        if us[-1][0] < 0.01 * t:
            break
    return us[-1] * len(us)


def under_a_test(c, u0, steps):
    us = [u0]
    for t in range(steps):
        if us[-1][0] > 0.1 * t:
            us.append(us[-1] * c)
    return us[-1] * len(us)


def returned(c, u0, steps):
    us = [u0]
    for _ in range(steps):
        us.append(us[-1] * c)
    return us


@pytest.mark.parametrize("steps", [0, 1, 2, 9])
@pytest.mark.parametrize("function", [left_early, under_a_test, returned, emptied])
def test_what_run_time_values_decide_stays_a_list(function, steps):
    if function is emptied and steps > 1:
        steps = 1
    np.testing.assert_allclose(jit(function)(C, U, steps), function(C, U, steps))


def test_windows_in_another_loop_stay_compiled():
    def smoothed(c, u0, steps):
        us = [u0]
        for _ in range(steps):
            us.append(us[-1] * c + 1)
        y, smooth = us[-1], np.zeros_like(u0)
        for i in range(2, len(u0) - 2):
            window = y[i - 2 : i + 3]
            smooth[i] = np.median(window) + np.sort(window)[1]
        return np.sum(smooth**2)

    slope = jit(grad(smoothed, 1))
    np.testing.assert_allclose(slope(C, U, 3), grad(smoothed, 1)(C, U, 3))
    assert slope.explain(C, U, 3).loops == ()
