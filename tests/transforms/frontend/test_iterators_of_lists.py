"""Lists that change, as data says or not, while an iterator over them is not used up."""

import numpy as np
import pytest

from tapeless import TapelessError, jit

# ruff: noqa: B905, PERF401 (as users write it)

X = np.array([1.5, 2.5, -3.2, 0.3])


def numbered(x):
    cur = [x[0], x[1]]
    it = enumerate(cur)
    if x[0] > 0:
        cur.append(3.0)
    return sum(v for _, v in it), len(cur)


def iterated(x):
    cur = [x[0], x[1]]
    it = iter(cur)
    for v in x:
        if v > 0:
            cur.append(v)
    return sum(it), len(cur)


def zipped(x):
    cur = [x[0], x[1]]
    it = zip(cur, x)
    if x[0] > 0:
        cur.append(3.0)
    return sum(a * b for a, b in it), len(cur)


def mapped(x):
    cur = [x[0], x[1]]
    it = map(abs, cur)
    cur[int(abs(x[3])) % 2] = 7.0
    return sum(it), cur[0]


def numbered_by_the_loop(x):
    cur = [x[0], x[1]]
    s = 0.0
    for i, v in enumerate(cur):
        s += v
        if x[3] > i and len(cur) < 5:
            cur.append(2.0)
    return s, len(cur)


def zipped_before_it_grows(x):
    cur = [x[0], x[1]]
    it = zip(cur, x)
    cur.append(3.0)
    return sum(a * b for a, b in it), len(cur)


def filled_by_data(x):
    cur = [v for v in x if v > 0]
    it = enumerate(cur)
    cur.append(3.0)
    return sum(i * a for i, a in it), len(cur)


@pytest.mark.parametrize(
    "function",
    [
        numbered,
        iterated,
        zipped,
        mapped,
        numbered_by_the_loop,
        zipped_before_it_grows,
        filled_by_data,
    ],
)
def test_never_wrong(function):
    for x in (X, -X):
        with pytest.raises(TapelessError, match="before an iterator over it is used up"):
            jit(function)(x)


def stored_meanwhile(x):
    cur, s = [v for v in x if v > 0], 0.0
    for i, v in enumerate(cur):
        s += i * v
        cur[0] = s
    return s, cur[0]


def generated(x):
    cur = [x[0], x[1]]
    doubled = (v * 2 for v in cur)
    cur[int(abs(x[3])) % 2] = 7.0
    return sum(doubled), cur[0]


@pytest.mark.parametrize("function", [stored_meanwhile, generated])
def test_stores_are_seen(function):
    for x in (X, -X, X[::-1].copy()):
        assert jit(function)(x) == function(x)


def grows_while_it_is_advanced(x):
    kept = [v * 2 for v in x if v > 0]
    items, total = iter(kept), 0.0
    for a in items:
        if len(kept) < 9:
            kept.append(a)
        total = total * 2 + a - next(items, 0.5)
    return total


def grows_after_its_first(x):
    kept = [v * 2 for v in x if v > 0]
    items = iter(kept)
    first = next(items, 1.0)
    kept.append(3.0)
    return first, list(items)


@pytest.mark.parametrize("f", [grows_while_it_is_advanced, grows_after_its_first])
def test_a_list_that_grows_while_its_iterator_is_used(f):
    with pytest.raises(TapelessError, match="a list changes before an iterator"):
        jit(f)(np.array([0.126, -0.132, 0.64, 0.105, -0.536]))
