"""Indices that count from the end, through views: a view has an end of its own."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.compiled import Jit
from tests.test_corpus_compiled import by_python

X = np.arange(12.0)


def summed(x, k):
    part, total = x[1:5], 0.0
    for i in range(3):
        total += part[k - i]
    return total


def stored(x, k):
    part = x[1:5]
    part[k] = 100.0
    return x


CASES = {
    "front": lambda x, k: x[:4][k],
    "middle": lambda x, k: x[2:6][k],
    "every second": lambda x, k: x[::2][k],
    "reversed": lambda x, k: x[::-1][k],
    "in another shape": lambda x, k: x.reshape(3, 4).T[1:][k],
    "repeated": lambda x, k: np.broadcast_to(x[:3], (2, 3))[1][k],
    "counted up": lambda x, k: np.arange(10)[k] + x[0],
    "stored": stored,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("at", [-1, np.array([0, -1])], ids=["number", "array"])
def test_through_views(monkeypatch, case, at):
    monkeypatch.setattr(Jit, "load", by_python)
    got = jit(CASES[case])(X.copy(), at)
    np.testing.assert_array_equal(got, CASES[case](X.copy(), at))


def test_in_a_loop():
    assert jit(summed)(X, -1) == summed(X, -1) == 9
