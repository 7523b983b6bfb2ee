"""Lists of tuples that loops fill, in the places of others: fronts of searches, generations."""

import numpy as np
import pytest

from tapeless import jit, strict
from tests.one_program import check_one_program


def a_front(x, y):
    front, total = [(0, abs(x))], 0.0
    for k in range(4):
        new = []
        for i, v in front:
            total += v * y
            if v > 0.31:
                new.append((2 * i, 0.9 * v))
            if v > 0.62:
                new.append((2 * i + 1, 0.5 * v))
        front = new
        front.append((k, 0.1 * x))
    return total + len(front) + front[-1][0]


def the_last_two(x, y):
    front, total = [(0, abs(x))], 0.0
    for k in range(4):
        new = []
        for i, v in front:
            new.append((i + 1, 0.9 * v))
            if v > 0.62:
                new.append((0, 0.5 * v))
        before = front
        front = new
        front.append((7, 0.1 * k * y))
        total += len(before) + len(new) + before[0][1]
    return total + sum(v for _, v in before)


def two_that_change_places(x, y):
    a, b = [(x, 0)], [(y, 1)]
    for n in range(5):
        if x * n < 3.1:
            a.append((x + n, n))
        a, b = b, a
    return sum(v for v, _ in a) + 10 * sum(v * k for v, k in b)


def made_by_a_function(x, y):
    def grown(items):
        out = []
        for v, k in items:
            if v > 0.43:
                out.append((v * 0.8, k + 1))
            out.append((v * 0.9, k))
        return out

    items = [(abs(x), 0)]
    for _ in range(3):
        items = grown(items)
    chosen = items if y > 1 else grown(items)
    return sum(v * k for v, k in chosen) + len(items)


def made_by_comprehensions(x, y):
    front, total = [(0, 0.6 + 0.01 * x * x)], 0.0
    while len(front) < 10 and total < 50:
        longer = [(i + 1, 1.1 * v) for i, v in front if v < 1.5]
        front = longer + [(0, v * 0.7) for i, v in front]
        total += sum(v for _, v in front)
    return total * y + front[-1][1]


def the_longest_run_as_a_copy(x, y):
    best, run = [], []
    for v in (x, y, x * y, 0.3 * x, x + y, x - y, y):
        if v > 0.61:
            run.append((v, 2 * v))
        else:
            if len(run) > len(best):
                best = run[:]
            run = []
    return sum(a * b for a, b in best) + len(run)


@pytest.mark.parametrize(
    "program",
    [
        a_front,
        the_last_two,
        two_that_change_places,
        made_by_a_function,
        made_by_comprehensions,
        the_longest_run_as_a_copy,
    ],
)
def test_one_program_for_all_values(program):
    check_one_program(program)


def of_numbers(x):
    best, run = [], []
    for v in x:
        if v > 0.6:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    return sum(best) + 10 * len(best) + len(run)


def of_tuples(x):
    best, run = [], []
    for v in x:
        if v > 0.6:
            run.append((v, 2 * v))
        else:
            if len(run) > len(best):
                best = run
            run = []
    return sum(a * b for a, b in best) + len(run)


def in_a_dictionary(x):
    kept, run = {"best": [0.0]}, [1.0]
    for v in x:
        if v > 0.6:
            run.append(v)
        else:
            if len(run) > len(kept["best"]):
                kept["best"] = run
            run = [v]
    return sum(kept["best"]) + 10 * len(run)


@pytest.mark.parametrize("program", [of_numbers, of_tuples, in_a_dictionary])
def test_a_list_that_another_name_keeps(program):
    """The name gets a new list under a test; the old one is in another variable, which run-time
    values decide."""
    with strict(False):
        for seed in range(3):
            x = np.random.default_rng(seed).uniform(0.4, 1.1, 12)
            assert jit(program)(x) == pytest.approx(program(x))
