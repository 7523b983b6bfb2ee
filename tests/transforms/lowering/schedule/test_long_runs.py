"""Runs of very many loops become several kernels."""

import re

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
DIGITS = (*map(int, "31415926535897"),)


def centred_often(x):
    """A loop for each mean, which the next line needs."""
    y = x * 2
    for k in DIGITS:
        x = x - y.mean() / (9 + k)
        y = 0.5 * np.sin(y * x[-1] - np.abs(x) + x.max())
    return x.sum() + y.sum()


def walks(x):
    """Loops that data ends, one after another, with counts and numbers carried along."""
    s, total, hits = x[0], 0.0, 0
    for k in DIGITS * 2:
        for v in x:
            if v > s:
                break
            hits += 1
            s = s * 0.9 + v / k
        total += s * hits
    return total


def rows_in_place(x):
    """A table whose rows are stored to by turns, and read by later kernels."""
    table = np.zeros((4, x.size))
    for k in DIGITS:
        table[k % 4] += x * table[k % 4 - 1].max() + k
        table[k % 4 - 1, ::2] -= np.sin(table[k % 4, -1])
    return (table[1] * table[2]).sum() + table[0, 1]


@pytest.mark.parametrize("f", [centred_often, walks, rows_in_place])
def test_values_and_derivatives(f):
    x, w = RNG.random((2, 7)).round(2) * 0.1
    compiled = jit(f)
    assert abs(compiled(x) - f(x)) <= 1e-12 * abs(f(x))
    assert len(re.findall(r"^def \w*kernel", compiled.source(x), re.M)) > 1
    slope = (f(x + 1e-6 * w) - f(x - 1e-6 * w)) / 2e-6
    assert abs(jit(grad(f))(x) @ w - slope) <= 1e-5 * abs(slope)


def test_a_single_loop_stays_whole():
    def f(x, steps):
        for _ in range(steps):
            x = centred_often(x) * x
        return x

    text = jit(f).source(RNG.random(5), 2)
    assert len(re.findall(r"^def \w*kernel", text, re.M)) == 1
