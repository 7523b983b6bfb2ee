"""Variables of loops that get another list, made of theirs: other names keep what they have."""

# ruff: noqa: RUF005 (programs as users write them)
import numpy as np
import pytest

import tapeless

X = np.array([0.37, 0.91, -0.42, 0.65, 0.13])


def two_names(x, p, n):
    a, b = [v for v in x], [p, p]  # noqa: C416
    for _ in range(n):
        b = b + [1.0]
        a = b
    return np.sum(np.array(a)) + len(a)


def in_order(x, p, n):
    a, b = [v for v in x], [p]  # noqa: C416
    for _ in range(n):
        b = b + [sum(b)]
        b = sorted(b)
        a = b
    return np.sum(np.array(a))


def of_a_filtered_one(x, p, n):
    a, b = [v for v in x if v > 0.0], [p, p]
    for _ in range(n):
        b = b + [1.0]
        a = b
    return sum(a)


def appended_to_first(x, p, n):
    b = [p]
    for i in range(n):
        b.append(1.0)
        b = b + [x[i % 5]]
    return sum(b) + len(b)


def appended_to_by_another_name(x, p, n):
    b = [p]
    c = b
    for i in range(n):
        b = b + [x[i % 5]]
        c.append(b[-1])
    return sum(b) + 2 * sum(c) + len(c) * 10


def kept_before(x, p, n):
    b = [p]
    c = b
    d = [b, c]
    for i in range(n):
        c = b
        b = [x[i % 5]] + b
        c.append(0.5)
    return sum(b) + 2 * sum(c) + sum(len(e) for e in d)


def of_arrays_that_are_stored_to(x, p, n):
    b = [np.array([p, 1.0])]
    for i in range(n):
        v = b[-1] * x[i % 5]
        b = b + [v]
        v[0] += 3.0
    return sum(np.sum(e) for e in b)


def in_a_dict(x, p, n):
    state = {"path": [p], "length": 0}
    for i in range(n):
        state["path"] = state["path"] + [x[i % 5] * state["path"][-1]]
        state["length"] += len(state["path"])
    return sum(state["path"]) + state["length"]


class Walk:
    def __init__(self, p):
        self.history = [p]

    def go(self, v):
        self.history = self.history + [v * self.history[0]]


def in_an_object(x, p, n):
    walk = Walk(p)
    for i in range(n):
        walk.go(x[i % 5])
    return sum(walk.history) + len(walk.history)


def of_tuples(x, p, n):
    b = [(p, 0)]
    for i in range(n):
        b = b + [(x[i % 5], i)]
    return sum(u * w for u, w in b)


def all_of_them_kept(x, p, n):
    b, out = [p], []
    for i in range(n):
        out.append(b)
        b = b + [x[i % 5]]
    return sum(len(o) for o in out) + sum(b)


PROGRAMS = [
    *(two_names, in_order, of_a_filtered_one, appended_to_first, appended_to_by_another_name),
    *(kept_before, of_arrays_that_are_stored_to, in_a_dict, in_an_object, of_tuples),
    all_of_them_kept,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives(f):
    compiled, slope = tapeless.jit(f), tapeless.jit(tapeless.grad(f))
    direction = np.cos(np.arange(5.0))
    for n in (5, 0, 1, 2):
        assert compiled(X, 0.7, n) == pytest.approx(f(X, 0.7, n))
        high, low = (f(X + s * 1e-6 * direction, 0.7, n) for s in (1, -1))
        slopes = slope(X.copy(), 0.7, n)
        assert np.sum(slopes * direction) == pytest.approx((high - low) / 2e-6, rel=1e-5, abs=1e-8)


def set_by_sides(x, p, n):
    a, b, s, i = [], list(x), 0.0, 0
    while s < 5 and i < n:
        a = a.copy()
        a.append(0.7)
        if s > 0.3:
            s += 0.1
        a, b = b, a + [a[-1]]
        if x[i % len(x)] > -0.2:
            a = a[:-1]
        i += 1
    return s + sum(a)


def set_by_sides_in_turn(x, p, n):
    a, b, s = [p, 0.5], [v for v in x], 0.0  # noqa: C416
    for i in range(n):
        a, b = b, a + [np.sin(s)]
        if sum(b) < 0.3:
            b = a + []
        if i % 2 == 0:
            b = b[1:]
        else:
            s += a[0]
    return s + sum(a)


@pytest.mark.parametrize("f", [set_by_sides, set_by_sides_in_turn])
def test_lists_that_one_side_makes_are_read_under_its_test(f):
    compiled = tapeless.jit(f)
    for n in (5, 0, 1):
        assert compiled(X, 0.7, n) == pytest.approx(f(X, 0.7, n))
