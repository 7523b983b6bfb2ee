"""Lists: ordinary ones while their length is known, stacks when a rolled loop appends to them."""

# ruff: noqa: PERF401, RUF005 (lists that loops append to, and sums of lists, are what is tested)

from collections import deque

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import For, While
from tests.corpus.differences import gradient
from tests.transforms.staging import block_of, close_to, every, lets, slope

V = np.array([0.3, -0.5, 0.9])


def stacked(v, n):
    kept = []
    for k in range(n):
        v = np.sin(v) + k
        kept.append(v)
    return np.sum(np.stack(kept) ** 2)


def started(v, n):
    kept = [v * 2]
    for _ in range(n):
        kept.append(np.tanh(kept[-1]))
    return np.sum(np.array(kept)) + np.sum(kept[0] * kept[-1])


def read_back(v, n):
    kept = [0.0]
    for k in range(n):
        kept.append(v[k % 3] * (k + 1))
    return kept[1] * kept[n] + len(kept)


def popped(v, n):
    stack = []
    for k in range(n):
        stack.append(v * k)
    total = 0.0
    for _ in range(n):
        total = total * 0.5 + np.sum(stack.pop())
    return total


def by_data(v, n):
    kept = [v[0]]
    while len(kept) < 20 and kept[-1] < n:
        kept.append(kept[-1] * 2 + 0.1)
    return np.sum(np.array(kept))


def pairs(v, n):
    kept = []
    for k in range(n):
        kept.append((v[0] * k, v[1:] + k))
    return kept[1][0] * np.sum(kept[n - 1][1])


def iterated(v, n):
    kept = []
    for k in range(n):
        kept.append(v[0] * k + v[1])
    total = 0.0
    for e in kept:
        total = total + e * e
    return total


def known(v, n):
    kept = [v]
    kept.append(v * 2)
    kept.extend([v * 3, v * 4])
    kept += [v]
    kept.insert(1, v * 5)
    kept.reverse()
    del kept[0]
    last = kept.pop()
    both = [*kept, last] + kept[1:3] * 2
    both[0] = both[-1] * both[1]
    return sum(np.sum(e) for e in both) * len(both)


@pytest.mark.parametrize(
    "function", [stacked, started, read_back, popped, by_data, pairs, iterated, known]
)
def test_values_and_gradients(function):
    value, grad = tapeless.value_and_grad(function)(V, 4)
    close_to(value, function(V.copy(), 4))
    close_to(grad, slope(lambda v: function(v, 4), V), 1e-6)


@pytest.mark.parametrize("function", [stacked, started, read_back, iterated])
def test_the_loop_stays_a_loop(function):
    block = block_of(function, V, 4)
    assert len(list(every(block, For))) >= 1
    assert lets(block, "new_stack") or lets(block, "zeros")
    assert len(list(every(block))) == len(list(every(block_of(function, V, 400))))


def test_a_list_by_data_stays_a_while():
    assert list(every(block_of(by_data, V, 4), While))


def test_a_list_whose_length_is_known_makes_no_stack():
    block = block_of(known, V, 4)
    assert not lets(block, "new_stack")
    assert not list(every(block, For))


def test_elements_are_what_they_were_when_appended():
    """NumPy keeps references: a store after the append is seen through the list."""

    def shared(v):
        kept = []
        row = v * 2
        for k in range(3):
            kept.append(row.copy())
            row[0] = row[0] + k
        return np.sum(np.array(kept)[:, 0] * np.arange(3.0))

    close_to(tapeless.grad(shared)(V), slope(shared, V), 1e-6)


def mixed(v, n):
    kept = []
    for k in range(n):
        kept.append(v if k < 1 else (v, v))
    return kept


def changing(v, n):
    kept = []
    for _ in range(n):
        kept.append(v)
        v = np.sum(v)
    return np.sum(kept[0])


def middle(v, n):
    kept = []
    for k in range(n):
        kept.append(v * k)
    return np.sum(kept.pop(1)) + np.sum(kept[1])


def test_elements_are_taken_from_the_middle():
    assert tapeless.jit(middle)(V, 4) == middle(V, 4)


def test_a_slice_is_stored_to():
    def part(v, n):
        kept = []
        for k in range(n):
            kept.append(v * k)
        kept[1:2] = [v]
        return np.sum(kept[1])

    assert tapeless.jit(part)(V, 4) == part(V, 4)


def test_a_list_that_a_loop_left_empty_is_not_stacked():
    def f(x, n):
        rows = []
        for t in range(n):
            rows.append(x * t)
        return np.sum(np.stack(rows) ** 2)

    x = np.ones(2)
    for transformed, expected in ((tapeless.grad(f), [10.0, 10.0]), (tapeless.jit(f), 10.0)):
        np.testing.assert_allclose(transformed(x, 3), expected)
        with pytest.raises(ValueError, match="need at least one array to stack"):
            transformed(x, 0)
        np.testing.assert_allclose(transformed(x, 3), expected)


def test_a_list_that_a_loop_left_empty_is_an_array_without_rows():
    def f(x, n):
        rows = []
        for t in range(n):
            rows.append(x * t)
        return np.array(rows)

    compiled = tapeless.jit(f)
    for n in (3, 0, 2):
        found, expected = compiled(np.ones(2), n), f(np.ones(2), n)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
        assert tapeless.vjp(f, np.ones(2), n)[0].shape == expected.shape


def powers_of_a_matrix(a, v, n):
    rows = [v]
    for _ in range(n):
        rows.append(a @ rows[-1])
    return np.array(rows)


def test_lengths_that_are_equal_in_this_call_are_relied_on():
    made = tapeless.jit(powers_of_a_matrix)
    for n in (3, 4):
        a, v = np.cos(np.arange(n * n)).reshape(n, n), np.arange(n) + 1.0
        np.testing.assert_allclose(made(a, v, 3), powers_of_a_matrix(a, v, 3))
    with pytest.raises(ValueError, match="lengths differ"):
        made(np.ones((3, 4)), np.ones(4), 2)


def without_inputs(x):
    """What is None at each step, in a loop beside what is not."""
    inputs, total = [None] * len(x), 0.0
    for v, u in zip(x, inputs, strict=True):
        total = total + v * v
        if u is not None:
            total = total + u
    return total


def filled_later(x):
    values = [None] * len(x)
    for k in range(len(x)):
        values[k] = x[k] * 2
    return np.sum(np.array(values) ** 2)


def filled_in_part(x):
    values, total = [None] * len(x), 0.0
    for k in range(len(x)):
        if x[k] > 0:
            values[k] = x[k] * 2
    for v in values:
        if v is not None:
            total += v
    return total


def back_through_places(x):
    before = [None] * len(x)
    for k in range(1, len(x)):
        before[k] = k - 1
    k, total = len(x) - 1, 0.0
    while k is not None:
        total += x[k] ** 2
        k = before[k]
    return total


@pytest.mark.parametrize("f", [without_inputs, filled_later, filled_in_part, back_through_places])
def test_lists_of_none(f):
    compiled = tapeless.jit(f)
    for x in (np.array([0.5, -1.0, 2.0, 0.25]), np.array([-0.5, 1.5])):
        assert compiled(x) == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(tapeless.grad(f)(x), gradient(f, x), rtol=1e-5, atol=1e-8)


def test_a_list_of_none_is_as_long_as_the_program_finds():
    x = np.arange(1.0, 6.0)
    assert "unrolled" not in tapeless.jit(without_inputs).stages(x)["notes"]


def extended(x):
    kept = [x[0]]
    kept.extend(v * len(kept) for v in x if v > 0)  # each item sees those before it
    kept += (v * v for v in x if v < 1)
    return sum(kept) + len(kept)


def last_of_a_deque(x):
    kept = deque((v for v in x if v > 0), maxlen=2)
    return kept[0] + 3 * kept[-1] + len(kept)


def deque_of_a_list(x):
    kept = deque([v * v for v in x if v > 0], maxlen=2)
    kept.extend(v for v in x if v < 0)
    return kept[0] + 3 * kept[-1] + len(kept)


@pytest.mark.parametrize("f", [extended, last_of_a_deque, deque_of_a_list])
def test_lists_are_extended_by_what_passes_a_test(f):
    for x in (np.array([0.5, -0.3, 1.25, 0.75, -1.0]), np.array([0.5, -0.25, 0.7])):
        assert tapeless.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(tapeless.grad(f)(x), gradient(f, x), rtol=1e-5, atol=1e-8)


def a_list_and_a_tuple(x):
    return ([x] + (x,))[0]


def a_tuple_and_a_list(x):
    return ((x,) + [x])[0]


def a_text_and_a_list(x):
    return ("no" + [x])[2]


def a_filled_list_and_a_range(x):
    filled = [k * x for k in range(20) if k * x > 1.1]
    return (filled + range(2))[0]


def a_range_and_a_list(x):
    return (range(2) + [x])[0]


@pytest.mark.parametrize(
    "function",
    [
        a_list_and_a_tuple,
        a_tuple_and_a_list,
        a_text_and_a_list,
        a_filled_list_and_a_range,
        a_range_and_a_list,
    ],
)
def test_what_is_no_list_is_not_added_to_one(function):
    with pytest.raises(TypeError) as python:
        function(0.7)
    with pytest.raises(TypeError) as staged:
        tapeless.jit(function)(0.7)
    assert str(staged.value).splitlines()[0] == str(python.value)
