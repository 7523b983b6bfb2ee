"""What a loop computes twice is saved once."""

import numpy as np

from tapeless import grad
from tapeless.test_util import check_grads


def energy(x, n):
    for _ in range(n):
        a = np.exp(0.1 * x) * x
        b = np.exp(0.1 * x) + np.sin(x)
        x = a / b
    return np.sum(x)


def branches(x, n):
    for k in range(n):
        t = np.exp(-x)
        if np.sum(x) > k:
            x = x * np.exp(-x) + t
        else:
            x = np.exp(-x)
            x = x - np.sin(t)
    return np.sum(x)


def squares(x, n):
    for _ in range(n):
        x = np.sin(x) ** 2 + np.sin(x) / (1 + x**2)
    return np.sum(x)


def changed(x, n):
    """The same text, of memory that has changed."""
    x = x.copy()
    for _ in range(n):
        a = np.exp(0.1 * x)
        x[0] = 2 * x[1]
        x += a * np.exp(0.1 * x)
    return np.sum(x)


X = np.linspace(0.2, 1.4, 5)


def test_a_value_has_one_array():
    text = grad(energy).source(X, 3)
    assert text.count("exp(") == 1
    assert text.count("_saved = ") <= 3


def test_squares_are_not_saved():
    assert "power" not in grad(squares).source(X, 3)


def test_derivatives():
    for f in (energy, branches, squares, changed):
        check_grads(lambda x, f=f: f(x, 3), (X,), order=2, modes=("rev", "fwd"))
