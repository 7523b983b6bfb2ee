"""Which list or object a name stands for, by data: it is told apart when the program runs, or
refused; never guessed."""

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


def test_refused_in_a_loop_that_data_ends():
    with pytest.raises(NeedStaticError, match="goes from name to name"):
        tapeless.grad(carried)(0.7)


@pytest.mark.parametrize(
    "f",
    [chosen_list, chosen_by_a_branch, chosen_object, only_read, the_others_are_not_looked_at],
)
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
    compiled = tapeless.jit(chosen_then_grown)
    for x, s in ((1.2, 1.0), (1.2, 2.0), (0.2, 1.0), (0.2, 2.0)):
        assert compiled(x, s) == chosen_then_grown(x, s)


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


def stored_by_a_branch(x):
    c, a = [0.0] * len(x), [1.0] * len(x)
    if x[0] > 0:
        a = c
    if x[1] > 0:
        a[0] = 5.0
    return c[0]


def stored_to_the_other(x):
    c, a = [0.0] * len(x), [1.0] * len(x)
    if x[0] > 0:
        a = c
    c[0] = 5.0
    return a[0]


def chosen_by_an_expression(x):
    c, a = [0.0] * len(x), [1.0] * len(x)
    b = a if x[0] > 0 else c
    b[1] = 8.0
    return a[1]


def a_row_of_a_table(x):
    c = []
    for _ in range(3):
        row = []
        for _j in range(len(x)):
            row.append(1.5)
        c.append(row)
    a = [[0.0] * len(x) for _ in range(3)]
    if x[0] > 0.5:
        a[0] = c[-1]
    row = a[0]
    row[1] = 7.0
    return c


def a_row_by_an_index(x):
    a = [[0.0] * len(x) for _ in range(4)]
    c = [[1.5] * len(x) for _ in range(4)]
    if x[0] > 0.5:
        a[0] = c[-1]
    k = 0
    while x[k] > 0 and k < 3:
        row = a[k]
        row[0] = 7.0
        k += 1
    return c


def a_part_that_is_put_back(x):
    c = [[0.0] * len(x) for _ in range(len(x))]
    a = [[1.0] * len(x) for _ in range(len(x))]
    if x[0] > 0:
        a = c
    row = a[1]
    row[0] = 3.0
    return c[1][0]


@pytest.mark.parametrize(
    "function",
    [
        *(stored_by_a_branch, stored_to_the_other, chosen_by_an_expression),
        *(a_row_of_a_table, a_row_by_an_index, a_part_that_is_put_back),
    ],
)
def test_a_filled_list_that_may_be_another_is_told_apart(function):
    compiled = tapeless.jit(function)
    for x in (np.ones(4), -np.ones(4), np.array([1.0, -1.0, 1.0, 1.0]), np.linspace(-1, 1, 4)):
        assert compiled(x) == function(x)


def chosen_and_read(x):
    c, a = [0.0] * len(x), [1.0] * len(x)
    if x[0] > 0:
        a = c
    return a[0] + c[0], a


def chosen_and_stored(x):
    c = [[0.0] * len(x) for _ in range(len(x))]
    a = [[1.0] * len(x) for _ in range(len(x))]
    if x[0] > 0:
        a = c
    a[0][1] = x[1]
    return a[-1], a[0], a[1][:2], a[0][2], isinstance(a[1], list)


def the_best_so_far(x):
    now, best = [0.0] * len(x), [1.0] * len(x)
    for i in range(len(x)):
        now[i] = x[i]
        if x[i] > 0:
            best = now[:]
    return best


def rows_that_change_places(x):
    before, now = [0.0] * len(x), [1.0] * len(x)
    for _ in range(len(x)):
        for j in range(1, len(x)):
            now[j] = before[j - 1] + x[j]
        before, now = now, before
    return before


@pytest.mark.parametrize(
    "function", [chosen_and_read, chosen_and_stored, the_best_so_far, rows_that_change_places]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_filled_lists_by_data(function, sign):
    x = sign * np.array([1.0, -2.0, 3.0])
    for disabled in (True, False):
        with tapeless.disable_jit(disabled):
            made = tapeless.jit(function)(x)
        assert made == function(x)
        in_arrays = function in (the_best_so_far, rows_that_change_places)
        assert in_arrays or [*map(type, made)] == [*map(type, function(x))]


def three_deep(n):
    t = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                t[i][j][k] = i + 2.0 * j - k
    return t


def read_again_after_unrolling(x, y):
    m = len(y) + 1
    a = []
    for _ in range(len(x)):
        a.append([1] * m)
    if x[0] > 0.5:
        a[0] = a[-1]
    for i in range(0, len(x), 2):
        for j in range(1, m):
            a[i + 1][0] = a[i][j - 1] * 2 % 7
    return a[1]


def test_changes_three_lists_deep():
    assert tapeless.jit(three_deep)(3) == three_deep(3)


def test_arrays_of_an_attempt_that_was_given_up():
    args = np.zeros(4), np.ones(3)
    assert tapeless.jit(read_again_after_unrolling)(*args) == read_again_after_unrolling(*args)
