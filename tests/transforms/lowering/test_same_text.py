"""The same program has the same text each time: the cache of machine code relies on it."""

import numpy as np

from tapeless import grad, jit
from tapeless.transforms.core.language import Var


def diffused(rate=0.2):
    def f(u0):
        n = u0.shape[0]
        u = u0.copy()
        old = np.zeros(n)
        for _ in range(500):
            for i in range(n):
                old[i] = u[i]
            for i in range(1, n - 1):
                near = old[i + 1] - 2 * old[i] + old[i - 1]
                u[i] = old[i] - rate * old[i] * (old[i] - old[i - 1]) + 0.1 * near
        total = 0.0
        for i in range(n):
            total += u[i] * u[i]
        return total

    return f


def test_text_does_not_depend_on_addresses():
    kept = []  # so that addresses differ
    texts = set()
    for k in range(6):
        kept.append([Var(None) for _ in range(k)])
        texts.add(jit(grad(diffused())).source(np.ones(5)))
    assert len(texts) == 1


def test_gradient_of_a_stencil_in_place():
    def f(u):
        old = np.zeros(len(u))
        for _ in range(3):
            for i in range(len(u)):
                old[i] = u[i]
            for i in range(1, len(u) - 1):
                u[i] = old[i] - 0.2 * old[i] * (old[i] - old[i - 1]) + old[i + 1]
        return np.sum(u)

    x, step = np.linspace(0, 1, 7), 1e-6
    for k, slope in enumerate(jit(grad(f))(x.copy())):
        e = step * (np.arange(7) == k)
        assert abs(slope - (f(x + e) - f(x - e)) / (2 * step)) < 1e-7
