"""Lists of lists that loops fill: rows stay lists, and tables of dynamic programming stay loops."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient


def table(n):
    return [[i * j for i in range(n)] for j in range(n)]


def rows(n):
    m = table(n)
    return m[1], m[1] + m[2], m[1] * 2, m[0][1:], isinstance(m[0], list), (3, m[2])


def flat(n):
    return [x for row in table(n) for x in row], sum(table(n), [])  # noqa: RUF017 (that is the test)


def deep(n):
    return [[[1.5 * i for i in range(n)] for _ in range(n)] for _ in range(n)]


def tuples_of_lists(n):
    return [(j, [i + j for i in range(n)]) for j in range(n)]


def products(n):
    m = table(n)
    return [[x * y for x, y in zip(r, s, strict=True)] for r, s in zip(m, m, strict=True)]


def stored(n):
    m = [[0] * n for _ in range(n)]
    for i in range(n):
        m[i][i] = 1
        row = m[i]
        row[0] = 7
    return m


def grown(n):
    m = table(n)
    m[1].append(4)
    return m


def turned_to_floats(n):
    m = [[0 for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            m[i][j] += 0.5 * i
    return m


def common(a, b):
    m, n = len(a), len(b)
    best = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                best[i][j] = best[i - 1][j - 1] + 1
            else:
                best[i][j] = max(best[i - 1][j], best[i][j - 1])
    return best[m][n]


def shortest(x):
    d = [[x * abs(i - j) ** 2 + 1 for i in range(9)] for j in range(9)]
    for k in range(9):
        for i in range(9):
            for j in range(9):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d[0][8]


@pytest.mark.parametrize(
    "function", [rows, flat, deep, tuples_of_lists, products, stored, grown, turned_to_floats]
)
@pytest.mark.parametrize("n", [3, 12])
def test_values_and_their_types(function, n):
    assert repr(tapeless.jit(function)(n)) == repr(function(n))
    with tapeless.disable_jit():
        assert repr(tapeless.jit(function)(n)) == repr(function(n))


def test_a_table_that_loops_store_to_stays_loops():
    a, b = np.arange(30) % 7, np.arange(25) % 5
    compiled = tapeless.jit(common)
    assert compiled(a, b) == common(a, b)
    assert len(compiled.source().splitlines()) < 50


def test_derivative():
    assert tapeless.grad(shortest)(1.0) == pytest.approx(8)
    assert tapeless.jvp(shortest, (1.0,), (1.0,)) == pytest.approx((16, 8))


def test_texts_in_a_list_that_a_loop_fills_are_refused():
    def texts(x):
        return [f"{v}" for v in x]

    with pytest.raises(tapeless.TapelessError, match=r"text that shows values .* is returned"):
        tapeless.jit(texts)(np.ones(20))


def tree(s, k, n=50):
    v = [0.0] * (n + 1)
    for i in range(n + 1):
        v[i] = max(k - s * i, 0.0)
    for m in range(n - 1, -1, -1):
        for i in range(m + 1):
            v[i] = max(0.5 * v[i] + 0.5 * v[i + 1], k - s * i)
    return v[0]


def test_a_list_of_as_many_floats_as_the_code_says_is_a_table():
    slope = tapeless.grad(tree)
    assert slope(0.1, 3.0) == slope(0.1, 3.0, 50)
    assert len(slope.source().splitlines()) < 60
    assert tapeless.jit(tree)(0.1, 3.0) == tree(0.1, 3.0)


def of_arrays(x):
    found = [0.0] * 12
    for k in range(12):
        found[k] = x * k
    return found


def of_texts(x):
    found = [0.0] * 12
    found[3] = "three"
    return found, x


def cut(x):
    found = [0.0] * 12
    found[2:4] = [x, x, x]
    return found


@pytest.mark.parametrize("function", [of_arrays, of_texts, cut])
def test_it_may_hold_something_else(function):
    x = np.array([1.0, 2.0]) if function is of_arrays else 1.5
    assert repr(tapeless.jit(function)(x)) == repr(function(x))


def grouped(x):
    groups = [[], []]
    for i in range(len(x)):
        groups[0 if x[i] < 0 else 1].append(i)
    return groups


def means(x):
    out = np.zeros(2)
    for k, group in enumerate(grouped(x)):
        out[k] = np.mean(x[group])
    return out


def marked(x):
    y = np.zeros(len(x))
    for k, group in enumerate(grouped(x)):
        y[group] = k + 1.0
    return y * x


def block(x):
    negative, positive = grouped(x)
    return np.sum(np.outer(x, x)[negative][:, positive] ** 2)


def rows_of_a_matrix(x):
    m = np.outer(x, x)
    negative = grouped(x)[0]
    return np.sum(m[negative, 1] * m[..., 0][negative])


@pytest.mark.parametrize("program", [means, marked, block, rows_of_a_matrix])
def test_a_row_that_data_makes_grow_is_an_index(program):
    x = np.array([1.0, -2.0, 3.0, -5.0])
    np.testing.assert_allclose(tapeless.jit(program)(x), program(x))
    slope = tapeless.grad(lambda x: np.sum(program(x) ** 2))(x)
    expected = gradient(lambda x: np.sum(program(x) ** 2), x)
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)
    rows = np.stack([x, -x])
    np.testing.assert_allclose(tapeless.vmap(program)(rows), [program(row) for row in rows])
