"""The work of a call follows from lengths and integers alone."""

import numpy as np
import pytest

import tapeless.numpy as jnp
from tapeless import jit


def additions(function, *args):
    """The work of a call, by its specialisation."""
    program = jit(function)
    program(*args)
    hand_over = program.last.hand_over
    return hand_over.plan(hand_over.work.signature(args), args).additions


def repeated(x, n):
    for _ in range(n):
        x = jnp.tanh(x)
    return x


def until_small(x):
    while jnp.max(x) > 1e-3:
        x = 0.5 * x
    return x


def test_elementwise_work_grows_with_the_array():
    small, large = (additions(lambda x: x * 2.0 + 1.0, jnp.ones(n)) for n in (1000, 10_000))
    assert large == 10 * small


def test_transcendental_functions_cost_more():
    x = jnp.ones(1000)
    assert additions(lambda x: jnp.sin(x), x) > 2 * additions(lambda x: x + 1.0, x)


def test_a_product_counts_less_than_its_operations():
    work = additions(lambda x: x @ x, jnp.ones((100, 100)))
    assert 2e6 / 32 < work < 2e6


@pytest.mark.parametrize("kind", [int, np.int64])
def test_passes_that_an_integer_says_count(kind):
    x = jnp.ones(1000)
    few, many = (additions(repeated, x, kind(n)) for n in (10, 1000))
    assert 50 * few < many < 200 * few


def test_passes_that_elements_decide_count_once():
    work = additions(until_small, jnp.ones(1000))
    assert work < 20_000


def test_integers_that_decide_nothing_are_not_looked_at():
    program = jit(lambda x, k: x * k)
    program(jnp.ones(5), 3)
    assert not program.last.hand_over.work.integers
    program = jit(repeated)
    program(jnp.ones(5), 3)
    assert program.last.hand_over.work.integers == [1]
