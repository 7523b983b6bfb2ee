"""Which list or object a name stands for, by data: what cannot be told is refused, not guessed."""

# ruff: noqa: PERF401 (loops that fill lists are what is tested)

from dataclasses import dataclass

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import AliasError, NeedStaticError, UnsupportedError


@dataclass
class Point:
    x: float


def chosen_list(x):
    p, q = [x, 1.0], [2 * x, 3.0]
    r = p if x > 0.5 else q
    r[0] = 100 * x
    return p[0] + 7 * q[0]


def chosen_by_a_branch(x):
    a = [x, 2 * x]
    b = a
    if x > 0.5:
        b[0] = 3 * x
    else:
        b = [4 * x, 5 * x]
    b[1] = 7.0 * x
    return a[1]


def chosen_object(x):
    p, q = Point(x), Point(2 * x)
    r = p if x > 0.5 else q
    r.x = x * x * 3
    return p.x + 5 * q.x


def carried(x):
    a = [x, 1.0]
    b = a
    while a[0] < 5:
        if a[1] > 2:
            a = [a[0] * 2, 0.5]
        else:
            a[1] += 1
            a[0] += 0.3
    return a[0] + b[0]


def only_read(x):
    p, q = [x, 1.0], [2 * x, 3.0]
    r = p if x > 0.5 else q
    return r[0] * p[0] + r[1]


def the_others_are_not_looked_at(x):
    r = [x, 1.0] if x > 0.5 else [2 * x, 3.0]
    r[0] = r[1] * x * x
    return r[0]


@pytest.mark.parametrize("f", [chosen_list, chosen_by_a_branch, chosen_object])
def test_refused(f):
    with pytest.raises(AliasError, match="by data, which line"):
        tapeless.grad(f)(0.7)


def test_refused_in_a_loop_that_data_ends():
    with pytest.raises(NeedStaticError, match="goes from name to name"):
        tapeless.grad(carried)(0.7)


@pytest.mark.parametrize("f", [only_read, the_others_are_not_looked_at])
@pytest.mark.parametrize("x", [0.3, 0.7])
def test_works(f, x):
    value, slope = tapeless.value_and_grad(f)(x)
    assert value == pytest.approx(f(x))
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)


def one_in_each_pass(x, n):
    a, many = [x, 4.0], []
    for _ in range(n):
        many.append(a)
    many[0][0] += 3
    return many[1][0]


def twice_in_a_pass(x, n):
    many = []
    for i in range(n):
        a = [x, 4.0 * i]
        many.append(a)
        many.append(a)
    many[0][0] += 3
    return many[1][0]


def in_two_lists(x, n):
    points, moving = [], []
    for i in range(n):
        p = Point(x + i)
        points.append(p)
        moving.append(p)
    for p in moving:
        p.x += 1
    return points[0].x


def in_a_copy(x, n):
    many = []
    for i in range(n):
        many.append([x, 2.0 * i])
    other = list(many)
    other[0][0] = 9 * x
    return many[0][0]


def in_a_slice(x, n):
    many = []
    for i in range(n):
        many.append([x, 2.0 * i])
    other = many[1:]
    many[1][0] = 9 * x
    return other[0][0]


def added_again(x, n):
    many = []
    for i in range(n):
        many.append([x, 2.0 * i])
    many.append(many[0])
    many[0][0] = 9 * x
    return many[-1][0]


def repeated(x, n):
    many = [[x, 1.0]] * 3
    for _ in range(n):
        many.append([x, x])
    many[0][0] = 5 * x
    return many[1][0]


def at_another_place(x, n):
    many = []
    for i in range(n):
        many.append([x, 2.0 * i])
    many[0] = many[1]
    many[0][0] = 5 * x
    return many[1][0]


def moved_up_by_a_loop(x, n):
    many = []
    for i in range(n):
        many.append([x + i, 2.0 * i])
    for i in range(n - 1):
        many[i + 1] = many[i]
    many[0][0] += 5.0
    return many[n - 1][0]


def one_many_times(x, n):
    many = [[0.0, x]] * n
    many[0][1] = 3 * x
    return many[1][1]


def added_to_itself(x, n):
    many = []
    for i in range(n):
        many.append([x + i, 1.0])
    many.extend(many)
    many[0][0] = 4.5
    return many[n][0]


SHARED = [
    one_many_times,
    added_to_itself,
    at_another_place,
    moved_up_by_a_loop,
    one_in_each_pass,
    twice_in_a_pass,
    in_two_lists,
    in_a_copy,
    in_a_slice,
    added_again,
    repeated,
]


@pytest.mark.parametrize("f", SHARED)
def test_elements_that_are_in_lists_more_than_once(f):
    forward = tapeless.jvp(lambda x: f(x, 3), (1.2,), (1.0,))[0]
    assert tapeless.jit(f)(1.2, 3) == forward == pytest.approx(f(1.2, 3))


@pytest.mark.parametrize("f", SHARED)
def test_elements_of_lists_whose_length_data_decides(f):
    def by_data(x, a):
        return f(x, int(a[0]))

    with pytest.raises((UnsupportedError, NeedStaticError, AliasError)):
        tapeless.jit(by_data)(1.2, np.array([3.0]))


def chosen_then_grown(x, s):
    many, q = [[x, 1.0], [0.5, x]], [1.0, x]
    if x > 0.5:
        q = many[-1]
    if s > 1.5:
        many.append([x, x])
    else:
        many[1][0] = 7.0
    return q[0]


def test_what_was_chosen_of_a_list_that_grows_then():
    with pytest.raises(AliasError, match="may be another, by data"):
        tapeless.jit(chosen_then_grown)(1.2, 1.0)


def test_elements_that_only_one_list_has_are_changed():
    def f(x, n):
        many = []
        for i in range(n):
            many.append([x, 2.0 * i])
        for a in many:
            a[0] = a[0] * a[1]
        many[0], many[1] = many[1], many[0]
        many[0][0] += 3
        return many[0][0] + 7 * many[1][0]

    assert tapeless.jit(f)(1.2, 3) == pytest.approx(f(1.2, 3))


def test_elements_that_change_places():
    def f(x, n):
        many = []
        for i in range(n):
            many.append([x + i, 2.0 * i])
        for _ in range(n):
            for j in range(n - 1):
                if many[j][1] < many[j + 1][1]:
                    first = many[j]
                    many[j] = many[j + 1]
                    many[j + 1] = first
        first = many[0]
        many[0] = many[2]
        many[2] = first
        first[0] = 9.0
        return many[0][0] + 10 * many[2][0] + 100 * many[1][0]

    compiled = tapeless.jit(f)
    assert compiled(1.2, 3) == pytest.approx(f(1.2, 3))
    pieces = len(compiled.compilations)
    assert compiled(1.2, 5) == pytest.approx(f(1.2, 5))
    assert len(compiled.compilations) == pieces
