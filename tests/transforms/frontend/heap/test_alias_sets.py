"""After a loop that makes a pass, a variable stands for what a pass leaves in it, and for no array
from before the loop."""

import numpy as np
import pytest

from tapeless import grad
from tapeless.errors import AliasError
from tests.corpus.differences import gradient

V = np.array([0.6, -0.8, 1.1])


def stored_while_iterated(v):
    for e in v:
        for _ in range(len(v) - 1, 0, -1):
            v = np.tanh(v)
        v -= np.sin(e)
    return np.sum(v)


def numbered(v):
    for k, e in enumerate(v):
        for _ in range(len(v)):
            v = np.sin(v) + 0.1 * k
        v[0] = e
    return np.sum(v)


def zipped(v):
    w = v[::-1].copy()
    for a, b in zip(v, w, strict=True):
        for _ in range(len(v)):
            v, w = np.sin(w), v * 0.7
        v[k_of(w)] = a
        w *= b
    return np.sum(v * w)


def k_of(w):
    return 1 if w[0] > 0.1 else 2


def in_two_loops(v):
    for e in v:
        for _ in range(len(v)):
            for _ in range(2, len(v) + 2):
                v = np.sin(v) + 0.2
        v[1:] = e
    return np.sum(v)


def rows(v):
    m = np.outer(v, v)
    for row in m:
        for e in v:
            m = m * e
        m[0] = np.cos(row)
    return np.sum(m)


def until_a_break(v):
    kept = v
    for k in range(len(kept)):
        v = np.cos(v)
        if v[k] > 0.6:
            break
    v[1:] = kept[:-1]
    return np.sum(v * kept)


def exchanged(v):
    kept, w = v, 2.0 * v
    for _ in range(len(kept)):
        v, w = np.sin(w), np.cos(v)
    v[0] = w[1] = 0.5
    return np.sum(v * kept + w)


@pytest.mark.parametrize(
    "f",
    [stored_while_iterated, numbered, zipped, in_two_loops, rows, until_a_break, exchanged],
)
def test_a_store_after_the_loop_leaves_older_arrays_alone(f):
    slope = grad(lambda v: f(v.copy()))
    np.testing.assert_allclose(slope(V), gradient(lambda v: f(v.copy()), V), rtol=1e-6, atol=1e-8)


def kept_by_some(v):
    kept = v
    for k in range(len(kept)):
        v = v if kept[k] > 0.7 else kept
    v[0] = 2.0
    return np.sum(v * kept)


def kept_by_no_pass(v, n):
    for e in v:
        for _ in range(n):
            v = np.sin(v)
        v -= e
    return np.sum(v)


def test_what_a_pass_may_leave_is_what_it_was():
    slope = grad(lambda v: kept_by_some(v.copy()))
    np.testing.assert_allclose(slope(V), gradient(lambda v: kept_by_some(v.copy()), V), rtol=1e-6)


def test_a_loop_that_may_make_no_pass():
    with pytest.raises(AliasError, match="may share memory"):
        grad(lambda v, n: kept_by_no_pass(v.copy(), n))(V, 1)
