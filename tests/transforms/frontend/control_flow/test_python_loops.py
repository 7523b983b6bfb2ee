"""Long loops of numbers that are known while staging: they are compiled, not run while staging."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import For, While
from tapeless.transforms.errors import TapelessError
from tests.transforms.staging import block_of, every


def triplet():
    for a in range(1, 120):
        for b in range(a, 120):
            if a * a + b * b == 113 * 113:
                return a * 1000 + b
    return 0


def longest_chain():
    best, steps = 0, 0
    for start in range(1, 300):
        n, length = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length += 1
        if length > steps:
            best, steps = start, length
    return best, steps


def counted_up():
    k, total = 0, 0
    while total < 200_000_000:
        total, k = total + k, k + 1
    return k


def shown():
    """Python needs the number in the end."""
    total = 0
    for k in range(12_000):
        total += k % 7
    return [total, int(str(total)[:2])]


@pytest.mark.parametrize("function", [triplet, longest_chain, counted_up, shown])
def test_values_are_those_of_python(function):
    assert tapeless.jit(function)() == function()


@pytest.mark.parametrize("function", [longest_chain, counted_up])
def test_long_ones_stay_loops(function):
    assert list(every(block_of(function), (For, While)))


def test_short_ones_are_run_while_staging():
    def short():
        total = 0
        for k in range(50):
            total += k * k
        return total

    assert not list(every(block_of(short), (For, While)))


def cached_steps(n):
    """Loops inside of one that must be unrolled are not tried to be rolled again and again."""
    steps = {1: 0}
    for start in range(2, n):
        k, count = start, 0
        while k not in steps:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            count += 1
        steps[start] = count + steps[k]
    return max(steps.values())


def known_then_data(x, n):
    """The inner loop meets data after it was run with known numbers many times."""
    weights, table = [1.0] * 10, {}
    for k in range(10):
        total = 0.0
        for j in range(3):
            total += weights[k] * j
        table[k] = total
        if k == 7:
            weights[8] = x
    return table[7] + table[8]


def waits_for_data(x):
    counts, limit = {}, 3.0
    for k in range(9):
        n, limit = 0.0, x if k == 8 else limit
        while n < limit:
            n += 1.0
        counts[k] = n
    return counts[7] + counts[8]


@pytest.mark.parametrize(
    ("function", "args"),
    [(cached_steps, (200,)), (known_then_data, (2.0, 10)), (waits_for_data, (5.5,))],
)
def test_loops_in_unrolled_loops(function, args):
    assert tapeless.jit(function)(*args) == function(*args)


def test_data_that_comes_late_is_rolled():
    assert list(every(block_of(waits_for_data, 5.5), While))


def test_derivatives_where_data_comes_late():
    assert tapeless.grad(known_then_data)(2.0, 10) == 3.0


def test_a_walrus_is_evaluated_once_a_pass():
    def walks():
        found = {}
        for start in range(8):
            numbers, k = itertools.count(start), 0
            while (k := next(numbers)) % 5:
                found[start] = k
        return found

    assert tapeless.jit(walks)() == walks()


TIMES = np.array([0.15, 0.35, 0.6, 0.8])


def steps(y):
    state, at = (y, 0 * y, np.zeros((2, y.size))), 0.0
    found = np.zeros(TIMES.shape[0])
    for k in range(TIMES.shape[0]):
        while TIMES[k] > at:
            slopes = np.zeros((2, y.size))
            slopes[0] = state[1]
            slopes[1] = -state[0]
            new = state[0] + 0.1 * slopes[1]
            if new.sum() > -100:
                state = (new, slopes[1], slopes)
            at += 0.1 * np.cos(new[0])
        found[k] = state[0].sum() + state[2][0].sum()
    return found


def test_memory_that_two_names_share_in_a_loop_inside_lets_the_outer_one_settle():
    compiled = tapeless.jit(steps)
    assert compiled.source(np.ones(3)).count("while ") == 1
    np.testing.assert_allclose(compiled(np.ones(3)), steps(np.ones(3)), rtol=1e-14)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_many_passes_each_inside_of_the_test_before():
    def f(w):
        r = (w,)
        for _ in range(150):
            r = (r[0] * 0.5, *r)
            if r[0] < 0.01:
                break
        return r[0] + len(r)

    xs = np.array([0.3, 0.9])
    told = "each inside of|do not fit together"  # by how deep the run may call
    with tapeless.strict(True), pytest.raises(TapelessError, match=told):
        tapeless.vmap(f)(xs)
    with tapeless.strict(False):
        np.testing.assert_allclose(tapeless.vmap(f)(xs), [f(x) for x in xs])
