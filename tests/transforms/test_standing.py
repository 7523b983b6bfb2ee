"""Elements of an array that loops fill are read again where they still stand, else saved."""

import itertools
import random

import numpy as np
import pytest

import tapeless
from tests.transforms.staging import close_to, lets, slope

U = np.array([0.3, -0.7, 0.9, 1.2, 0.4, 0.8])


def recurrent(u):
    h = np.zeros((len(u) + 1, 3))
    for t in range(len(u)):
        h[t + 1] = np.tanh(u[t] - 0.5 * h[t])
    return np.sum(h[-1])


def trajectory(u):
    out = np.empty((4, len(u)))
    for i in range(4):
        out[i] = u
        u = u + 0.1 * np.sin(u) * u
    return np.sum(out * out)


def elimination(u):
    a = np.outer(u, u) + 3 * np.eye(len(u))
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(np.log(np.diag(a)))


def backwards(u):
    x = u.copy()
    for i in reversed(range(len(u) - 1)):
        x[i] = u[i] * np.cos(x[i + 1])
    return np.sum(x)


def two_steps(u):
    x = u.copy()
    for i in range(len(u) - 2):
        x[i + 2] = np.sin(x[i]) * x[i + 1]
    x[-1] = x[-1] * x[0]
    return np.sum(x)


def on_one_side(u):
    x = np.zeros(len(u))
    for i in range(len(u)):
        if u[i] > 0:
            x[i] = np.exp(u[i])
        else:
            x[i] = np.sin(u[i])
    return np.sum(x * x)


def levels(u):
    """Steps of an implicit scheme, each level from the one before."""
    n = len(u)
    w = np.zeros((4, n))
    w[0] = u
    for t in range(1, 4):
        for i in range(1, n - 1):
            w[t, i] = w[t - 1, i] + 0.1 * w[t, i - 1] * w[t - 1, i + 1]
    return np.sum(w[-1] ** 2)


def around_the_end(u):
    """The first pass reads the last element, which the last pass overwrites."""
    x = u.copy()
    for i in range(len(u)):
        x[i] = np.sin(x[i - 1])
    return np.sum(x)


def overwritten(u):
    x = u.copy()
    for i in range(1, len(u)):
        x[i - 1] = np.sin(x[i]) * x[i - 1]
    return np.sum(x * x)


def overwritten_later(u):
    x = u.copy()
    for i in range(1, len(u)):
        x[i] = np.sin(x[i - 1])
    for i in range(len(u)):
        x[i] = x[i] * u[i]
    return np.sum(x)


def at_places_from_data(u):
    x = u.copy()
    k = np.argsort(u)
    for i in range(1, len(u)):
        x[k[i]] = np.sin(x[k[i - 1]])
    return np.sum(x)


def two_arrays(u):
    """Which array the name stands for changes from pass to pass."""
    x, y = u.copy(), 2 * u
    for i in range(1, len(u)):
        x[i] = np.sin(x[i - 1])
        x, y = y, x
    return np.sum(x * y)


def while_loop(u):
    x = u.copy()
    i = 1
    while i < len(u):
        x[i] = np.sin(x[i - 1])
        i += 1
    return np.sum(x)


def on_one_side_only(u):
    """The version with the value is not the one that other code goes on with."""
    x = np.zeros(3)
    x[0] = 0.5 * u[1]
    if u[1] < 0:
        x[0] = np.tanh(u[1])
        x[:] += x
    return np.sum(x * x)


def doubled_on_one_side(u):
    first, second = u[0], u[1]
    u[0] *= 0.5
    if second < 0:
        u[0] = np.tanh(second * first)
        u[:] += u
    return np.sum(u * u)


def and_thrown_away(u):
    x = u.copy()
    x[1:3] = 0.5
    y = x.copy()
    for i in range(3):
        if u[i] > 0:
            y[i] = np.tanh(u[i])
            y = np.sin(y)
    x[1] = np.exp(u[1])
    return np.sum(x * y)


def in_a_row(u):
    x = np.outer(u, u)
    x[1] = 2.0 * u
    while x[0, 0] < 0.5:
        x[1] = np.exp(0.1 * u)
        x[2, 1:] = np.tanh(u[:-1])
        x = x * 1.5 + 0.1 * x[1]
    return np.sum(x * x)


READ_AGAIN = [recurrent, trajectory, elimination, backwards, two_steps, on_one_side, levels]
SAVED = [
    around_the_end,
    overwritten,
    overwritten_later,
    at_places_from_data,
    while_loop,
]
APART = [on_one_side_only, doubled_on_one_side, and_thrown_away, in_a_row]


def saves(function):
    block = tapeless.grad(function).specialise((U,), {}).simplified
    names = [v.name for op in ("empty", "new_stack") for s in lets(block, op) for v in s.outs]
    return [name for name in names if name.endswith("_saved")]


@pytest.mark.parametrize("function", READ_AGAIN)
def test_what_still_stands_is_read_again(function):
    assert not [name for name in saves(function) if not name.startswith(("test", "sin"))]


@pytest.mark.parametrize("function", SAVED)
def test_what_is_overwritten_is_saved(function):
    assert saves(function)


@pytest.mark.parametrize("function", [*READ_AGAIN, *SAVED, *APART, two_arrays])
def test_gradients_are_right(function):
    close_to(tapeless.grad(function)(U), slope(function, U), 1e-6)
    close_to(tapeless.jit(tapeless.grad(function))(U), tapeless.grad(function)(U), 1e-12)
    hessian = tapeless.jacfwd(tapeless.grad(function))(U)
    close_to(hessian, tapeless.jacfwd(tapeless.jacfwd(function))(U), 1e-9)


def test_arrays_of_another_dtype_do_not_hold_the_value():
    def f(u):
        x = np.zeros(len(u), np.float32)
        y = u[0]
        for i in range(len(u)):
            y = np.sin(y * u[i])
            x[i] = y
        return y + np.sum(x)

    assert saves(f)
    close_to(tapeless.grad(f)(U), slope(f, U, 1e-3), 1e-2)


# -- random indices

STEPS = [1, 2, -1, -2]


def one_loop(choose):
    """A loop over one axis: where it reads and stores, from where to where it runs."""
    store, *read = (choose(range(-2, 3)) for _ in range(4))
    first, last, step = choose(range(3)), choose(range(3)), choose(STEPS)
    scale = choose([0.0, 0.5])

    def f(u):
        x = u.copy()
        n = len(u)
        for i in indices(n, first, last, step):
            t = np.sin(x[i + read[0]]) * x[i + read[1]]
            x[i + store] = scale * x[i + store] + t
            t = t * x[i + read[2]]
        return np.sum(x * x)

    return f


def loops_over_a_matrix(choose):
    """Nested loops, as of a factorisation: each index is one of the loops', moved by some."""
    rows, columns = ([choose(range(3)) for _ in range(4)] for _ in range(2))
    down, right = ([choose((0, 0, 0, 1, -1)) for _ in range(4)] for _ in range(2))
    starts = [choose(range(3)) for _ in range(2)]
    late = choose([False, True])

    def f(u):
        a = np.outer(u, u) + 1
        n = len(u) - 1
        for k in range(1, n):
            for i in range((0, k, k + 1)[starts[0]], n):
                at = [(k, i, 1)[r] + d for r, d in zip(rows, down, strict=True)]
                to = [(k, i, 1)[c] + d for c, d in zip(columns, right, strict=True)]
                a[at[0], to[0]] = a[at[1], to[1]] * np.sin(a[at[2], to[2]])
                if late:
                    for j in range((0, k, k + 1)[starts[1]], n):
                        a[at[3], j] = a[at[3], j] * 0.5 + np.cos(a[j, to[3]])
        return np.sum(a[1:] * a[:-1])

    return f


def loops_in_passes(choose):
    """Two loops over an array that each pass of a loop around makes anew, or one that it keeps."""
    store, read = ([choose(range(-2, 3)) for _ in range(4)] for _ in range(2))
    bounds = [(choose(range(3)), choose(range(3))) for _ in range(2)]
    steps = [choose(STEPS) for _ in range(2)]
    anew, reset = choose([True, True, False]), choose([True, False])

    def f(u):
        x = u.copy()
        n = len(u)
        for t in range(3):
            if anew:
                x = 0.5 * x + u * 0.3
            for i in indices(n, *bounds[0], steps[0]):
                x[i + store[0]] = 0.5 * np.sin(x[i + read[0]]) * x[i + read[1]]
            if reset:
                x[1] = 0.25 * t
            for i in indices(n, *bounds[1], steps[1]):
                x[i + store[1]] = x[i + read[2]] * np.cos(x[i + read[3]])
        return np.sum(x * x)

    return f


def indices(n, first, last, step):
    return range(first, n - last, step) if step > 0 else range(n - 1 - last, first - 1, step)


@pytest.mark.parametrize(
    ("make", "seed"),
    list(itertools.product([one_loop, loops_over_a_matrix, loops_in_passes], range(40))),
)
def test_random_indices(make, seed):
    f = make(random.Random(seed).choice)
    try:
        f(U)
    except IndexError:
        return
    direction = np.cos(np.arange(len(U)))
    _, expected = tapeless.jvp(f, (U,), (direction,))
    close_to(tapeless.grad(f)(U) @ direction, expected, 1e-9)
