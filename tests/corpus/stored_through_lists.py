"""Arrays in a list, of which data says which one is stored to."""

import numpy as np

from tests.corpus import program

# ruff: noqa: PERF401 (loops that fill lists are what is tested)

RNG = np.random.default_rng(4)
X = RNG.normal(size=9) * 2
ROWS = RNG.normal(size=(8, 3))
LABELS = RNG.integers(0, 3, 8)


@program(ROWS)
def centres(rows):
    sums = [np.zeros(3) for _ in range(3)]
    counts = [0] * 3
    for row, k in zip(rows, LABELS):
        sums[k] += row
        counts[k] += 1
    return sum(np.sum((s / max(n, 1)) ** 2) for s, n in zip(sums, counts))


@program(X)
def parts_of_one(x):
    lists = [np.zeros((2, 2)), np.ones((2, 2))]
    for v in x:
        k = int(v > 0)
        lists[k][0, :] += v
        lists[k].T[1, 0] -= v * v
        lists[1 - k][1] = lists[k][0]
    return lists[0] * lists[1]


@program(X)
def under_a_name(x):
    lists = [np.zeros(3), np.ones(3)]
    for v in x:
        row = lists[int(v > 0)]
        row += v
        row[1] *= 1.5
        row[2:] = v
    return lists[0] @ lists[1]


@program(X)
def on_both_sides(x):
    lists = [np.zeros(3), np.ones(3)]
    for v in x:
        k = int(abs(v)) % 2
        if v > 0:
            lists[k] += v
        else:
            lists[k][0] = v
        row = lists[k]
        row *= 1.1
    return lists[0] + 2 * lists[1]


@program(X)
def in_tuples(x):
    pairs = [(np.zeros(2), 1.0), (np.ones(2), 2.0)]
    for v in x:
        a, w = pairs[int(v > 0)]
        a += w * v
    return pairs[0][0] * pairs[1][0]


@program(X)
def filled_as_it_grows(x):
    lists = []
    for v in x:
        if v > -3:
            lists.append(np.zeros(3))
        lists[int(abs(v)) % len(lists)] += v
    return sum(r[1] ** 2 for r in lists)


@program(X)
def stored_after_it_was_appended(x):
    lists = []
    for v in x:
        row = np.zeros(3)
        lists.append(row)
        row[0] = v
        row[1:] += v * v
    return np.array(lists)


@program(X)
def replaced_and_stored(x):
    lists = [np.zeros(2), np.ones(2)]
    for v in x:
        k = int(v > 0)
        lists[k] = lists[k] * 0.5 + v
        lists[k][0] += 1.0
    return lists[0] - lists[1]
