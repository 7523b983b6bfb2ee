"""While loops that carry arrays: their compiled derivatives count the passes first, and are the
same as those of emitted code."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, value_and_grad, vmap

M = np.random.default_rng(0).random((6, 6))
X = np.array([0.8, -0.5, 0.9, 0.7])


def power_iteration(m):
    v, d = np.ones(len(m)), 1.0
    while d > 1e-8:
        new = m @ v
        new = new / np.sum(new)
        d = np.max(np.abs(new - v))
        v = new
    return v[0]


def with_steps_by_error(y):
    t, h = 0.0, 0.1
    while t < 2.0:
        a = np.array([y[1], -np.sin(y[0]), y[3], -y[2]])
        b = np.array([y[1] + h * a[1], -np.sin(y[0] + h * a[0]), y[3] + h * a[3], -y[2]])
        e = np.max(np.abs(b - a)) * h / 2
        if e < 1e-2:
            y = y + h * (a + b) / 2
            t += h
        h = min(h * min(2.0, max(0.5, 0.9 * (1e-2 / (e + 1e-12)) ** 0.5)), 2.0 - t + 1e-12)
    return y[0] ** 2 + y[1] * y[2]


def perhaps_no_pass(x):
    while x[0] > 0.5:
        x = x * np.array([0.9, 1.1, 0.8, 1.0])
    return np.sum(x**3)


def one_in_the_other(x):
    n = 0
    while n < 3:
        y = x
        while np.sum(y**2) > 0.5:
            y = y * 0.7 + 0.01 * np.roll(y, 1)
        x = x + 0.3 * y
        n += 1
    return np.sum(x**2)


def left_early(x):
    k = 0
    while k < 30:
        x = x - 0.1 * (x**3 - 0.2)
        if np.max(np.abs(x**3 - 0.2)) < 0.4:
            return np.sum(x) * k
        k += 1
    return np.sum(x**2)


PROGRAMS = [power_iteration, with_steps_by_error, perhaps_no_pass, one_in_the_other, left_early]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    x = M if f is power_iteration else X
    value, slope = jit(value_and_grad(f))(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(slope, grad(f)(x), rtol=1e-9, atol=1e-12)
    batch = np.stack([x, 0.4 * x, 1.1 * x])
    found = jit(vmap(grad(f)))(batch)
    np.testing.assert_allclose(found, [grad(f)(v) for v in batch], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [perhaps_no_pass, one_in_the_other])
def test_second_derivatives(f):
    np.testing.assert_allclose(jit(hessian(f))(X), hessian(f)(X), rtol=1e-8, atol=1e-10)


def test_nothing_is_appended_to_lists():
    slope = jit(grad(power_iteration))
    slope(M)
    assert "append" not in slope.source()


def test_what_a_pass_says_is_said_once(capsys):
    def told(x):
        while x[0] > 0.5:
            print("pass")  # noqa: T201
            x = x * 0.9
        return np.sum(x)

    jit(grad(told))(X)
    assert capsys.readouterr().out.count("pass") == 5
    assert 0.8 * 0.9**5 < 0.5 < 0.8 * 0.9**4


def test_long_passes_are_made_once():
    def long(x):
        while np.max(x) > 0.5:
            x = x * 0.9
        return np.sum(x)

    slope, x = jit(grad(long)), np.linspace(0.0, 1.0, 100_000)
    np.testing.assert_allclose(slope(x), grad(long)(x))
    assert "for" in slope.source()


def rotated(x):
    a = x.copy()
    for p in range(len(a) - 1):
        for q in range(p + 1, len(a)):
            if abs(a[q, p]) < 1e-14:
                continue
            t, row = a[q, p] / a[p, p], a[p].copy()
            a[p] = row + t * a[q]
            a[q] = a[q] - t * row
    return a[-1, -1]


def back_to_front(x):
    y = x[0].copy()
    for p in range(len(x) - 1, 0, -1):
        for q in range(p, 0, -2):
            y = np.sin(y * x[p]) + y[q - 1] * x[q]
    return np.sum(y**2)


def three_deep(x):
    y = x[0].copy()
    for i in range(len(x)):
        for j in range(i):
            for k in range(j, i + 1):
                y = np.tanh(y + x[i] * x[j, k])
    return np.sum(y)


@pytest.mark.parametrize("f", [rotated, back_to_front, three_deep])
@pytest.mark.parametrize("n", [6, 2, 1])
def test_triangles(f, n):
    x = 5 * np.eye(n) + M[:n, :n]
    slope = jit(grad(f))
    np.testing.assert_allclose(slope(x), grad(f)(x), rtol=1e-9, atol=1e-12)
    if n == 6:
        assert "append" not in slope.source()
        np.testing.assert_allclose(slope(x[:4, :4]), grad(f)(x[:4, :4]), rtol=1e-9, atol=1e-12)
