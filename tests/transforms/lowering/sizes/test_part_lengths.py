"""Parts of triangular loops: kernels name their lengths by the index of the loop."""

import numpy as np
import pytest

from tapeless import grad, jit
from tests.transforms.lowering.lists.test_lists_of_numbers import agrees


def forward_substitution(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(np.sin(x))


def backward_substitution(a, b):
    n, x = len(b), b.copy()
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.sum(a[i, i + 1 : n] * x[i + 1 : n])) / a[i, i]
    return np.sum(x**2)


def elimination(a, b):
    a = a.copy()
    for k in range(len(b) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diag(a)))) + b[0]


def covariances(a, b):
    n = a.shape[1]
    c = np.zeros((n, n))
    for i in range(n):
        c[i:n, i] = c[i, i:n] = a[:, i] @ a[:, i:n] / b[0]
    return np.sum(c**2)


def strided(a, b):
    n, y = len(b), b.copy()
    for i in range(1, n):
        y[i:n:2] += a[i, i:n:2] * y[i - 1]
    return np.sum(y)


def as_far_as(a, b, m=4):
    s = np.zeros(len(b))
    for i in range(m):
        s[i:m] += a[i, i:m] * b[i]
    return np.sum(s**2)


PROGRAMS = [
    forward_substitution,
    backward_substitution,
    elimination,
    covariances,
    strided,
    as_far_as,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    rng = np.random.default_rng(3)
    for n in (7, 6):
        agrees(f, rng.random((n, n)) + 3 * np.eye(n), rng.random(n))


def test_what_has_one_length_shares_a_loop():
    rng = np.random.default_rng(0)
    source = jit(grad(covariances)).source(rng.random((6, 5)), rng.random(5))
    assert "max(" not in source  # the length of i:n is n - i
    assert "raise" not in source  # and what is stored there is as long
