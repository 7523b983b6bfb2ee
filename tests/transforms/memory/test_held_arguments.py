"""Lists that a called function only reads are not copied for the tape that it gives."""

import numpy as np

import tapeless
from tests.corpus.differences import gradient

X = np.array([0.5, 1.5, -0.5, 2.0, 1.0, 0.25])
LABELS = np.array([3, 1, 3, 0, 1, 3])


def keyed(x):
    held = {0: 1.0, 1: x[0], 3: 2.0}
    total = 0.0
    for k, v in zip(LABELS, x, strict=True):
        total += held[k] * v
        held[k] = 0.5 * held[k] + v * v
    return total + sum(held.values())


def test_a_dictionary_is_looked_up_in_place():
    slope = tapeless.grad(keyed)
    np.testing.assert_allclose(slope(X), gradient(keyed, X), rtol=1e-6)
    text = slope.source(X)
    assert ".copy()" not in text
    assert " for p, q in zip(" not in text  # lists are not added up as wholes
    assert text.count("raise KeyError") == 1


def test_what_a_tape_holds_is_copied():
    def product(rows, k):
        part = rows[k]
        return np.sin(part) * np.cos(part) + np.exp(-part) * part + part**3 + np.tanh(part)

    def f(x):
        rows, total = x.copy(), 0.0
        for k in range(3):
            total += np.sum(product(rows, k) * product(rows, k + 1))
            rows[k] = rows[k + 1] * total
            total += np.sum(product(rows, k)) + np.sum(product(rows, k + 2) * product(rows, 0))
        return total

    x = np.linspace(0.1, 0.6, 6)
    np.testing.assert_allclose(tapeless.grad(f)(x), gradient(f, x), rtol=1e-5)
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(f))(x), gradient(f, x), rtol=1e-5)


def falling(q, seed, steps):
    def force(q):
        return q + 0.4 * q**3

    def fall(q):
        p = 1.0
        for _ in range(steps):
            q = q + p
            p = p - 0.1 * force(q)
        return q, force(q)

    generator = np.random.default_rng(seed)
    for _ in range(3):
        generator.standard_normal(q.shape)
        q, _ = fall(q)
    return np.sum(q)


def test_what_a_tape_holds_is_copied_where_its_tangents_follow():
    x, d = np.array([0.5, -0.2]), np.array([1.0, 0.7])
    slope = tapeless.grad(falling)
    differences = (slope(x + 1e-5 * d, 0, 4) - slope(x - 1e-5 * d, 0, 4)) / 2e-5

    def pushed(x, d):
        return tapeless.jvp(lambda q: slope(q, 0, 4), (x,), (d,))[1]

    hessian = tapeless.hessian(falling)(x, 0, 4)
    for product in (pushed(x, d), tapeless.jit(pushed)(x, d), hessian @ d):
        np.testing.assert_allclose(product, differences, rtol=1e-6)
