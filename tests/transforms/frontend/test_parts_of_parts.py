"""Parts of parts: one key where it says the same, in stores too, and NumPy's errors everywhere."""

import numpy as np
import pytest

import tapeless


def element(x, k):
    x = x * 1.0
    inner = x[1:-1]
    inner[2] = x[0] * 3
    inner[-1] *= 2.0
    return np.sum(x**2)


def elements_in_a_loop(x, k):
    x = x * 1.0
    inner = x[1:-1]
    for i in range(len(inner)):
        inner[i] = inner[i] * x[i] + k
    return np.sum(x**2)


def beyond_in_a_loop(x, k):
    x = x * 1.0
    inner = x[1:-1]
    for i in range(k):
        inner[i] = inner[i] * x[0] + 1
    return np.sum(x**2)


def from_its_end(x, k):
    x = x * 1.0
    part = x[2:]
    for i in range(1, 3):
        part[-i] = part[-i] * x[0]
    return np.sum(x**2)


def part_of_a_part(x, k):
    x = x * 1.0
    part = x[1:]
    part[1:-1] = np.sin(part[1:-1]) * x[0]
    part[:k] *= 2.0
    return np.sum(x**2)


def halves(x, k):
    x = x * 1.0
    left, right = x[: len(x) // 2], x[len(x) // 2 :]
    for i in range(len(x) // 2):
        left[i] += np.sin(right[i]) * k
        right[0] = np.sin(left[i]) * x[1]
    return np.sum(x**3)


def steps(x, k):
    x = x * 1.0
    odd = x[1::2]
    odd[0] = x[0] ** 2
    odd[1:] *= k
    return np.sum(x**2)


def columns(x, k):
    a = np.outer(x, x)
    block = a[1:, :-1]
    block[0, 1] = x[2] * k
    block[:, 0] *= 2.0
    block.T[1][:2] += x[0]
    return np.sum(a**2)


FUNCTIONS = [
    element, elements_in_a_loop, beyond_in_a_loop, from_its_end, part_of_a_part, halves, steps,
    columns,
]  # fmt: skip


def outcome(run):
    try:
        return run()
    except IndexError:
        return "IndexError"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy_at_all_lengths(function, compiled):
    both = tapeless.value_and_grad(function)
    both = tapeless.jit(both) if compiled else both
    seen = 0
    for n, k in ((6, 2), (5, 3), (7, 7), (4, 2), (3, 1), (6, 4)):
        x = np.random.default_rng(n).uniform(0.5, 1.5, n)
        want, got = outcome(lambda: function(x, k)), outcome(lambda: both(x, k))  # noqa: B023
        if isinstance(want, str) or isinstance(got, str):
            assert isinstance(want, str)
            assert isinstance(got, str)
            continue
        seen += 1
        np.testing.assert_allclose(got[0], want)
        shifts = np.eye(n) * 1e-6
        slopes = [(function(x + d, k) - function(x - d, k)) / 2e-6 for d in shifts]
        np.testing.assert_allclose(got[1], slopes, rtol=1e-5, atol=1e-7)
    assert seen > 1


def test_elements_of_a_part_are_those_of_the_whole():
    source = tapeless.grad(elements_in_a_loop).source(np.ones(6), 2)
    assert "x[i + 1] = " in source
    assert "x[1:-1]" not in source
