"""Arrays that nobody overwrites are not copied by drivers, and others are."""

import numpy as np
import pytest

from tapeless import grad, jit

N = 20_000  # of this size, arrays are made by drivers


def steps(x):
    for _ in range(3):
        x = x - 0.1 * np.sin(x)
    return x


def some_steps(x, n):
    for _ in range(n):
        x = x - np.mean(x)
    return x


def before_and_after(x):
    first = x
    for _ in range(3):
        x = x - 0.1 * np.sin(x)
    return first, x, x


def in_place(x):
    y = x.copy()
    for k in range(3):
        y[k] = 0.0
        y = y + x[k]
    return y


def stored_to(x):
    y = x.copy()
    x[0] = 5.0
    for _ in range(3):
        y = y * 0.5 + np.sum(x)
    return y


def read_by_numpy(x):
    y = x
    for _ in range(3):
        y = y - 0.1 * np.sin(y)
    return np.sort(y), y


FUNCTIONS = [steps, before_and_after, in_place, stored_to, read_by_numpy]


def arrays(made):
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("step", [1, -1])
def test_values_and_memory(function, step):
    mine, theirs = (np.linspace(0, 1, N)[::step] for _ in range(2))
    want, made = arrays(function(mine)), arrays(jit(function)(theirs))
    for k, (p, q) in enumerate(zip(want, made, strict=True)):
        np.testing.assert_allclose(q, p, rtol=1e-12)
        assert not any(np.shares_memory(q, other) for other in (theirs, *made[:k]))
    np.testing.assert_array_equal(theirs, mine)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loops_that_may_make_no_pass(n):
    x = np.linspace(0, 1, N)
    made = jit(some_steps)(x, n)
    np.testing.assert_allclose(made, some_steps(x, n), rtol=1e-12, atol=1e-15)
    assert not np.shares_memory(made, x)


@pytest.mark.parametrize("function", [steps, lambda x: some_steps(x, 3)])
def test_no_copies(function):
    compiled = jit(function)
    compiled(np.linspace(0, 1, N))
    assert ".copy()" not in compiled.source()


def test_derivatives():
    x = np.linspace(0, 1, N)
    slope = jit(grad(lambda x: np.sum(steps(x) ** 2)))(x)
    np.testing.assert_allclose(slope, grad(lambda x: np.sum(steps(x) ** 2))(x), rtol=1e-12)
