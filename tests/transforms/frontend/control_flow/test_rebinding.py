"""Names that get a new list under a test."""

import functools

import numpy as np
import pytest

from tapeless import TapelessError, jit

X = np.array([0.5, 2.2, 1.1, 2.9, 0.1, 1.7, 0.3])


def sums_of_runs(x):
    out, run = [], []
    for v in x:
        run.append(v)
        if v > 1:
            out.append(sum(run))
            run = []
    return out, run


def outside_of_loops(x):
    run = [x[0]]
    if x[1] > 1:
        run = []
    run.append(x[2])
    return sum(run), len(run)


def kept_under_another_name(x):
    run, old = [], []
    for v in x:
        run.append(v)
        if v > 1:
            old = run
            run = []
    return len(old), len(run)


def run_over(x):
    run, n = [x[0], x[1], x[2]], 0
    for v in run:
        n += 1
        if v > 1:
            run = []
    return n, len(run)


def in_a_tuple(x):
    run = []
    held = (run, 1)
    for v in x:
        run.append(v)
        if v > 1:
            run = []
    return len(held[0]), len(run)


def appended_in_a_tuple(x):
    groups, run = [], []
    for k, v in enumerate(x):
        run.append(v)
        if v > 1:
            groups.append((k, run))
            run = []
    return [(k, sum(g)) for k, g in groups]


def kept_in_a_dict(x):
    held, run = {"last": []}, []
    for v in x:
        run.append(v)
        if v > 1:
            held["last"] = run
            run = []
    return len(held["last"]), len(run)


def read_by_a_closure(x):
    run = [x[0]]

    def total():
        return sum(run)

    if x[1] > 1:
        run = []
    run.append(2.0)
    return total(), sum(run)


def generated_later(x):
    run = [x[0], x[1]]
    doubled = (2 * v for v in run)
    if x[1] > 1:
        run = []
    return sum(doubled), len(run)


def numbered_later(x):
    run = [x[0], x[1]]
    numbered = enumerate(run)
    if x[1] > 1:
        run = []
    return sum(v for _, v in numbered), len(run)


def turned_later(x):
    run = [x[0], x[1]]
    turned = reversed(run)
    if x[1] > 1:
        run = []
    return list(turned), len(run)


def appended_by_a_method(x):
    run = [x[0], x[1]]
    push = run.append
    if x[1] > 1:
        run = []
    push(5.0)
    return len(run)


def summed_by_a_partial(x):
    run = [x[0], x[1]]
    total = functools.partial(sum, run)
    if x[1] > 1:
        run = []
    return total(), len(run)


def summed_by_default(x):
    run = [x[0], x[1]]
    total = lambda items=run: sum(items)  # noqa: E731 (a default that is not rewritten)
    if x[1] > 1:
        run = []
    return total(), len(run)


class Holder:
    def __init__(self):
        self.run = []


def in_an_object(x, holder):
    run = holder.run
    for v in x:
        run.append(v)
        if v > 1:
            run = []
    return len(run)


@pytest.mark.parametrize(
    "function",
    [
        sums_of_runs,
        outside_of_loops,
        kept_under_another_name,
        run_over,
        in_a_tuple,
        appended_in_a_tuple,
        kept_in_a_dict,
        read_by_a_closure,
        generated_later,
        numbered_later,
        turned_later,
        appended_by_a_method,
        summed_by_a_partial,
        summed_by_default,
    ],
)
def test_right_or_refused(function):
    for x in (X, X[::-1].copy(), X * 0.1):
        wanted = function(x)
        try:
            made = jit(function)(x)
        except TapelessError:
            assert function not in (sums_of_runs, outside_of_loops)
        else:
            assert made == wanted


def test_a_list_that_an_argument_holds():
    mine, other = Holder(), Holder()
    wanted = in_an_object(X, mine)
    try:
        made = jit(in_an_object)(X, other)
    except TapelessError:
        return
    assert made == wanted
    assert other.run == mine.run
