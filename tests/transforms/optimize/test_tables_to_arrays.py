"""Tables that are written as lists of lists are arrays, and mean the same."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import StackType
from tests.transforms.staging import block_of, close_to, every, slope

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=6), RNG.normal(size=4)
STEPS, SIGHTS = RNG.random((3, 3)), RNG.random((3, 5))


def warping(x, y):
    m, n = len(x), len(y)
    d = [[np.inf] * (n + 1) for _ in range(m + 1)]
    d[0][0] = 0.0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            c = (x[i - 1] - y[j - 1]) ** 2
            d[i][j] = c + min(d[i - 1][j], d[i][j - 1], d[i - 1][j - 1])
    return d[m][n]


def edits(x, y):
    m, n = len(x), len(y)
    d = [[0.0 for _ in range(n + 1)] for _ in range(m + 1)]
    for i in range(m + 1):
        d[i][0] = 0.7 * i
    for j in range(n + 1):
        d[0][j] = 0.7 * j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            same = d[i - 1][j - 1] + (x[i - 1] - y[j - 1]) ** 2
            d[i][j] = min(same, d[i - 1][j] + 0.7, d[i][j - 1] + 0.7)
    return d[m][n]


def rows_of_an_array(x, y):
    rows = list(np.outer(x, y))
    for i in range(1, len(rows)):
        rows[i] = rows[i] + 0.5 * rows[i - 1]
    return rows[-1].sum()


def rows_that_swap(x, y):
    rows = [x * i + y[0] for i in range(len(x))]
    for i in range(len(rows) // 2):
        rows[i], rows[-1 - i] = rows[-1 - i], rows[i]
    return rows[0] @ rows[1]


def cube(x, y):
    n = len(x)
    t = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                t[i][j][k] = x[i] * j - x[k] * y[0]
    s = 0.0
    for i in range(n):
        s += t[i][n - 1 - i][i] * t[n - 1][i][0]
    return s


def one_row_many_times(x, y):
    row = [0.0] * len(x)
    t = [row for _ in range(len(x))]
    t[0][1] = x[0]
    return t[1][1] * y[0] + len(t)


def rows_filled_one_by_one(x, y):
    t = []
    for i in range(len(x)):
        row = []
        for j in range(len(x)):
            row.append(x[i] * x[j])  # noqa: PERF401 (that is the test)
        t.append(row)
    for i in range(len(x)):
        t[i][i] = y[0]
    s = 0.0
    for row in t:
        for v in row:
            s += v * v
    return s


def a_table_for_each_pass(x, y):
    total = 0.0
    for k in range(len(y)):
        t = [[0.0] * len(x) for _ in range(2)]
        for i in range(1, len(x)):
            t[0][i] = t[1][i - 1] + x[i] * y[k]
            t[1][i] = t[0][i - 1] * x[i]
        total = total + t[0][-1] * t[1][-2]
    return total


def a_place_by_a_flag(x, y):
    t = [[0.0] * len(x) for _ in range(len(x))]
    for i in range(len(x)):
        t[i][bool(x[i] > 0)] = x[i] * y[0]
    s = 0.0
    for i in range(len(x)):
        s = s + t[i][0] - 2 * t[i][1]
    return s


def one_of_two_tables(x, y):
    a = [[1.0] * len(x) for _ in range(len(x))]
    b = [[2.0] * len(x) for _ in range(len(x))]
    t = a if y[0] > 0 else b
    s = 0.0
    for i in range(len(x)):
        s = s + t[i][i] * x[i]
    return s


TABLES = [
    *(warping, edits, rows_of_an_array, rows_that_swap, cube, one_row_many_times),
    *(rows_filled_one_by_one, a_table_for_each_pass, a_place_by_a_flag, one_of_two_tables),
]


@pytest.mark.parametrize("function", TABLES)
def test_values_and_derivatives(function):
    expected, slopes = function(X, Y), slope(lambda x: function(x, Y), X)
    for made in (tapeless.grad(function), tapeless.jit(tapeless.grad(function))):
        close_to(made(X, Y), slopes, 1e-6)
    close_to(tapeless.jit(function)(X, Y), expected)
    with tapeless.disable_jit():
        close_to(tapeless.jit(function)(X, Y), expected)
    close_to(tapeless.jvp(function, (X, Y), (X, 0 * Y))[1], slopes @ X, 1e-6)


@pytest.mark.parametrize("function", TABLES)
def test_batches(function):
    xs = np.stack([X, X[::-1], -X])
    expected = [function(x, Y) for x in xs]
    batched = tapeless.vmap(function, (0, None))
    close_to(batched(xs, Y), expected)
    close_to(tapeless.jit(batched)(xs, Y), expected)


@pytest.mark.parametrize("function", [warping, cube, rows_that_swap])
def test_no_list_is_left(function):
    block = block_of(function, X, Y)
    assert not [s for s in every(block) for v in s.outs if isinstance(v.type, StackType)]


def test_the_derivative_saves_no_rows():
    text = tapeless.grad(warping).source(X, Y)
    assert "d[i, j] = c + " in text
    assert "d_bar[i - 1, j - 1] += " in text
    assert ".copy()" not in text


def most_likely(seen, steps, sights):
    best = [[0.0] * len(steps) for _ in range(len(seen))]
    back = [[0] * len(steps) for _ in range(len(seen))]
    for s in range(len(steps)):
        best[0][s] = sights[s, seen[0]]
    for t in range(1, len(seen)):
        for s in range(len(steps)):
            for r in range(len(steps)):
                p = best[t - 1][r] * steps[r, s] * sights[s, seen[t]]
                if p > best[t][s]:
                    best[t][s], back[t][s] = p, r
    last = 0
    for s in range(1, len(steps)):
        if best[-1][s] > best[-1][last]:
            last = s
    path = [last]
    for t in range(len(seen) - 1, 0, -1):
        last = back[t][last]
        path.append(last)
    return path[::-1]


def pascal(n):
    t = [[0] * (n + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        t[i][0] = 1
        for j in range(1, i + 1):
            t[i][j] = t[i - 1][j - 1] + t[i - 1][j]
    return t


def knapsack(weights, worths, room):
    best = [0.0] * (room + 1)
    for i in range(len(weights)):
        for c in range(room, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + worths[i])
    return best[room]


def primes(n):
    sieve = [True] * (n + 1)
    found = []
    for p in range(2, n + 1):
        if sieve[p]:
            found.append(p)
            for q in range(p * p, n + 1, p):
                sieve[q] = False
    return found


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (most_likely, (RNG.integers(0, 5, 9), STEPS, SIGHTS)),
        (pascal, (7,)),
        (pascal, (0,)),
        (knapsack, (np.array([3, 1, 4, 2]), np.array([0.5, 0.2, 0.9, 0.4]), 6)),
        (primes, (50,)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_compiled(function, args):
    expected = function(*args)
    made = tapeless.jit(function)(*args)
    assert type(made) is type(expected)
    assert made == expected


def beyond(x):
    t = [[0.0] * len(x) for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(len(x)):
            t[i][j + 1] = x[i]
    return t[0][0]


def test_places_that_are_not_there():
    with pytest.raises(IndexError):
        tapeless.jit(beyond)(X)
    with pytest.raises(IndexError), tapeless.disable_jit():
        tapeless.jit(beyond)(X)


class Model:
    def fit(self, x):
        self.table = [[0.0] * len(x) for _ in range(len(x))]
        for i in range(len(x)):
            self.table[i][i] = x[i] * x[i]
        return self.table[1][1] + self.table[0][0]


def test_a_table_that_an_object_keeps():
    model = Model()

    def outer(x):
        made = Model()
        return tapeless.grad(made.fit)(x)[0] + made.fit(x)

    close_to(tapeless.jit(outer)(X), 2 * X[0] + model.fit(X))
