"""Statements of a kernel keep their text and their comments; other sides stay `elif`."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.transforms.lowering.kernels.annotated import AnnotatedKernel

LINES = [
    "    if x > 0.0:  # line 3",
    "        y = x",
    "    elif x < -1.0:  # line 5",
    "        y = -x",
    "    else:",
    "        for i in range(3):",
    "            y = 2 * x",
    "    return y",
]


def test_lines_are_written_as_they_were():
    kernel = AnnotatedKernel("def f(x):", LINES)
    assert [*kernel.lines(kernel.function.body)] == LINES


def sums_on_three_sides(x, k):
    if k > 1:
        total = np.sum(x * x)
    elif k > 0:
        total = np.sum(x)
    else:
        total = 0.5 * np.sum(np.sin(x))
    return total + k


@pytest.mark.parametrize("k", [0, 1, 2])
def test_sums_on_other_sides_are_right(k):
    x = np.linspace(0.0, 1.0, 3000)
    text = jit(sums_on_three_sides).source(x, k)
    assert "elif k > 0:" in text
    np.testing.assert_allclose(jit(sums_on_three_sides)(x, k), sums_on_three_sides(x, k))
