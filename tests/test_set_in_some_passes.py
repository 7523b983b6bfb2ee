"""Variables that only some passes of a loop set: their value goes along, and so does whether."""

from dataclasses import dataclass

import numpy as np
import pytest

import tapeless


def last_row(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            row = table[i]
    return np.sum(row**2)


def changed_row(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            row = table[i] * 2
            row[0] = 1.0
    row[1] += 3.0
    return np.sum(row**2)


def nested(table, bound):
    for i in range(len(table)):
        for j in range(table.shape[1]):
            if table[i, j] > bound:
                at = i * 10.0 + j
                value = table[i, j]
    return at * value


def found_by_while(table, bound):
    i = 0
    while i < len(table):
        if table[i, 0] > bound:
            hit = table[i, 1]
            n = i
        i += 1
    if table[0, 0] > 0:
        return hit * n
    return table[0, 1]


def read_in_a_later_pass(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            hit = table[i, 1]
        if i == len(table) - 1:
            out = hit * 2
    return out


def perhaps_before(table, bound):
    if table[1, 1] > bound:
        k = 1.0
    for i in range(len(table)):
        if table[i, 0] > bound:
            k = table[i, 1]
    return k * table[0, 0]


def read_on_one_side(table, bound):
    if table[0, 0] > bound:
        k = table[0, 1]
    y = k * 2 if table[1, 0] > bound else 0.0
    return y + k


def two_ways(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            _a, b = table[i, 0], table[i, 1]
        elif table[i, 1] > bound:
            b = 2.0 * table[i, 0]
    return b


def by_break(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            hit = table[i, 1] * i
            break
    return hit


def pair(table, bound):
    total = 0.0
    while total < table[0, 0]:
        made = (total, table[0, 1])
        total += 0.7
    return made[0] * made[1]


def of_a_length_of_its_own(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            tail = table[i + 1 :]
    return np.sum(tail**2)


def swapped(table, bound):
    """Every pass sets both."""
    for i in range(len(table)):
        if table[i, 0] > bound:
            a, b = table[i, 0], table[i, 1]
        else:
            b = table[i, 0] * 2
            a = b
        a, b = b, a
    return a - 3 * b


def outcome(function, *args):
    try:
        return function(*args)
    except UnboundLocalError:
        return "not set"


FUNCTIONS = [
    last_row,
    changed_row,
    nested,
    found_by_while,
    read_in_a_later_pass,
    perhaps_before,
    read_on_one_side,
    two_ways,
    by_break,
    pair,
]
TABLES = np.random.default_rng(0).standard_normal((12, 3, 2))
BOUNDS = np.tile([-1.0, 0.0, 0.5, 3.0], 3)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("function", [*FUNCTIONS, of_a_length_of_its_own])
def test_values_and_gradients(function, compiled):
    both = tapeless.value_and_grad(function)
    both = tapeless.jit(both) if compiled else both
    seen = set()
    for table, bound in zip(TABLES, BOUNDS, strict=True):
        want, got = (outcome(f, table.copy(), bound) for f in (function, both))
        seen.add(want == "not set")
        if want == "not set":
            assert got == "not set"
            continue
        np.testing.assert_allclose(got[0], want)
        for place in np.ndindex(table.shape):
            step = np.zeros(table.shape)
            step[place] = 1e-6
            slope = (function(table + step, bound) - function(table - step, bound)) / 2e-6
            np.testing.assert_allclose(got[1][place], slope, rtol=1e-5, atol=1e-7)
    assert seen == {False, True}


@pytest.mark.parametrize("function", [*FUNCTIONS, swapped])
def test_batches(function):
    tables = np.abs(TABLES)
    want = [function(table, 0.0) for table in tables]
    np.testing.assert_allclose(tapeless.vmap(function, (0, None))(tables, 0.0), want)


def without_a_pass(x, n):
    for _ in range(n):
        name, double = "square", lambda v: 2 * v
        x = x * 1.5
    return double(x) if name == "square" else x


def test_what_is_known_while_staging_is_set_by_a_pass_only():
    slope = tapeless.grad(without_a_pass)
    assert slope(2.0, 2) == 2 * 1.5**2
    with pytest.raises(UnboundLocalError):
        slope(2.0, 0)
    assert slope(2.0, 1) == 3.0


def none_without_a_test(table, bound):
    scale = None
    if table[0, 0] > bound:
        scale = table[0, 1]
    return scale * table[1, 0]


def none_returned(table, bound):
    return table[0, 1] if table[0, 0] > bound else None


def in_a_tuple(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            hit = table[i, 1]
    return hit, 1.0


def given_on(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            hit = table[i, 1]
    _other = hit  # reads it, though nobody needs it
    return table[0, 0]


TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.value_and_grad])
def test_none_in_the_place_of_a_number_is_an_error_where_the_program_runs(transform):
    made = transform(none_without_a_test)
    made(TABLE, 0.5)
    with pytest.raises(TypeError, match="'scale' is None here"):
        made(TABLE, 5.0)


@pytest.mark.parametrize("x", [0.5, 5.0])
def test_none_or_a_number_is_a_result_of_jit(x):
    assert tapeless.jit(none_returned)(TABLE, x) == none_returned(TABLE, x)


@pytest.mark.parametrize("function", [in_a_tuple, given_on])
def test_reading_is_enough_to_need_a_value(function):
    made = tapeless.jit(function)
    np.testing.assert_equal(made(TABLE, 0.5), function(TABLE, 0.5))
    with pytest.raises(UnboundLocalError):
        made(TABLE, 5.0)


class Peak:
    def __init__(self, height, place):
        self.height, self.place = height, place

    def doubled(self):
        return 2 * self.height


@dataclass
class Record:
    height: float = 0.0


def object_of_some_passes(table, bound):
    for i in range(len(table)):
        if table[i, 0] > bound:
            peak = Peak(table[i, 1], i)
            peak.height += table[i, 0] ** 2
    return peak.doubled() + peak.place


def object_of_some_inner_passes(table, bound):
    for i in range(len(table)):
        for j in range(table.shape[1]):
            if table[i, j] > bound:
                peak = Peak(table[i, j] ** 2, 10 * i + j)
    return peak.doubled() * peak.place


def record_of_some_inner_passes(table, bound):
    for i in range(len(table)):
        for j in range(table.shape[1]):
            if table[i, j] > bound:
                peak = Record(table[i, j] ** 2)
    return peak.height


def object_under_a_test(table, bound):
    if table[0, 0] > bound:
        peak = Peak(table[0, 1], 0)
    return peak.doubled()


@pytest.mark.parametrize(
    "function",
    [
        *(object_of_some_passes, object_of_some_inner_passes, record_of_some_inner_passes),
        object_under_a_test,
    ],
)
@pytest.mark.parametrize("last", [4.0, 0.2])
def test_objects(function, last):
    table = np.array([[1.0, 2.0], [3.0, 0.3], [last, 0.1]])
    with tapeless.strict(True):
        assert tapeless.jit(function)(table, 0.5) == pytest.approx(function(table, 0.5))
        slopes = tapeless.grad(function)(table, 0.5)
    expected = [
        (function(table + offset, 0.5) - function(table - offset, 0.5)) / 2e-6
        for offset in 1e-6 * np.eye(6).reshape(6, 3, 2)
    ]
    np.testing.assert_allclose(slopes.ravel(), expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(UnboundLocalError):
        tapeless.jit(function)(table, 9.0)
