"""Lists, tuples, dicts and arrays that the program does not make, at an index that data decides:
they are read as they are, and nobody changes them in silence."""

import copy

import numpy as np
import pytest

import tapeless
from tapeless import jit
from tapeless.transforms.errors import UnsupportedError

X = np.array([0.126, 0.332, 0.64, 0.105, 0.536])
LISTS = [[1, 2], [0, 3], [0], [1, 4], [3]]
TUPLES = tuple(map(tuple, LISTS))
DICTS = [{"a": float(k), "b": 2.0} for k in range(5)]
ARRAYS = [np.array([1.0, 2.0]), np.array([3.0]), np.array([]), np.array([4.0, 5.0]), np.ones(1)]


def most(x):
    return int(np.argmax(x))


def last_put_in(x):
    rows = []
    for i in range(3):
        rows.append(LISTS[int(x[i] * 5)])  # noqa: PERF401
    rows[0].append(7)
    return len(rows[0])


def after_a_loop(x):
    row = LISTS[most(x)]
    for i in range(3):
        row = LISTS[most(x) - i]
    row.append(5)
    return len(row)


def on_two_sides(x):
    row = LISTS[most(x)] if x[0] > 0 else LISTS[int(np.argmin(x))]
    row.append(5)
    return len(row)


def best_of_dicts(x):
    best = None
    for v in x:
        one = DICTS[int(v * 5)]
        if best is None or one["a"] > best["a"]:
            best = one
    best["b"] = 9.0
    return best["a"]


CHANGES = {
    "append": lambda x: LISTS[most(x)].append(3),
    "pop": lambda x: LISTS[most(x)].pop(),
    "in a tuple": lambda x: (LISTS[most(x)], 1)[0].append(3),
    "setdefault": lambda x: DICTS[most(x)].setdefault("z", 3.0),
    "array": lambda x: ARRAYS[most(x) + 1].__setitem__(0, 5.0),
    **{f.__name__: f for f in (last_put_in, after_a_loop, on_two_sides, best_of_dicts)},
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_refused(name):
    before = copy.deepcopy((LISTS, DICTS, ARRAYS))
    with pytest.raises(tapeless.TapelessError):
        jit(CHANGES[name])(X)
    for a, b in zip(before, (LISTS, DICTS, ARRAYS), strict=True):
        assert str(a) == str(b)


READS = {
    "number": lambda x: LISTS[most(x)][-1] + len(LISTS[int(np.argmin(x))]),
    "from the end": lambda x: LISTS[-most(x)][0],
    "methods": lambda x: max(r := LISTS[most(x)]) + sorted(r)[0] + sum(r) + r.index(0) + r.count(0),
    "in": lambda x: 0 in LISTS[most(x)] and 4 not in LISTS[most(x)],
    "equal": lambda x: (LISTS[most(x)] == [0], LISTS[most(x)] == [0, 1], LISTS[most(x)] != [1]),
    "slice": lambda x: sum(x[v] for v in LISTS[most(x) - 1][:1]),
    "index of an array": lambda x: np.sum(x[LISTS[most(x) - 1]]),
    "zip": lambda x: sum(
        x[a] * x[b] for a, b in zip(LISTS[most(x)], LISTS[most(x) - 1], strict=False)
    ),
    "class": lambda x: (isinstance(TUPLES[most(x)], tuple), isinstance(LISTS[most(x)], list)),
    "copies": lambda x: len(list(LISTS[most(x)])) + len(LISTS[most(x)].copy()),
    "sum": lambda x: len(LISTS[most(x)] + [5]),
    "dict": lambda x: DICTS[most(x)]["a"] * DICTS[most(x)]["b"] + len(DICTS[most(x)]),
    "values": lambda x: sum(v for v in DICTS[most(x)].values()),
    "dict of one": lambda x: dict(DICTS[most(x)], a=5.0)["a"],
    "array": lambda x: np.sum(ARRAYS[most(x) + 1] * 2) + len(ARRAYS[most(x)]),
    "result": lambda x: (LISTS[most(x)], DICTS[most(x)]),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name):
    assert str(jit(READS[name])(X)) == str(READS[name](X))


def test_places_beyond_the_end_raise():
    with pytest.raises(IndexError):
        jit(lambda x: len(LISTS[most(x) + 3]))(X)
    with pytest.raises(IndexError):
        jit(lambda x: LISTS[most(x)][1])(X)


def test_what_they_hold_now_is_read():
    rows = [[1.0], [2.0, 3.0]]
    f = jit(lambda x: sum(rows[int(x > 1)]))
    assert (f(0.0), f(2.0)) == (1.0, 5.0)
    rows[0].append(4.0)
    rows[1][0] = 7.0
    assert (f(0.0), f(2.0)) == (5.0, 10.0)


def test_a_list_of_the_program_that_changes_later():
    def f(x):
        own = [[1.0], [x[0], x[1]], [3.0]]
        row = own[most(x[:3])]
        own[2][0] = 9.0
        return sum(row)

    for x in (X, -X, X[::-1].copy()):
        assert jit(f)(x) == f(x)


@pytest.mark.parametrize("f", [lambda x: TUPLES[most(x)] == (0,), lambda x: TUPLES[most(x)] + (1,)])
def test_tuples_of_other_lengths_are_not_compared_or_added(f):
    with pytest.raises(UnsupportedError, match="tuple that data picks"):
        jit(f)(X)


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.6])
def test_as_many_names_as_items(limit):
    def of_a_list(x):
        a, b, c = [v for v in x if v > limit]
        return a * b + c

    def of_an_array(x):
        ((i, j, k),) = np.nonzero(x > limit)
        return x[i] * x[j] + x[k]

    for f in (of_a_list, of_an_array):
        try:
            expected = f(X)
        except ValueError as e:
            with pytest.raises(ValueError, match="unpack") as found:
                jit(f)(X)
            assert str(found.value).startswith(str(e).split(",")[0])  # noqa: PT017
        else:
            assert jit(f)(X) == pytest.approx(expected)


@pytest.mark.parametrize(
    "rows", [[[1, 2], [0.5]], [{"a": 1}, {"a": 1.5}], ({1: 2}, {3: 0.5, 4: 1.0})]
)
def test_integers_beside_floats_stay_apart(rows):
    """In one table they would be floats, which are no indices."""
    f = jit(lambda x: len(rows[int(x[0] > 0)]))
    assert [f(X), f(-X)] == [len(rows[int(x[0] > 0)]) for x in (X, -X)]


CHANGED = {
    "store": lambda x: LISTS[most(x)].__setitem__(0, 3),
    "update": lambda x: DICTS[most(x)].update(a=3.0),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changes_of_what_data_picks(name, monkeypatch):
    shown = []
    for f in (CHANGED[name], jit(CHANGED[name])):
        monkeypatch.setitem(globals(), "LISTS", lists := copy.deepcopy(LISTS))
        monkeypatch.setitem(globals(), "DICTS", dicts := copy.deepcopy(DICTS))
        f(X)
        shown.append(str((lists, dicts)))
        monkeypatch.undo()
    assert shown[0] == shown[1] != str((LISTS, DICTS))


def test_a_list_from_outside_that_data_picks_is_sorted(monkeypatch):
    monkeypatch.setitem(globals(), "LISTS", lists := [[3, 1, 2], [5, 4]])
    assert jit(lambda x: (LISTS[int(x[0] > 0)].sort(), LISTS[1][0])[1])(np.ones(2)) == 4
    assert lists == [[3, 1, 2], [4, 5]]


def test_a_table_that_becomes_something_else(monkeypatch):
    f = jit(lambda x: TABLE[int(x[0] > 0)][0] + x[0])
    assert f(X) == 1 + X[0]
    monkeypatch.setitem(globals(), "TABLE", 5)
    with pytest.raises(TypeError, match="subscriptable"):
        f(X)


TABLE = [[k] for k in range(9)]
