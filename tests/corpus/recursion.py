"""Recursion and mutual recursion, whose depth depends on integers and sizes."""

import numpy as np

from tests.corpus import definite, normal, program, uniform


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


@program(0.9, 11)
def power_by_halving(x, n):
    return power(x, n)


def continued_fraction(x, depth):
    return 1 + x / continued_fraction(x, depth - 1) if depth else 1.0


@program(0.6, 5)
def static_depth(x, depth):
    return continued_fraction(x, depth)


def is_even(n, x):
    return x if n == 0 else is_odd(n - 1, np.sin(x))


def is_odd(n, x):
    return -x if n == 0 else is_even(n - 1, x**2)


@program(0.8, 5)
def mutual_static(x, n):
    return is_even(n, x) + is_odd(n, x)


@program(definite(4))
def determinant_by_minors(a):
    if a.shape[0] == 1:
        return a[0, 0]
    total = 0.0
    for j in range(a.shape[1]):
        minor = np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1)
        total += (-1) ** j * a[0, j] * determinant_by_minors(minor)
    return total


@program(normal(5))
def pairwise_sum(x):
    n = len(x)
    if n <= 2:
        return np.sum(np.sin(x))
    return pairwise_sum(x[: n // 2]) * 0.9 + pairwise_sum(x[n // 2 :])


def tree_energy(tree):
    if not isinstance(tree, tuple):
        return tree**2
    left, right = tree
    return tree_energy(left) + np.sin(tree_energy(right))


@program(((0.3, 0.8), (1.2, (0.5, -0.4))))
def over_a_tree(tree):
    return tree_energy(tree)


@program(uniform(4), 3)
def haar(x, levels):
    if levels == 0 or len(x) == 1:
        return x
    average, detail = (x[::2] + x[1::2]) / 2, (x[::2] - x[1::2]) / 2
    return np.concatenate([haar(average**2, levels - 1), detail])


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(0.7)
def integers_recurse(x):
    return x ** ackermann(1, 2) * ackermann(2, 1)


def _grown(x, depth):
    return x if depth == 0 else _grown(0.5 * x, depth - 1) + _grown(np.sin(x), depth - 1)


@program(0.3, 11, wrt=(0,))
def thousands_of_known_calls(x, depth):
    return _grown(x, depth)
