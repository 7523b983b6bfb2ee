"""Lists that one side of a test makes longer, shorter or another one, and under whose name."""

# ruff: noqa: RUF005 (sums of lists are what is tested)

import warnings

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, jit, strict, vmap


def by_an_addition(x):
    path = [x[0]]
    for v in x:
        if v > path[-1]:
            path = path + [v]
    return np.sum(np.array(path) ** 2) + len(path)


def by_a_display(x):
    path = []
    for v in x:
        if v > 0.5:
            path = [*path, v, 2 * v] if v > 0.7 else [v, *path]
    return sum(v * (k + 1) for k, v in enumerate(path))


def without_a_loop(x):
    path = [x[0]]
    if x[1] > 0.5:
        path = path + [x[1]]
    if x[2] > 0.5:
        path = path + [x[2], x[3]]
    return np.sum(np.array(path) ** 2) + path[-1]


def the_longest_run(x):
    best, run = [], []
    for v in x:
        run = run + [v] if v > 0.3 else []
        if len(run) > len(best):
            best = run
    return sum(v * v for v in best) + len(best)


def a_run_that_is_appended_to(x):
    best, run = [], []
    for v in x:
        if v > 0.3:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    return sum(v * v for v in best) + len(best) + 3 * sum(run)


def exchanged(x):
    a, b = [x[0]], [x[1]]
    for v in x:
        if v > 0.5:
            a, b = b, a + [v]
        else:
            b = b + [v * 2]
    return sum(a) * 2 + sum(v * v for v in b)


def kept_by_another_name(x):
    path = [0.0]
    other = path
    for v in x:
        if v > 0.5:
            path = path + [v]
        else:
            other = path
    return sum(v * v for v in path) + 3 * sum(other)


class Walker:
    def __init__(self):
        self.path, self.best = [], []

    def see(self, v):
        self.path = self.path + [v] if v > 0.5 else []
        if len(self.path) > len(self.best):
            self.best = self.path


def by_a_method(x):
    walker = Walker()
    for v in x:
        walker.see(v)
    return sum(v * v for v in walker.best) + len(walker.path)


def in_a_dictionary(x):
    kept = {"high": [], "low": [1.0]}
    for v in x:
        if v > 0.5:
            kept["high"] = kept["high"] + [v]
        else:
            kept["low"] = [v] + kept["low"][:2]
    return sum(kept["high"]) + 2 * sum(v * v for v in kept["low"])


def in_a_tuple(x):
    best, now, cost = (0.0, []), [], 0.0
    for v in x:
        now, cost = now + [v], cost + v
        if cost > 1.0:
            if cost > best[0]:
                best = (cost, now)
            now, cost = [], 0.0
    return best[0] + sum(v * v for v in best[1])


def given_by_a_function(x):
    def grown(path, v):
        if v > 0.5:
            return path + [v]
        return path

    path = [0.1]
    for v in x:
        path = grown(path, v)
    return sum(v * v for v in path)


def none_at_first(x):
    best, run = None, []
    for v in x:
        run = run + [v] if v > 0.3 else []
        if best is None or len(run) > len(best):
            best = run
    return sum(v * v for v in best)


def of_pairs(x):
    path = [(0.0, 1)]
    for k, v in enumerate(x):
        if v > path[-1][0]:
            path = path + [(v, k)]
    return sum(v * k for v, k in path)


def of_integers_in_a_while_loop(x):
    path, i = [0], 0
    while i < len(x) - 1:
        i = i + (2 if x[i] > 0.5 else 1)
        if x[min(i, len(x) - 1)] > 0.2:
            path = path + [i]
    return sum(x[k % len(x)] for k in path)


PROGRAMS = (
    by_an_addition,
    by_a_display,
    without_a_loop,
    the_longest_run,
    a_run_that_is_appended_to,
    exchanged,
    kept_by_another_name,
    by_a_method,
    in_a_dictionary,
    in_a_tuple,
    given_by_a_function,
    none_at_first,
    of_pairs,
    of_integers_in_a_while_loop,
)
INPUTS = [np.random.default_rng(seed).random(n) for seed, n in ((0, 12), (1, 12), (2, 7), (3, 30))]


def slopes(function, x, step=1e-6):
    units = step * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in units])


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_program_for_all_values(program):
    with strict(True):
        compiled, slope = jit(program), jit(grad(program))
        for x in INPUTS:
            assert compiled(x) == pytest.approx(program(x))
            np.testing.assert_allclose(slope(x), slopes(program, x), rtol=1e-5, atol=1e-7)
        rows = np.stack(INPUTS[:2])
        np.testing.assert_allclose(vmap(program)(rows), [program(row) for row in rows])


@pytest.mark.parametrize(
    "program", [by_an_addition, the_longest_run, a_run_that_is_appended_to, by_a_method, in_a_tuple]
)
def test_loops_are_compiled(program):
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        assert jit(program)(INPUTS[0]) == pytest.approx(program(INPUTS[0]))


def changed_by_both_names(x):
    """Where the test fails, both names have one list."""
    path = [x[0]]
    other = path
    if x[1] > 0.5:
        path = path + [x[1]]
    path.append(x[2])
    return sum(v * v for v in path) + 3 * sum(other)


def changed_by_the_first_name(x):
    path = [x[0]]
    other = path
    for v in x:
        if v > 0.5:
            path = path + [v]
        other.append(0.5 * v)
    return sum(v * v for v in path) + 3 * sum(other)


def changed_behind_the_exchange(x):
    best, run = [0.0], [x[0]]
    for v in x:
        if v > 0.5:
            best = run
        run.append(v)
        if v < 0.3:
            run = [v]
    return sum(v * v for v in best) + 3 * sum(run)


def changed_where_a_function_gives_it_back(x):
    """Behind a test, a list that only one side makes has no length on the other."""

    def extended(items, u):
        if u > 0.5:
            return items
        return items + [u]

    first = [x[0]]
    other = first
    for u in x:
        other = extended(first, u)
        other.append(0.5)
    return sum(first) + 10 * sum(other)


def three_that_change_places(x):
    a, b, c = [x[0]], [x[1]], [x[2]]
    for u in x:
        if u > 0.6:
            a, b, c = b, c, a
        elif u > 0.3:
            a = b
        a.append(u)
        if len(c) > 2:
            c = c[1:]
    return sum(a) + 10 * sum(b) + 100 * sum(c)


@pytest.mark.parametrize(
    "program",
    [
        changed_by_both_names,
        changed_by_the_first_name,
        changed_behind_the_exchange,
        changed_where_a_function_gives_it_back,
        three_that_change_places,
    ],
)
def test_changes_are_seen_by_all_names(program):
    """These may be traced, as run-time values say which list a name has."""
    with strict(False):
        for x in INPUTS:
            assert jit(program)(x) == pytest.approx(program(x))
            np.testing.assert_allclose(grad(program)(x), slopes(program, x), rtol=1e-5, atol=1e-7)
