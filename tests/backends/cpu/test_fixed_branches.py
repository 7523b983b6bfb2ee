"""Which kernels have branches that go the same way in all passes of an innermost loop."""

import ast

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.llvm.fixed_branches import has_fixed_branches

NEST = """
def f(x, y, mode, flags):
    for i in range(9):
        {outer}
        for j in range(9):
            {inner}
            if {test}:
                y[i, j] += x[i, j]
"""


@pytest.mark.parametrize(
    ("test", "fixed"),
    [
        ("mode == 1", True),
        ("flags[i]", True),
        ("t", True),  # of the outer loop
        ("i > 3", True),
        ("j > i", False),
        ("x[i, j] > 0", False),
        ("y[i, 0] > 0", False),  # stored to
        ("u", False),  # of j, by another variable
        ("v", True),  # of the outer loop, by another variable
        ("count > mode", False),
    ],
)
def test_tests_that_no_pass_changes(test, fixed):
    inner = "w = j * mode; u = w > 3; v = t; count = count + 1"
    text = NEST.format(outer="t = flags[i]; count = 0", inner=inner, test=test)
    assert has_fixed_branches(ast.parse(text).body[0]) is fixed


def test_branches_around_loops_do_not_count():
    text = "def f(x, m):\n for i in range(9):\n  if m:\n   for j in range(9): x[i, j] = 1"
    assert not has_fixed_branches(ast.parse(text).body[0])


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_results(mode):
    def f(x, flags, mode):
        y = np.zeros(x.shape)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if mode == 1:
                    y[i, j] = 2 * x[i, j]
                elif flags[i]:
                    y[i, j] = x[i, j] ** 2 if mode == 2 else -x[i, j]
        return y

    x, flags = np.arange(12.0).reshape(3, 4), np.array([True, False, True])
    np.testing.assert_array_equal(jit(f)(x, flags, mode), f(x, flags, mode))
