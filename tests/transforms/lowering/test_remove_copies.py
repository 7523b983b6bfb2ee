"""Arrays that nobody overwrites are not copy_of by drivers, and others are."""

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


def in_its_own_place(a, w):
    a[:] = np.reshape(np.reshape(a, (-1, a.shape[2])) @ w, a.shape)


def stored_to_before(a, w):
    b = a.reshape(-1, a.shape[2])
    a[0] = 0.0
    return b @ w


def read_before_and_after(a, w):
    b = np.diagonal(a[:, :, 0])
    first = np.sort(b)
    a[:, :, 0] = 5.0
    return first, b + 1, np.sort(a.reshape(-1, a.shape[2]), axis=0)


@pytest.mark.parametrize("n", [4, 60])
@pytest.mark.parametrize(
    "function",
    [in_its_own_place, stored_to_before, read_before_and_after],
    ids=lambda f: f.__name__,
)
def test_views_of_what_is_stored_to(function, n):
    a, w = np.random.default_rng(0).normal(size=(n, n, n)), np.eye(n)[::-1] * 2.0
    ours = a.copy()
    values, expected = jit(function)(ours, w), function(a, w)
    np.testing.assert_allclose(ours, a)
    if expected is not None:
        for x, y in zip(arrays(values), arrays(expected), strict=True):
            np.testing.assert_allclose(x, y)


def test_a_library_call_reads_a_view_where_it_is():
    a, w = np.ones((60, 60, 60)), np.eye(60)
    driver = jit(in_its_own_place).source(a, w).rpartition("\ndef ")[2]
    assert "copy_of(" not in driver
    assert ".copy()" not in driver
