"""Lists that variables exchange: each has memory of its own, so that loops of them are compiled."""

# ruff: noqa: RUF005, PERF401 (lists that grow are what is tested)

import warnings

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, jit
from tapeless.transforms.core.language import Let, statements
from tapeless.transforms.lowering.lists.list_assignments import list_assignments
from tapeless.transforms.ops.primitives.stacks import clear, refill


def longest_run(x):
    best, run = [], []
    for v in x:
        if v > 0.3:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    return sum(v * v for v in best) + 10 * len(best) + sum(run)


def the_list_before(x):
    before, now = [], [1.0]
    for v in x:
        before = now
        now = now + [v] if len(now) < 4 else [v]
    return sum(v * v for v in before) + 10 * sum(now)


def rows_of_a_triangle(x):
    total = 0.0
    row = []
    for v in x:
        new = [1.0]
        for k in range(len(row)):
            new.append(row[k] * v + 0.5)
        row = new
        total += sum(row)
    return total


def doubled_where_large(x):
    items = [0.3]
    for v in x:
        if v > 0.4:
            items = items + items
        if len(items) > 9:
            items = [v]
        items[-1] = items[0] + v
    return sum(v * v for v in items)


def edit_distance(x):
    """Two rows, as lists, which change places."""
    before, now = [0.0] * (len(x) + 1), [0.0] * (len(x) + 1)
    for i in range(len(x)):
        now[0] = 0.5 * i
        for j in range(len(x)):
            cost = before[j] + abs(x[i] - x[len(x) - 1 - j])
            now[j + 1] = min(cost, before[j + 1] + 0.3, now[j] + 0.3)
        before, now = now, before
    return before[-1]


def fibonacci_words(x):
    a, b = [x[0]], [x[1]]
    for v in x[:5]:
        a, b = b, a + b
        b[0] = v
    return sum(u * (k + 1) for k, u in enumerate(b))


def sums_behind_a_loop(x):
    """Cotangents of lists are added up where numbers of other names are needed still."""
    first = [x[0]]
    joined, rest = [x[1]], first
    for _ in x:
        joined = rest + joined
        rest = first[1:]
    return sum(first) + 2 * sum(u * u for u in joined) + 0.5 * len(rest)


PROGRAMS = (
    longest_run,
    the_list_before,
    rows_of_a_triangle,
    doubled_where_large,
    edit_distance,
    fibonacci_words,
    sums_behind_a_loop,
)
INPUTS = [np.random.default_rng(n).random(n) for n in (2, 7, 40)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program):
    compiled, slope = jit(program), jit(grad(program))
    for x in INPUTS:
        assert compiled(x) == pytest.approx(program(x))
        units = 1e-6 * np.eye(len(x))
        right = [(program(x + e) - program(x - e)) / 2e-6 for e in units]
        np.testing.assert_allclose(slope(x), right, rtol=1e-5, atol=1e-6)


def length_of_the_longest_run(x):
    best, run = [], []
    for v in x:
        if v > 0.3:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    return sum(v * v for v in best) + len(best)


@pytest.mark.parametrize("program", [length_of_the_longest_run, edit_distance])
def test_no_loop_is_left_to_python(program):
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        assert jit(program)(INPUTS[1]) == pytest.approx(program(INPUTS[1]))


def operations(block):
    return [s.op for s in statements(block) if isinstance(s, Let)]


def test_lists_are_copied_only_where_they_are_exchanged(monkeypatch):
    """Lists that are only appended to stay as they are."""
    before, after = [], []

    def noted(block):
        before.append(block)
        after.append(list_assignments(block))
        return after[-1]

    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    monkeypatch.setattr("tapeless.transforms.pipelines.loop_form.list_assignments", noted)

    def appended(x):
        items = [x[0]]
        for v in x:
            if v > items[-1]:
                items = items + [v]
        return sum(v * v for v in items)

    jit(appended)(INPUTS[1])
    assert operations(after[-1]) == operations(before[-1])
    jit(lambda x: 2 * longest_run(x))(INPUTS[1])
    assert {clear, refill} <= {*operations(after[-1])}
    assert not {clear, refill} & {*operations(before[-1])}
