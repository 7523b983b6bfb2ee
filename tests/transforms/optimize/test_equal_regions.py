"""A loop or branch that computes what an earlier one has computed is run once."""

# ruff: noqa: PERF401, T201 (as users write it)

import itertools

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

X = np.array([1.5, 0.5, 2.0])


def root(a):
    x = a
    for _ in range(6):
        x = 0.5 * (x + a / x)
    return x


def of_a_function(x):
    return root(x[0]) * x[1] + np.sin(root(x[0]))


def written_twice(x):
    first = 0.0
    for i in range(len(x)):
        first += x[i] * x[i]
    second = 0.0
    for j in range(len(x)):
        second += x[j] * x[j]
    return first * second


def of_branches(x):
    low = np.sin(x[0]) if x[1] > 1 else x[2] ** 2
    high = np.sin(x[0]) if x[1] > 1 else x[2] ** 2
    return low * high


def inside_of_a_loop(x):
    total = 0.0
    for v in x:
        total += root(v) + root(v) ** 2
    return total


def until_small(x):
    def halvings(v):
        while v * v > 0.1:
            v = v * 0.5
        return v

    return halvings(x[0]) + 3.0 * halvings(x[0]) * x[1]


SHARED = [of_a_function, written_twice, of_branches, inside_of_a_loop, until_small]


def from_other_values(x):
    return root(x[0]) * root(x[1])


def of_other_lengths(x):
    first, second = np.zeros(len(x)), np.zeros(len(x) - 1)
    for i in range(2):
        first[i] = x[i] ** 2
    for i in range(2):
        second[i] = x[i] ** 2
    return np.sum(first) + np.sum(second) * first[2]


def stored_to_behind(x):
    first, second = np.zeros(3), np.zeros(3)
    for i in range(3):
        first[i] = x[i] ** 2
    for i in range(3):
        second[i] = x[i] ** 2
    first[0] = x[1]
    return np.sum(first * second)


def lists_apart(x):
    first, second = [], []
    for v in x:
        if v > 1:
            first.append(v)
    for v in x:
        if v > 1:
            second.append(v)
    first[0] = x[1]
    return sum(first) + 2.0 * sum(second)


APART = [from_other_values, of_other_lengths, stored_to_behind, lists_apart]


@pytest.mark.parametrize("program", SHARED + APART)
def test_values_and_derivatives(program):
    assert tapeless.jit(program)(X) == pytest.approx(program(X), rel=1e-12)
    wanted = gradient(program, X)
    for slope in (tapeless.grad(program), tapeless.jit(tapeless.grad(program))):
        np.testing.assert_allclose(slope(X), wanted, rtol=1e-6)
    _, tangent = tapeless.jvp(program, (X,), (np.ones(3),))
    assert tangent == pytest.approx(wanted.sum(), rel=1e-6)
    np.testing.assert_allclose(
        tapeless.vmap(program)(np.stack([X, X + 1])), [program(X), program(X + 1)]
    )


ONCE = {
    of_a_function: " + a / x",
    written_twice: "for i in range(",
    of_branches: "np.sin(",
    inside_of_a_loop: " + v / x",
    until_small: "    while ",
}


@pytest.mark.parametrize("program", SHARED)
def test_it_is_run_once(program):
    assert tapeless.grad(program).source(X).count(ONCE[program]) == 1


def test_what_prints_or_draws_is_run_twice(capsys):
    def shown(x):
        for v in x:
            print(v)
        for v in x:
            print(v)
        return x[0]

    tapeless.jit(shown)(X)
    assert capsys.readouterr().out.split() == [str(v) for v in X] * 2

    def drawn(x):
        rng = np.random.default_rng(3)
        first = second = 0.0
        for _ in range(4):
            first += rng.normal() * x[0]
        for _ in range(4):
            second += rng.normal() * x[0]
        return first, second

    np.testing.assert_allclose(tapeless.jit(drawn)(X), drawn(X))


def broken_off(x, limit):
    total = 0.0
    for e in (x[0], x[1]):
        part = 0.0
        for k in range(len(x)):
            if x[k] >= limit:
                break
            part = part + x[k]
        total = total + part * e
    return total


def broken_off_and_counted(x, limit):
    total = 0.0
    for e in (x[0], x[1]):
        part, passes = 1.0, 0
        for v in x:
            if v >= limit:
                break
            part, passes = part * (1.0 + v), passes + 1
        total = total + part * e * passes
    return total


def taken(x, limit):
    total = 0.0
    for e in (x[0], x[1]):
        total = total + sum(itertools.takewhile(lambda v: v < limit, x)) * e
    return total


@pytest.mark.parametrize("program", [broken_off, broken_off_and_counted, taken])
def test_loops_that_are_broken_off_share_their_count(program):
    """Backwards each of the loops made as many passes as the one that is run."""
    x = np.array([0.31, -0.42, 0.93])
    slopes = [(program(x + h, 0.5) - program(x - h, 0.5)) / 2e-6 for h in 1e-6 * np.eye(3)]
    for form in (lambda f: f, tapeless.jit):
        np.testing.assert_allclose(form(tapeless.grad(program))(x, 0.5), slopes, atol=1e-8)
