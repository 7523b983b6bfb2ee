"""Lists and dicts that may be another one, which changed: whoever looks into them sees the change,
or is refused. They were read as they had been, in silence."""

import numpy as np
import pytest

from tapeless import jit, tree
from tapeless.transforms.errors import AliasError, ArgumentError

X = np.array([0.126, -0.132, 0.64, 0.105, -0.536])


def chosen(x):
    a, b = [1.0, 2.0], [3.0, 4.0]
    row = a if x[0] > 0 else b
    a[0] = x[1]
    return row


def picked(x):
    rows = [[1.0, 2.0], [x[0]], [], [3.0] * 3, [4.0]]
    row = rows[int(np.argmax(x))]
    rows[4].append(x[1])
    return row


def other_side(x):
    a, b = [1.0, 2.0], [3.0, 4.0]
    row = a if x[0] > 0 else b
    row[0] = x[1]
    return a


def stored(row):
    z = np.zeros(2)
    z[:] = row
    return z


LOOKS = {
    "sum": lambda x, row: np.sum(row),
    "array": lambda x, row: np.array(row),
    "dot": lambda x, row: np.dot(row, row),
    "plus": lambda x, row: x[: len(row)] + row,
    "stored": lambda x, row: stored(row),
    "returned": lambda x, row: row,
    "in a dict": lambda x, row: {"a": row},
    "equal": lambda x, row: row == [4.0],
    "in a call": lambda x, row: np.concatenate([x, row]),
}


#: What NumPy would have to make of one of several lists of other lengths, or Python refuses.
REFUSED = {
    *((name, made) for name in ("stored", "in a call") for made in ("chosen", "picked")),
    *((name, "picked") for name in ("array", "plus")),
}


@pytest.mark.parametrize("made", [chosen, picked, other_side])
@pytest.mark.parametrize("name", LOOKS)
def test_looking_shows_the_change_or_is_refused(name, made):
    def f(x):
        return LOOKS[name](x, made(x))

    if (name, made.__name__) in REFUSED:
        with pytest.raises(AliasError, match="may be another, by data"):
            jit(f)(X)
        return
    value, right = jit(f)(X), f(X)
    assert tree.structure(value) == tree.structure(right)
    assert all(map(np.array_equal, tree.leaves(value), tree.leaves(right)))


def test_an_index_is_looked_into():
    def f(x):
        a, b = [1, 2], [3, 4]
        row = a if x[0] > 0 else b
        a[0] = 4
        return x[row]

    with pytest.raises(AliasError, match="may be another, by data"):
        jit(f)(X)


def iterated_later(x):
    rows = [[1.0, 2.0], [x[0]], [], [3.0] * 3, [4.0]]
    items = iter(rows[int(np.argmax(x))])
    rows[4].append(x[1])
    return list(items)


def run_over(x):
    rows, n = [[1.0, 2.0], [x[0]], [], [3.0] * 3, [4.0]], 0
    for v in rows[int(np.argmax(x))]:
        if n < 5:
            rows[4].append(v)
        n += 1
    return n


def a_dict(x):
    dicts = [{1: 2.0}, {}, {3: 1.0}]
    one = dicts[int(np.argmax(x)) % 3]
    dicts[0][1] = x[0]
    return one.get(1, 0.0)


@pytest.mark.parametrize("f", [iterated_later, run_over, a_dict])
def test_changes_behind_are_seen_or_refused(f):
    try:
        value = jit(f)(X)
    except AliasError:
        return
    assert np.array_equal(value, f(X))


ROWS = [[float(k), 1.0] for k in range(10)]
ROW = list(ROWS[3])
NUMBERS = [1.0, 2.0]


def stored_by_one_name(x):
    ROW[0] = 77.0
    return ROWS[3][0] + x[0]


def test_two_names_that_become_one_object(monkeypatch):
    f = jit(stored_by_one_name)
    assert f(X) == 3.0 + X[0]
    monkeypatch.setitem(globals(), "ROW", ROWS[3])
    assert f(X) == 77.0 + X[0]


def appended_by_name(x, given):
    NUMBERS.append(5.0)
    return len(given) + x[0]


@pytest.mark.parametrize("more", [0, 10])
def test_an_argument_that_is_changed_by_its_outer_name_is_refused(more, monkeypatch):
    outer = [1.0, 2.0] * (1 + more)
    monkeypatch.setitem(globals(), "NUMBERS", outer)
    f = jit(appended_by_name)
    n = len(outer)
    assert f(X, [1.0, 2.0] * (1 + more)) == n + X[0]
    with pytest.raises(ArgumentError, match="by a name from outside"):
        f(X, outer)
