"""Stacks have tangents only where values with tangents are pushed to them."""

import numpy as np
import pytest

from tapeless import custom_jvp, jacrev, jvp

V = np.array([-0.5, -0.8, 0.1])


def counted(x, v):
    passes = 0
    while x < 0.5 and passes < 4:
        passes += 1
        x = np.tanh(x)
    return x + np.sum(np.sin(v)) * 0.5


def until_large(x, v):
    total = 0.0
    for k in range(len(v)):
        if total > 0.8:
            break
        total = total + np.sin(v[k]) * x
    return total * np.sum(v)


def in_branches(x, v):
    y = x
    while abs(y) > 0.1:
        y = 0.5 * np.sin(y) if y > 0.2 else 0.4 * y * y
    return y * np.sum(v) + x * x


def of_rows(x, v):
    rows = []
    for e in v:
        if e > -0.6:
            rows.append(e * x)  # noqa: PERF401  # a loop fills a list
    return np.sum(np.sin(np.array(rows)) * x)


def nested(x, v):
    for k in range(2):
        while np.sum(v) < 1.0:
            v = np.sin(v) * 0.5 + 1.0 + k
            x = np.cos(x)
    return np.sum(v) * x


def by_jvp(g):
    """The function with its own forward mode as a rule."""
    ruled = custom_jvp(lambda x, v: g(x, v))
    ruled.defjvp(lambda primals, tangents: jvp(g, primals, tangents))
    return ruled


PROGRAMS = [counted, until_large, in_branches, of_rows, nested]


def in_calls(f):
    """A function that calls another often enough for that to be a function of the program."""

    def both(x, v):
        first, second = f(x, v.copy()), f(0.5 * x, 0.9 * v)
        return np.stack([x, np.sin(first) * second * f(0.8 * x, v.copy()) + f(x * x, 0.7 * v)])

    return both


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_forward_mode_of_a_derivative_is_linear(f):
    slope = jacrev(in_calls(f))
    near, far = (slope(0.27 + h, V)[1] - slope(0.27 - h, V)[1] for h in (1e-3, 2e-3))
    found = jacrev(by_jvp(slope))(0.27, V)
    np.testing.assert_allclose(found, [0.0, (8 * near - far) / 12e-3], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", [counted, in_branches])
def test_a_batch_of_tapes_alone(f):
    """What is batched is on a tape, which does not show how many elements there are."""
    both = in_calls(f)
    values = [both(0.27 + h, V)[1] for h in (-2e-3, -1e-3, 0.0, 1e-3, 2e-3)]
    second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) @ values / 12e-6
    np.testing.assert_allclose(jacrev(jacrev(both))(0.27, V), [0.0, second], rtol=1e-6, atol=1e-9)
