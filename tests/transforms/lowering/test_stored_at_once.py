"""What is stored after a copy is stored where it is computed, if nothing else has to see it."""

import numpy as np
import pytest

from tapeless import grad, jit, tree

X = np.random.default_rng(0).normal(size=(40, 30))


def around(x):
    return x[2:, 1:-1] + x[:-2, 1:-1] - x[1:-1, 2:] * x[1:-1, :-2]


def copied(x):
    v = np.sin(around(x))
    y = x.copy()
    y[1:-1, 1:-1] = v
    return y


def in_steps(x):
    for _ in range(5):
        x = copied(x)
    return x


def in_zeros(x):
    v = around(x)
    y = np.zeros_like(x)
    y[1:-1, 1:-1] = v
    return y


def read_again(x):
    """The copy depends on what is computed."""
    v = around(x)
    y = x * np.max(v)
    y[1:-1, 1:-1] = v
    return y, v.sum()


def in_place(x):
    """What is stored to is what was read."""
    v = around(x)
    x[0] = 1.0
    x[1:-1, 1:-1] = v
    return x


def twice(x):
    v = around(x)
    y = x.copy()
    y[1:-1, 1:-1] = v
    w = around(y)
    y[1:-1, 1:-1] = w
    return y, v


def reads_the_copy(x):
    y = x.copy()
    v = around(y)
    y[1:-1, 1:-1] = v
    return y


FUNCTIONS = [copied, in_steps, in_zeros, read_again, in_place, twice, reads_the_copy]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function):
    ours, theirs = function(X.copy()), jit(function)(X.copy())
    for a, b in zip(tree.leaves(ours), tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("function", [copied, in_steps, in_zeros])
def test_slopes(function):
    def total(x):
        return np.sum(function(x) ** 2)

    np.testing.assert_allclose(jit(grad(total))(X), grad(total)(X), rtol=1e-11)


@pytest.mark.parametrize("function", [copied, in_steps, in_zeros])
def test_nothing_is_kept_in_between(function):
    assert "v = empty" not in jit(function).source(X)


def test_rows_at_one_distance_do_not_wait_on_a_gpu():
    source = jit(copied, backend="gpu").source(np.zeros((2000, 3000)))
    assert "team_sync" not in source
