"""Loops that add up may do so in any order, where nothing reads the sum on the way."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

X = np.random.default_rng(0).normal(size=1003)
A = np.random.default_rng(1).normal(size=(37, 29))


def squares(x):
    s = 0.0
    for v in x:
        s += v * v
    return s


def several_terms(x):
    s, t = 0.0, 1.0
    for i in range(len(x)):
        s = s + x[i] + np.sin(x[i])
        t -= x[i] / 2
    return s, t


def of_rows(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i] += a[i, j] * a[i, 0]
    total = 0.0
    for i in range(len(a)):
        for j in range(a.shape[1]):
            total += abs(a[i, j])
    return out, total


def single_precision(x):
    s = np.float32(0)
    for v in x.astype(np.float32):
        s += v
    return s


def integers(x):
    s = 0
    for i in range(len(x)):
        s += i * i
    return s


def started_by_an_argument(x):
    s = x[0]
    for i in range(1, len(x)):
        s += x[i]
    return s


PROGRAMS = [squares, several_terms, single_precision, integers, started_by_an_argument]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1003])
def test_values(f, n):
    x = X[:n]
    if f is started_by_an_argument and n == 0:
        return
    rtol = 1e-4 if f is single_precision else 1e-12
    for got, want in zip(np.atleast_1d(jit(f)(x)), np.atleast_1d(f(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
        assert got.dtype == want.dtype


def test_rows():
    for got, want in zip(jit(of_rows)(A), of_rows(A), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_derivatives_and_batches():
    np.testing.assert_allclose(jit(grad(squares))(X), 2 * X, rtol=1e-14)
    np.testing.assert_allclose(jit(vmap(squares))(A), np.sum(A * A, axis=1), rtol=1e-12)


@pytest.mark.parametrize("f", [squares, several_terms])
def test_said_in_loop_form(f):
    assert "plus" in jit(f).source(X)
    assert "plus" not in jit(f, fastmath=False).source(X)


@pytest.mark.parametrize("f", [squares, several_terms])
def test_in_order_without_fastmath(f):
    np.testing.assert_array_equal(jit(f, fastmath=False)(X), f(X))


# -- sums that something reads on the way, to the last digit


def compensated(x):
    s, lost = 0.0, 0.0
    for v in x:
        y = v - lost
        t = s + y
        lost = (t - s) - y
        s = t
    return s


def running(x):
    s, out = 0.0, np.zeros(len(x))
    for i in range(len(x)):
        s += x[i]
        out[i] = s
    return out


def until_large(x):
    s = 0.0
    for v in x:
        s += v * v
        if s > 300:
            break
    return s


def decaying(x):
    s = 0.0
    for v in x:
        s = 0.5 * s + v
    return s


def reset(x):
    s = 0.0
    for v in x:
        if v > 2:
            s = 0.0
        s += v
    return s


def to_itself(x):
    s = 1.0
    for v in x[:20]:
        s = s + (s + v)
    return s


@pytest.mark.parametrize("f", [compensated, running, until_large, decaying, reset, to_itself])
def test_sums_that_are_read(f):
    np.testing.assert_array_equal(jit(f)(X * 1e3), f(X * 1e3))


# -- terms that are chosen


def positive_squares(x):
    s = 0.0
    for v in x:
        if v > 0:
            s += v * v
    return s


def of_either_sign(x):
    s, t, count = 0.0, 0.0, 0
    for v in x:
        if v > 0.5:
            s += np.exp(v)
            count += 1
        elif v < -0.5:
            t -= v
            s = 1.0 + s
    return s, t, count


def nested_tests(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            if i % 2 == 0:
                s += x[i]
            else:
                s -= 2 * x[i]
        else:
            s += 0.1
    return s


def pairs(a):
    energy = 0.0
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            r2 = (a[i, 0] - a[j, 0]) ** 2 + (a[i, 1] - a[j, 1]) ** 2
            if r2 < 2.0:
                energy += 1 / (0.1 + r2) ** 3
    return energy


def at_its_own_places(x):
    s = 0.0
    for i in range(len(x) + 3):
        if i < len(x):
            s += x[i]
    return s


CHOSEN = [positive_squares, of_either_sign, nested_tests, at_its_own_places]


@pytest.mark.parametrize("f", CHOSEN)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1003])
def test_chosen_terms(f, n):
    for got, want in zip(np.atleast_1d(jit(f)(X[:n])), np.atleast_1d(f(X[:n])), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    if n:
        slope = grad(lambda x: np.sum(np.array(f(x)[:2] if f is of_either_sign else f(x))))
        np.testing.assert_allclose(jit(slope)(X[:n]), slope(X[:n]), rtol=1e-13)


@pytest.mark.parametrize("f", [positive_squares, nested_tests])
def test_chosen_terms_in_loop_form(f):
    assert "plus(part, term)" in jit(f).source(X)
    assert "term" not in jit(f, fastmath=False).source(X)
    np.testing.assert_array_equal(jit(f, fastmath=False)(X), f(X))


def test_pairs():
    np.testing.assert_allclose(jit(pairs)(A[:, :2]), pairs(A[:, :2]), rtol=1e-12)
    np.testing.assert_allclose(jit(grad(pairs))(A[:, :2]), grad(pairs)(A[:, :2]), rtol=1e-11)


def negative_zero(x):
    s = -0.0
    for v in x:
        if v > 0:
            s += v
    return s


def test_nothing_added_is_no_zero():
    assert np.signbit(jit(negative_zero)(-np.ones(5)))
    assert np.signbit(negative_zero(-np.ones(5)))
