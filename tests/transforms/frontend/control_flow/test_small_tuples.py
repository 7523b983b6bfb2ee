"""Loops over a few known items whose bodies have loops."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([0.5, 1.2, 0.7])


def steps_that_make_counts(x):
    errs = []
    for h in (0.1, 0.05, 0.025):
        n = round(1 / h)
        y = x[0]
        for _ in range(n):
            y = y + h * y
        errs.append(y)
    return errs


def steps_that_make_lengths(x):
    errs = []
    for h in (0.1, 0.05, 0.025):
        n = round(1 / h)
        t = np.linspace(0, 1, n + 1)
        s = 0.0
        for i in range(n):
            s += h * np.sin(t[i] * x[0])
        errs.append(s)
    return np.array(errs), np.diff(np.log(np.array(errs)))


def functions_beside_numbers(x):
    s = 0.0
    for w, f in [(0.2, np.sin), (0.3, np.cos), (0.5, np.tanh)]:
        for v in x:
            s += w * f(v)
    return s


def a_list_that_is_stored_to(x):
    rows = [x[0], x[1], x[2]]
    s = 0.0
    for r in rows:
        for q in rows:
            s += r * q
        rows[0] = 5.0
    return s


def a_list_that_grows(x):
    rows = [x[0], x[1], x[2]]
    s = 0.0
    for r in rows:
        for q in range(2):
            s += r * q
            if len(rows) < 5:
                rows.append(s)
    return s


def names_beside_numbers(x):
    d = {}
    for name, c in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        t = 0.0
        for v in x:
            t += c * v
        d[name] = t
    return d


def integers_beside_numbers(x):
    s = 0.0
    for a, b, c in [(1.0, 2, 3.0), (4.0, 5, 6.0), (7.0, 8, 9.0)]:
        for i in range(b):
            s += a * c * x[i % 3]
    return s


def rates_that_are_tried(x):
    best = None
    for lr in [0.1, 0.2, 0.3]:
        w = x.copy()
        for _ in range(5):
            w -= lr * 2 * w
        loss = w @ w
        if best is None or loss < best[0]:
            best = (loss, lr)
    return best


def flat(value):
    return np.hstack(
        [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
    )


@pytest.mark.parametrize(
    "function",
    [
        steps_that_make_counts,
        steps_that_make_lengths,
        functions_beside_numbers,
        a_list_that_is_stored_to,
        a_list_that_grows,
        names_beside_numbers,
        integers_beside_numbers,
        rates_that_are_tried,
    ],
)
def test_values(function):
    made, wanted = jit(function)(X), function(X)
    if isinstance(wanted, dict):
        assert list(made) == list(wanted)
        made, wanted = list(made.values()), list(wanted.values())
    np.testing.assert_allclose(flat(made), flat(wanted), rtol=1e-14)


def contracted(x):
    primitives = [(0.17, 0.44), (0.62, 0.54), (3.4, 0.15)]
    total = 0.0
    for a, ca in primitives:
        for b, cb in primitives:
            for c, cc in primitives:
                total += ca * cb * cc * np.exp(-x[0] * a * b / (a + b + c)) * x[1]
    return total


def test_they_are_written_once():
    text = grad(contracted).source(X)
    assert text.count("np.exp(") <= 6
    step = 1e-6 * np.eye(3)
    slopes = [(contracted(X + s) - contracted(X - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(jit(grad(contracted))(X), slopes, rtol=1e-7, atol=1e-9)
