"""Lists of what generators give, of which run-time values decide how much that is."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient

X = np.array([0.1, 0.5, 0.0, 0.3, 0.1, 0.4])


def crossings(x):
    for k in range(1, len(x)):
        if x[k - 1] < 0.2 <= x[k]:
            yield k - 1 + (0.2 - x[k - 1]) / (x[k] - x[k - 1])


def listed(x):
    places = list(crossings(x))
    gaps = np.diff(np.array(list(crossings(x))))
    return sum(places) + len(places) + sorted(crossings(x), reverse=True)[0] + np.sum(gaps)


class Walker:
    def __init__(self, x):
        self.x, self.calls = x, 0

    def steps(self):
        value, k = self.x[0], 0
        while value < 3.0:
            self.calls += 1
            yield k, value
            value = value * 1.3 + self.x[1]
            k += 1


def pairs(x):
    walker = Walker(x)
    steps = list(walker.steps())
    k, value = steps[-1]
    return len(steps) * value + sum(v * n for n, v in steps) + k + 10 * walker.calls


def taken(x):
    first = list(itertools.takewhile(lambda v: v < 0.45, x))
    return (
        sum(v**2 for v in first)
        + len(first)
        + sum(list(itertools.dropwhile(lambda v: v < 0.45, x))[:1])
    )


def known(x):
    """Items of several kinds, of which it is known how many there are."""

    def parts(n):
        for k in range(n):
            yield {"name": "x" * k, "part": x[: k + 1]}

    one, two, three = list(parts(3))
    return len(three["name"]) * np.sum(two["part"]) + one["part"][0] ** 2


PROGRAMS = [listed, pairs, taken, known]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    others = [X, X[::-1] + 0.11, np.array([0.15, 0.9, 0.1, 0.7, 0.05, 0.6])]
    with tapeless.strict(True):
        compiled = jit(program)
        assert [compiled(x) for x in others] == pytest.approx([program(x) for x in others])
        for x in others:
            expected = gradient(program, x)
            np.testing.assert_allclose(grad(program)(x), expected, rtol=1e-5, atol=1e-6)
        values = [program(x) for x in others]
        np.testing.assert_allclose(vmap(program)(np.stack(others)), values, rtol=1e-10)


def test_what_a_generator_prints_is_printed_once(capsys):
    def shown(x):
        print("first")  # noqa: T201
        for v in x:
            if v > 0.2:
                yield v

    def total(x):
        return sum(list(shown(x)))

    compiled = jit(total)
    compiled(X)
    capsys.readouterr()
    assert compiled(X) == pytest.approx(total(X))
    assert capsys.readouterr().out == "first\nfirst\n"
