"""Comparisons of lengths that may be unknown, and who asks for them."""

import ast
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms import ops
from tapeless.transforms.core.dims import symbol
from tapeless.transforms.core.ternary import Ternary, compare
from tapeless.transforms.errors import UnsupportedError

N, M = symbol("n", lower=2), symbol("m", lower=0)


def test_what_is_known_has_a_truth_value():
    assert compare("ge", N, 2)
    assert not compare("lt", N, 2)
    assert compare("eq", N + 1, N + 1)
    assert not compare("eq", N + 1, N)


@pytest.mark.parametrize("kind", ["ge", "gt", "le", "lt", "eq", "ne"])
def test_what_is_unknown_has_none(kind):
    answer = compare(kind, N, M)
    assert answer is Ternary.UNKNOWN
    assert answer.possible
    assert not answer.certain
    with pytest.raises(UnsupportedError, match="known only when the program runs"):
        bool(answer)


def positions_asked_for():
    """The modules of operations that ask for a position in an axis: `clamp` gives None both where
    a bound lies outside and where that is unknown, so it compares no lengths."""
    for file in sorted(Path(ops.__file__).parent.rglob("*.py")):
        calls = [n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Call)]
        if any(isinstance(c.func, ast.Attribute) and c.func.attr == "clamp" for c in calls):
            yield file.stem


def test_rules_of_operations_compare_lengths_in_three_values():
    # where slices begin and end
    assert set(positions_asked_for()) == {"insert_and_delete", "index_keys"}


def smoothed(x, w):
    return np.sum(np.convolve(x, w, "same") ** 2)


@pytest.mark.parametrize("change", [lambda f: f, jit], ids=["plain", "jit"])
def test_which_argument_is_longer_is_asked_at_each_call(change):
    slope = change(grad(smoothed))
    for n, m in ((5, 3), (3, 5), (4, 4), (6, 2), (2, 6)):
        x, w = np.cos(np.arange(n)), np.sin(1.0 + np.arange(m))
        step = 1e-6 * np.eye(n)
        expected = [(smoothed(x + e, w) - smoothed(x - e, w)) / 2e-6 for e in step]
        np.testing.assert_allclose(slope(x, w), expected, rtol=1e-6, atol=1e-8)
