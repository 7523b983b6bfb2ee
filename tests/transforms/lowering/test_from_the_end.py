"""Indices that count from the end, through views: a view has an end of its own."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transformations.compilation.compiled_function import Jit
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


def waves(p, c, n):
    """Fourth order in space, with a boundary that is set afterwards."""
    before = p.copy()
    for _ in range(n):
        lap = np.zeros_like(p)
        lap[2:-2, 2:-2] = (
            4 * (p[3:-1, 2:-2] + p[1:-3, 2:-2] + p[2:-2, 3:-1] + p[2:-2, 1:-3])
            - (p[4:, 2:-2] + p[:-4, 2:-2] + p[2:-2, 4:] + p[2:-2, :-4]) / 4
            - 15 * p[2:-2, 2:-2]
        )
        before, p = p, 2 * p - before + c * 0.01 * lap
        p[0, :] = p[1, :]
        p[:, -1] = 0.0
    return p


@pytest.mark.parametrize("size", [(9, 8), (4, 6), (6, 4), (5, 5)])
def test_parts_that_end_as_far_from_the_end_as_others_begin(size):
    p, c = np.random.default_rng(0).normal(size=(2, *size))
    np.testing.assert_allclose(jit(waves)(p.copy(), c, 3), waves(p.copy(), c, 3), rtol=1e-13)
    driver = jit(waves).source(p, c, 3).split("def waves(")[1]
    assert "for " not in driver
    slopes = jit(grad(lambda p: np.sum(waves(p, c, 3) ** 2)))(p.copy())
    wanted = grad(lambda p: np.sum(waves(p, c, 3) ** 2))(p.copy())
    np.testing.assert_allclose(slopes, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("n", [2, 3])
def test_arrays_that_are_shorter_than_a_part_begins(n):
    def f(x):
        y = np.zeros_like(x)
        y[: n // 2] += x[3:].sum() + x[:-3].sum() + x[1:-3].sum() + 1
        return y

    np.testing.assert_array_equal(jit(f)(X[:n].copy()), f(X[:n].copy()))
    np.testing.assert_array_equal(jit(f)(X.copy()), f(X.copy()))
