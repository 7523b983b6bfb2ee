"""Random towers of transformations over random programs give what dual numbers give."""

import math

import mpmath
import pytest

from tests import dual_numbers
from tests.shrinking import shrunk
from tests.towers import fails, outcome, point, tower

pytestmark = pytest.mark.every_case

GROUP = 10


@pytest.mark.parametrize("first", range(0, 150, GROUP))
def test_towers(first, tmp_path):
    for seed in range(first, first + GROUP):
        text, name = tower(seed)
        result = outcome(text, name, point(seed), tmp_path)
        assert not fails(result), f"seed {seed}: {result}\n{text}"


def test_towers_are_compared(tmp_path):
    """Most of the random towers are neither skipped nor refused."""
    results = [outcome(*tower(seed), point(seed), tmp_path) for seed in range(20)]
    assert results.count("right") > 15


def test_a_wrong_derivative_is_noticed(tmp_path):
    text = "g1 = custom_jvp(lambda x, v, m: x)\ng1.defjvp(lambda p, t: (p[0], 2.0 * t[0]))\n"
    assert outcome(text + "g2 = grad(g1)\n", "g2", point(0), tmp_path) == "wrong: value"


def test_dual_numbers():
    def f(x):
        total = 1.0
        for k in range(1, 4):
            total = total * dual_numbers.sin(x * k) / (1.5 + dual_numbers.tanh(x)) - x**k
        return dual_numbers.exp(-total) + dual_numbers.sqrt(2.0 + dual_numbers.cos(x))

    def g(x):
        total = 1.0
        for k in range(1, 4):
            total = total * mpmath.sin(x * k) / (mpmath.mpf(1.5) + mpmath.tanh(x)) - x**k
        return mpmath.exp(-total) + mpmath.sqrt(2 + mpmath.cos(x))

    derivative = f
    for order in range(1, 5):
        derivative = dual_numbers.grad(derivative)
        with mpmath.workdps(40):
            expected = float(mpmath.diff(g, mpmath.mpf(0.7), order))
        assert math.isclose(derivative(0.7), expected, rel_tol=1e-12)


def test_shrinking():
    text = "def f(x):\n    y = x\n    if x > 0:\n        y = bad(x)\n    return y + x\n\ng0 = f\n"
    small = "def f(x):\n    y = bad(x)\n\ng0 = lambda x, v, m: f(x, v.copy(), m.copy(), 3)\n"
    assert shrunk(text, lambda t: "bad" in t) == small


def test_shrinking_ends_in_time():
    text = "def f(x):\n    y = x\n    return y + x\n\ng0 = f\n"
    assert shrunk(text, lambda t: True, seconds=0) == text
