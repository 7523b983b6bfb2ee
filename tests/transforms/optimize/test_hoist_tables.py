"""Arrays of constants of which loops read an item are made once, ahead of them."""

import numpy as np

import tapeless

X = np.linspace(0.2, 0.9, 7)


def with_tables(x):
    total = 0.0
    for i in range(len(x)):
        total += np.array([0.5, 0.25, 2.0])[i % 3] * np.sin(x[i])
    for i in range(len(x)):
        total += np.array([0.5, 0.25, 2.0])[(i + 1) % 3] * x[i] ** 2
    return total


def with_zeros_of_both_signs(x):
    total = 0.0
    for i in range(len(x)):
        total += np.copysign(1.0, np.array([0.0, 1.0])[0]) * x[i]
        total += np.copysign(2.0, np.array([-0.0, 1.0])[i % 2]) + 7 // np.array([2, 3])[i % 2]
        total += 7 / np.array([2.0, 3.0])[i % 2]
    return total


def with_arrays_that_are_stored_to(x):
    total = 0.0
    for i in range(len(x)):
        weights, rest = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
        part = weights[1:]
        part[0] += x[i]
        rest[i % 3] *= 2.0
        total += weights[i % 3] * rest[(i + 1) % 3]
    return total


def test_equal_ones_are_made_once():
    text = tapeless.grad(with_tables).source(X)
    assert text.count("np.array(") == 1
    assert text.index("np.array(") < text.index("for ")


def test_values():
    for f in (with_tables, with_zeros_of_both_signs, with_arrays_that_are_stored_to):
        differences = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(len(X))]
        np.testing.assert_allclose(tapeless.grad(f)(X), differences, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(tapeless.jit(f)(X), f(X), rtol=1e-14)


class Pool:
    def __init__(self, level, area):
        self.level, self.area = level, area


def test_what_is_put_back_as_it_was_is_not_stored():
    def chain(levels, n):
        pools = [Pool(levels[i], 1.0 + 0.1 * i) for i in range(n)]
        for i in range(n - 1):
            a, b = pools[i], pools[i + 1]
            flow = 0.1 * (a.level - b.level)
            a.level -= flow / a.area
            b.level += flow / b.area
        return pools[-1].level

    slope = tapeless.grad(chain)
    text = slope.source(X, 7)
    assert "pools_level_bar[i + 1] = " not in text
    differences = [(chain(X + e, 7) - chain(X - e, 7)) / 2e-6 for e in 1e-6 * np.eye(7)]
    np.testing.assert_allclose(slope(X, 7), differences, rtol=1e-7, atol=1e-9)
