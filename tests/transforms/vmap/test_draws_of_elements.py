"""Generators that the function makes begin anew for each element of a batch, however often the
others draw."""

import numpy as np
import pytest

import tapeless
from tapeless import jit, vmap

X = np.array([0.3, 0.5, 0.9])


def on_one_side(x, n):
    rng = np.random.default_rng(7)
    total = 0.0
    for _ in range(n):
        if x > 0.4:
            total += rng.random()
        else:
            total += 10.0
    return total


def after_a_test(x, n):
    rng = np.random.default_rng(7)
    total = 0.0
    for _ in range(n):
        k = rng.integers(0, 5)
        if x * k <= 1.0 or rng.random() < np.exp(1.0 - x * k):
            total += 1.0 + k
    return total


def while_it_lasts(x, n):
    rng = np.random.default_rng(n)
    total, steps = x, 0
    while total < 2.0:
        total += rng.random()
        steps += 1
    return total * steps


def flipped(x, n):
    rng = np.random.default_rng(7)
    spins = np.ones((3, 3))
    for _ in range(n):
        i, j = rng.integers(0, 3, 2)
        change = x * spins[i, j]
        if change < 0 or rng.random() < np.exp(-change):
            spins[i, j] *= -1
    return spins


def after_common_draws(x, n):
    rng = np.random.default_rng(7)
    total = np.sum(rng.normal(size=n))
    for _ in range(n):
        if x > 0.4:
            total += rng.random()
    return total


def before_common_draws(x, n):
    rng = np.random.default_rng(7)
    total = 0.0
    for _ in range(n):
        if x > 0.4:
            total += rng.random()
    return total + rng.random()


def of_numpy(x, n):
    np.random.seed(3)
    total = 0.0
    for _ in range(n):
        if x > 0.4:
            total += np.random.rand()
    return total


FUNCTIONS = [on_one_side, after_a_test, while_it_lasts, flipped, after_common_draws]
FUNCTIONS += [before_common_draws, of_numpy]


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_element_draws_as_alone(function, form):
    batched = form(vmap(function, in_axes=(0, None)))
    with tapeless.strict(False):
        np.testing.assert_allclose(batched(X, 6), [function(x, 6) for x in X])


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("function", [on_one_side, after_a_test, while_it_lasts])
def test_nothing_is_traced_under_jit(function):
    batched = jit(vmap(function, in_axes=(0, None)))
    np.testing.assert_allclose(batched(X, 6), [function(x, 6) for x in X])
