"""What makes items of an iterator is run ahead where data says how many are used.

What it sets is not used later, as if that were known: it is refused, or traced.
"""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import TapelessError

R = np.array([0.3, 0.2, 0.6, 0.7])


class Rows:
    def __init__(self, values):
        self.values, self.k = values, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 4:
            raise StopIteration
        self.k += 1
        return self.values[self.k - 1]


def numbered(u, r):
    values = iter([r[k] for k in range(4)])
    for _, v in enumerate(values):
        if u <= v:
            break
    return v + 10 * next(values, 0.0)


def in_pairs(u, r):
    values = iter([r[0], r[1], r[2], r[3]])
    for _, b in zip(values, values, strict=True):
        if u <= b:
            break
    return b + 10 * next(values, 0.0)


def asked_for_any(u, r):
    values = iter([r[0], r[1], r[2], r[3]])
    return any(u <= v for v in values) + 10 * next(values, 0.0)


def first_of_a_generator(u, r):
    values = (r[k] for k in (0, 1, 2, 3))
    return next(v for v in values if u <= v) + 10 * next(values, 0.0)


def position_of_an_object(u, r):
    rows = Rows(r)
    return any(u <= v for v in rows) + 10 * rows.k


def left_and_gone_on_with(u, r):
    rows = Rows(r)
    for v in rows:
        if u <= v:
            break
    return v + 10 * next(rows, 0.0)


def calls_noted(u, r):
    seen = []

    def reached(v):
        seen.append(v)
        return u <= v

    return any(reached(v) for v in [r[0], r[1], r[2], r[3]]) + len(seen)


def last_one_asked(u, r):
    return any(u <= (last := v) for v in [r[0], r[1], r[2], r[3]]) + last


def noted_in_an_array(u, r):
    count = np.zeros(1)

    def reached(v):
        count[0] += 1
        return u <= v

    return all(reached(v) for v in (r[0], r[1], r[2], r[3])) + count[0]


def error_of_a_later_one(u, r):
    def reached(v):
        if v > 0.65:
            raise ValueError("too large")
        return u <= v

    return any(reached(v) for v in (r[0], r[1], r[2], r[3])) * r[0]


@pytest.mark.parametrize(
    "f",
    [
        numbered,
        in_pairs,
        asked_for_any,
        first_of_a_generator,
        position_of_an_object,
        left_and_gone_on_with,
        calls_noted,
        last_one_asked,
        noted_in_an_array,
        error_of_a_later_one,
    ],
)
def test_how_far_it_is_run_is_not_taken_for_known(f):
    with pytest.raises(TapelessError, match=r"items? of an iterator|an iterator is used after"):
        tapeless.jit(f)(0.25, R)
    with tapeless.strict(False), pytest.warns(tapeless.PerformanceWarning):
        assert tapeless.jit(f)(0.25, R) == f(0.25, R)


def index_of_the_first(u, r):
    return next(i for i, v in enumerate([r[0], r[1], r[2]]) if u <= v)


def first_of_two_lists(u, r):
    return next(a * b for a, b in zip([r[0], r[1]], [r[2], r[3]], strict=True) if u <= a + b)


def pair_that_is_first(u, r):
    i, v = next((i, v) for i, v in enumerate(r) if u <= v)
    return i + v


def row_that_is_first(u, r):
    return np.sum(next(row for row in (r[:2], r[2:], r[1:]) if u <= row[0]))


def first_object(u, r):
    return next(rows for rows in [Rows(r), Rows(r * 2)] if u <= rows.values[0]).values[1]


@pytest.mark.parametrize(
    "f",
    [index_of_the_first, first_of_two_lists, pair_that_is_first, row_that_is_first, first_object],
)
@pytest.mark.parametrize("u", [0.25, 0.5])
def test_the_first_item_that_fits(f, u):
    assert np.isclose(tapeless.jit(f)(u, R), f(u, R))
    slope = tapeless.grad(lambda r: 1.0 * f(u, r))(R)
    for k, step in enumerate(1e-6 * np.eye(4)):
        assert np.isclose(slope[k], (f(u, R + step) - f(u, R - step)) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("u", [0.25, 0.5])
def test_next_of_an_object_enters_its_method(u):
    class Halves:
        def __init__(self, x):
            self.x = x

        def __next__(self):
            if self.x < u:
                self.x = 4.0 + self.x
            self.x = self.x / 2
            return self.x

    def f(x):
        halves = Halves(x)
        return next(halves) + 10 * next(halves) + 100 * next(halves)

    assert tapeless.jit(f)(0.7) == f(0.7)
    assert np.isclose(tapeless.grad(f)(0.7), (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)


def test_a_generator_that_a_loop_leaves_ends_there():
    def f(r):
        ended = []

        def values():
            try:
                yield from (r[k] for k in range(4))
            finally:
                ended.append(len(ended))

        for v in values():
            if v > 0.5:
                break
        return v + len(ended)

    with pytest.raises(TapelessError, match="whether this is true"):
        tapeless.jit(f)(R)
    with tapeless.strict(False), pytest.warns(tapeless.PerformanceWarning):
        assert tapeless.jit(f)(R) == f(R)


class Counted:
    """Counts how often it is asked, and how many items it has given."""

    def __init__(self, values):
        self.values, self.asked, self.given = values, 0, 0

    def passes(self, v):
        self.asked += 1
        return v > 0.25

    def items(self):
        for v in self.values:
            self.given += 10
            yield v


def kept(c):
    return sum([v for v in c.values if c.passes(v)])


def kept_of_a_generator(c):
    return sum([v for v in c.items() if c.passes(v)])


def first_numbered(c):
    return next((v for _, v in enumerate(c.values) if c.passes(v)), 0.0)


def first_of_items(c):
    return next(v for v in c.items() if v > 0.25)


def first_of_pairs(c):
    return next(w for v in c.values if c.passes(v) for w in (v, 2 * v) if c.passes(w))


@pytest.mark.parametrize(
    "f", [kept, kept_of_a_generator, first_numbered, first_of_items, first_of_pairs]
)
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_a_test_on_data_is_made_once_for_each_item(f):
    def counted(x):
        c = Counted([x[0], x[1], x[2]])
        return f(c), c.asked, c.given

    for x in (np.array([0.2, 0.3, 0.1]), np.array([0.3, 0.1, 0.4])):
        with tapeless.strict(False):
            assert tapeless.jit(counted)(x) == counted(x)
