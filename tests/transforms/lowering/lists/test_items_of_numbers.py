"""Lists of arrays of one shape, which loops fill, read and shorten as data decides: kernels have
them."""

import warnings
from collections import deque

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, hessian, jit, jvp, vmap


def snapshots(x):
    history = [x]
    while np.linalg.norm(history[-1]) > 0.1:
        history.append(history[-1] * 0.8)
    return np.sum(history[-1]) + np.sum(history[len(history) // 2]) * len(history)


def events(x):
    found = []
    for _ in range(12):
        x = x + 0.1 * np.cos(x)
        if x[0] > 0.6:
            found.append(x.copy())
    rows = np.array(found) if found else np.zeros((0, x.size))
    return np.sum(rows**2) + len(found)


def queue(x):
    waiting, total = [x], 0.0
    for _ in range(9):
        v = waiting.pop(0)
        total = total + np.sum(np.sin(v))
        waiting.append(v * 0.9)
        if total > 0.5:
            waiting.append(v + 0.1)
    return total + np.sum(waiting[0])


def window(x):
    held = deque([x], maxlen=3)
    for _ in range(7):
        held.append(np.sin(sum(held) / len(held)))
    return np.sum(held[-1]) + np.sum(held[0] ** 2)


def two_loops(x):
    """Steps and their changes, as in L-BFGS."""
    steps, changes, g = [], [], x
    for _ in range(8):
        q, weights = g.copy(), []
        for s, y in zip(reversed(steps), reversed(changes), strict=True):
            weights.append(s @ q / (y @ s))
            q = q - weights[-1] * y
        for s, y, a in zip(steps, changes, reversed(weights), strict=True):
            q = q + s * (a - y @ q / (y @ s))
        new = x - 0.3 * q
        steps.append(new - x)
        changes.append(new * 0.9 + new**3 - g)
        if len(steps) > 3:
            steps.pop(0)
            changes.pop(0)
        x, g = new, new * 0.9 + new**3
    return np.sum(x**2)


def stored(x):
    rows = [x, x * 0.5]
    for i in range(8):
        v = rows[-1]
        rows[-1] = x * 0.1 + v
        rows[0] = rows[0] + np.sin(v)
        if np.sum(v) > 0.2:
            rows.append(v)
        x = x * 0.9 + rows[i % 2] * 0.1
    return np.sum(np.stack(rows)[1] * x) + np.sum(rows[-1])


def popped(x):
    rest, total = [x, 2 * x, x + 1.0], 0.0
    while np.sum(x) < 9.0 and len(rest) > 1:
        v = rest.pop()
        rest.append(x)
        if v[0] > 0.0:
            rest.pop()
        total = total + np.sum(v * rest[-1])
        x = x + 0.5
    return total


def matrices(x):
    powers = [np.outer(x, x)]
    while np.max(np.abs(powers[-1])) > 1e-3:
        powers.append(powers[-1] @ powers[0] * 0.1)
    return np.sum(powers[-1]) + np.trace(powers[len(powers) // 2])


PROGRAMS = [snapshots, events, queue, window, two_loops, stored, popped, matrices]
X = np.array([0.7, -0.2, 0.4, 0.5])


@pytest.mark.parametrize("f", PROGRAMS)
def test_kernels_have_lists_of_arrays(f):
    compiled, gradient = jit(f), jit(grad(f))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for x in (X, -X, X * 0.1, X[:3] + 0.2):
            np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
            h = 1e-6
            slopes = [(f(x + h * d) - f(x - h * d)) / (2 * h) for d in np.eye(x.size)]
            np.testing.assert_allclose(gradient(x), slopes, rtol=1e-5, atol=1e-7)
    assert "append" not in compiled.source(X) + gradient.source(X)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_batches(f):
    batch = np.stack([X, -X, X * 0.1])
    wanted = [f(x) for x in batch]
    np.testing.assert_allclose(jit(vmap(f))(batch), wanted, rtol=1e-12)
    np.testing.assert_allclose(vmap(f)(batch), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        jit(vmap(grad(f)))(batch), [grad(f)(x) for x in batch], rtol=1e-9, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_order(f):
    """Tangents of cotangents get zeros in front of what loops put at their ends, too."""

    def along(x, d):
        return jvp(grad(f), (x,), (d,))[1]

    d, h = np.array([0.3, -1.0, 0.5, 0.2]), 1e-6
    slopes = (grad(f)(X + h * d) - grad(f)(X - h * d)) / (2 * h)
    np.testing.assert_allclose(along(X, d), slopes, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(along)(X, d), slopes, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jit(hessian(f))(X) @ d, slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("k", [2, -3, 0, -2])
def test_items_that_are_not_there(k):
    def f(x, k):
        rows = [x]
        for _ in range(3):
            if x[0] > 0.0:
                rows.append(x)
            x = x - 1.0
        return np.sum(rows[k])

    for x in (X, -X):
        try:
            wanted = f(x, k)
        except IndexError:
            with pytest.raises(IndexError):
                jit(f)(x, k)
        else:
            assert jit(f)(x, k) == pytest.approx(wanted, rel=1e-14)


def test_pop_of_an_empty_list():
    def f(x):
        rows = []
        for _ in range(3):
            if x[0] > 0.0:
                rows.append(x)
            x = x - 1.0
        return np.sum(rows.pop()) + np.sum(rows.pop())

    with pytest.raises(IndexError, match="pop from empty list"):
        jit(f)(X)
    assert jit(f)(X + 1.0) == f(X + 1.0)


def test_the_first_items_go_in_place():
    """Backwards, zeros come in front of their cotangents."""
    derivative = grad(queue)
    derivative(X)
    source = derivative.source(X)
    assert "del waiting[:min(n, 1)]" in source
    assert "waiting_bar[:0] = [np.zeros(x.shape) for _ in range(min(n, 1))]" in source


def test_one_item_at_the_front():
    def smoothed(prices, n):
        trend = [prices[0]]
        for p in prices:
            trend.append(0.9 * trend[-1] + 0.1 * p)
            if len(trend) > n:
                trend.pop(0)
        return sum(trend)

    prices, derivative = np.arange(1.0, 8.0), grad(smoothed)
    slopes = [(smoothed(prices + d, 3) - smoothed(prices - d, 3)) / 2 for d in np.eye(7)]
    np.testing.assert_allclose(derivative(prices, 3), slopes, rtol=1e-12)
    source = derivative.source(prices, 3)
    assert "del trend[0]" in source
    assert "trend_bar.insert(0, 0.0)" in source


def test_several_lists_that_are_read_behind_their_loop():
    def route(x, limits):
        kept, dropped = [], []
        for row in x:
            if np.sum(row) > 0:
                kept.append(row - limits)
            else:
                dropped.append(row * 2)
        total = np.sum(np.stack(kept).max(axis=0)) if kept else 0.0
        return total + np.sum(dropped[-1] ** 2) if dropped else total

    compiled, x = jit(route), np.random.default_rng(0).normal(size=(8, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        for rows in (x, np.abs(x), -np.abs(x)):
            assert compiled(rows, X[:3]) == pytest.approx(route(rows, X[:3]), rel=1e-12)
    assert "append" not in compiled.source(x, X[:3])


def test_places_from_the_end_of_arrays_that_only_a_loop_knows_how_long_they_are():
    def f(x, counts, places):
        total = 0.0
        for i in range(len(counts)):
            a = np.zeros((counts[i], 3))
            for j in range(counts[i]):
                a[j] = x[j] * (i + 1)
            a[places[i], places[0]] += 2.0
            total = total + np.sum(a[places[i]]) + a[0, places[i]]
        return total

    x, counts = np.arange(15.0).reshape(5, 3), np.array([3, 2, 5])
    places = np.array([-1, -2, -3])
    assert jit(f)(x, counts, places) == f(x, counts, places)
