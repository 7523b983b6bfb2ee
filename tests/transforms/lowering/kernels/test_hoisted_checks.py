"""Indices that follow a loop are tested before it: the same errors, and none in their place."""

import numpy as np
import pytest

from tapeless import grad, jit


def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def total(x, n):
    s = 0.0
    for k in range(n):
        s += x[k]
    return s


def from_to(x, first, last):
    s = 0.0
    for k in range(first, last):
        s += x[k + 1] - 2 * x[2 * k]
    return s


def backwards(x, n):
    s = 0.0
    for k in range(n - 1, -1, -1):
        s = 0.5 * s + x[k]
    return s


def below(x, n):
    s = 0.0
    for k in range(n):
        s += x[-k - 1]
    return s


def under_a_test(x, n):
    s = 0.0
    for k in range(n):
        if k < len(x):
            s += x[k]
    return s


def until(x, n):
    s = 0.0
    for k in range(n):
        if x[k] > 3:
            break
        s += x[k]
    return s


def inner_that_makes_no_pass(x, n):
    s = 0.0
    for k in range(n):
        for j in range(k, 2):
            s += x[k] * x[j]
    return s


def two_loops(x, n):
    s = 0.0
    for k in range(n):
        s += x[k]
    for k in range(2 * n):
        s += x[k]
    return s


def invariant(x, n):
    s = 0.0
    for k in range(n):
        s += x[n] * k
    if n == 0:
        s += x[n]
    return s


def moving(x, n):
    s, j = 0.0, 0
    for k in range(n):
        s += x[j]
        j = (j + 2) % 7 if k % 2 == 0 else j + 1
    return s


X = np.arange(1.0, 6.0)
CALLS = [
    *((total, (X, n)) for n in (0, 1, 5, 6)),
    *((from_to, (X, a, b)) for a, b in ((0, 2), (0, 3), (2, 3), (3, 3), (4, 2), (-6, -4), (-2, 1))),
    *((backwards, (X, n)) for n in (0, 3, 5, 7)),
    *((below, (X, n)) for n in (0, 3, 5, 7)),
    *((under_a_test, (X, n)) for n in (0, 5, 9)),
    *((until, (X, n)) for n in (3, 9)),
    *((until, (np.ones(5), n)) for n in (3, 9)),
    *((inner_that_makes_no_pass, (X, n)) for n in (2, 5, 9)),
    *((two_loops, (X, n)) for n in (0, 2, 3, 6)),
    *((invariant, (X, n)) for n in (0, 2, 5)),
    *((moving, (X, n)) for n in (2, 5, 9)),
    *((product, (np.ones(a), np.ones(b))) for a, b in (((2, 3), (3, 2)), ((2, 3), (2, 2)))),
    *((product, (np.ones(a), np.ones(b))) for a, b in (((2, 3), (2, 0)), ((0, 3), (2, 2)))),
    *((product, (np.ones(a), np.ones(b))) for a, b in (((2, 0), (3, 2)), ((2, 3), (4, 5)))),
]


@pytest.mark.parametrize(("f", "args"), CALLS)
def test_values_and_errors(f, args):
    try:
        want = f(*args)
    except IndexError:
        with pytest.raises(IndexError, match="out of bounds"):
            jit(f)(*args)
        return
    np.testing.assert_allclose(jit(f)(*args), want, rtol=1e-14)


@pytest.mark.parametrize("f", [product, total, from_to, backwards])
def test_no_test_in_the_innermost_loop(f):
    args = (
        (np.ones((3, 4)), np.ones((5, 6))) if f is product else (X, 2, 3)[: 3 - (f is not from_to)]
    )
    text = jit(f).source(*args)
    last = text.rindex("for k in")
    assert "raise IndexError" in text[:last]
    assert "raise" not in text[last:]


def test_without_bounds():
    assert "raise" not in jit(total, boundscheck=False).source(X, 3)


# -- what a pass does before an error is seen


def printed(x, n):
    s = 0.0
    for k in range(n):
        print("pass", k)  # noqa: T201
        s += x[k]
    return s


def raised(x, n):
    s = 0.0
    for k in range(n):
        if x[k] == 3:
            raise ValueError("three")
        s += x[k]
    return s


def test_what_comes_first_is_seen_first(capsys):
    with pytest.raises(IndexError):
        jit(printed)(X, 7)
    assert capsys.readouterr().out.count("pass") == 6
    with pytest.raises(ValueError, match="three"):
        jit(raised)(X, 7)


# -- remainders


def periodic(u):
    n, m = u.shape
    out = np.zeros_like(u)
    for i in range(n):
        for j in range(m):
            out[i, j] = u[(i + 1) % n, j] - 2 * u[(i - 1) % n, (j + 3) % m] + u[i, (j - 2) % m]
    return out


def far(u):
    n, m = u.shape
    out = np.zeros_like(u)
    for i in range(n):
        for j in range(m):
            out[i, j] = u[(2 * i + 5) % n, (-j - 4) % m] + u[(i * j) % n, (i - j) % m]
    return out


def by_another(u, k):
    out = np.zeros(len(u))
    for i in range(len(u)):
        out[i] = u[i % k, 0] + u[(i + k) % len(u), 0]
    return out


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (5, 7), (4, 4)])
@pytest.mark.parametrize("f", [periodic, far])
def test_remainders(f, shape, rng):
    u = rng.normal(size=shape)
    np.testing.assert_allclose(jit(f)(u), f(u), rtol=1e-14)
    slope = grad(lambda u: np.sum(np.sin(f(u))))
    np.testing.assert_allclose(jit(slope)(u), slope(u), rtol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 4, 5, 9, -3])
def test_remainders_by_another_number(k, rng):
    u = rng.normal(size=(5, 2))
    try:
        want = by_another(u, k)
    except IndexError:
        with pytest.raises(IndexError):
            jit(by_another)(u, k)
    else:
        np.testing.assert_allclose(jit(by_another)(u, k), want, rtol=1e-14)


def test_neighbours_need_no_division():
    text = jit(periodic).source(np.ones((4, 5)))
    assert text.count("%") == 1  # 3 may be more than m
    assert "IndexError" not in text


def forwards_and_backwards(a, x):
    for k in range(len(a)):
        a[k] = a[k] * x[k]
    for k in range(len(a)):
        a[k] = a[k] + x[k] * a[k]
    return np.sum(a)


def test_lengths_are_tested_once():
    text = jit(forwards_and_backwards).source(np.ones(3), np.ones(4))
    assert text.count("a.shape[0] > x.shape[0]") == 1
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        jit(forwards_and_backwards)(np.ones(3), np.ones(2))


def on_one_side(a, x, first):
    if first:
        for k in range(len(a)):
            a[k] = a[k] * x[k]
    for k in range(len(a)):
        a[k] = a[k] + x[k]
    return np.sum(a)


@pytest.mark.parametrize("first", [True, False])
def test_what_one_side_tests_is_tested_after_it(first):
    f = jit(on_one_side)
    flag = np.array([first])
    assert f(np.ones(2), np.ones(3), flag[0]) == 4.0
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        f(np.ones(3), np.ones(2), flag[0])
