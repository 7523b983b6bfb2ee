"""Adjacent branches by one test are one, with the same values and the same errors."""

import functools

import numpy as np
import pytest

from tapeless import grad, jit, value_and_grad, vmap

X = np.array([0.3, -1.2, 2.0])


def twice(x, t):
    flag = t > 0
    y = x * 2 if flag else x * 3
    z = y * np.sin(x) if flag else y * np.cos(x)
    return np.sum(z)


def between(x, t):
    flag = t > 0
    y = x * 2 if flag else x * 3
    w = np.cos(x)
    return np.sum(w * y if flag else w - y)


def nested(x, t):
    if t > 0:
        y = np.sin(x)
    elif t < -1:
        y = x**3
    else:
        y = 2 * x
    return np.sum(x * y)


def in_a_loop(x, t):
    total = 0.0
    for k in range(len(x)):
        y = x[k] * 2 if x[k] > t else -x[k]
        if x[k] > t:
            total += y * x[k]
        else:
            total += np.sin(y)
    return total


def lengths_of_one_arm(x, t):
    flag = t > 0
    y = x[x > 0] if flag else x
    return np.sum(y * y) if flag else np.sum(y)


def _quotients(f, x, t, h=1e-6):
    unit = np.eye(len(x))
    return np.array([(f(x + h * e, t) - f(x - h * e, t)) / (2 * h) for e in unit])


PROGRAMS = [twice, between, nested, in_a_loop, lengths_of_one_arm]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("t", [1.0, -0.5, -2.0])
@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f))])
def test_derivatives_are_those_of_either_side(f, t, transform):
    assert transform(f)(X, t) == pytest.approx(_quotients(f, X, t), rel=1e-6)


@pytest.mark.parametrize(("f", "count"), [(twice, 1), (between, 2), (nested, 1)])
def test_a_derivative_branches_once(f, count):
    """Unless something between the branches reads what the first gives."""
    lines = [line.split() for line in grad(f).source(X, 1.0).splitlines()]
    assert sum(line[:1] == ["if"] for line in lines) == count


def test_elements_of_a_batch_take_their_own_side():
    t = np.array([1.0, -1.0, 0.5])
    rows = np.stack([X, X + 1, X - 1])
    by_row = [value_and_grad(twice)(row, float(s)) for row, s in zip(rows, t, strict=True)]
    values, slopes = vmap(value_and_grad(twice))(rows, t)
    np.testing.assert_allclose(values, [v for v, _ in by_row])
    np.testing.assert_allclose(slopes, [g for _, g in by_row])


def test_what_raises_stays_between_branches():
    def f(x, t, k):
        flag = t > 0
        y = x * 2 if flag else x * 3
        w = x[k]
        return np.sum(y * w if flag else y - w)

    for k in (1, -1):
        slope = grad(f)(X, 1.0, k)
        assert slope == pytest.approx(_quotients(functools.partial(f, k=k), X, 1.0), rel=1e-6)
    with pytest.raises(IndexError):
        grad(f)(X, 1.0, 5)
