"""Containers and objects that data chooses are themselves: a change shows under all their names.

Values and derivatives are compared with dual numbers, which Python runs as they are. Nothing is
traced: each program is staged for all values.
"""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit, strict, value_and_grad
from tapeless.transforms.errors import TapelessError
from tests import dual_numbers

POINTS = [
    (0.494, np.array([-0.614, -0.035, 0.489])),
    (-0.294, np.array([-0.214, -0.435, 0.489])),
    (0.3, np.array([0.7, 0.2, -0.15])),
]


class Box:
    def __init__(self, items):
        self.items = items


def chosen_list(x, v):
    a, b = [v[0], v[1]], [v[2], x]
    c = a if x > 0.1 else b
    c[0] = x * 2.0
    c.append(v[2] * x)
    c += [v[1]]
    del c[1]
    return sum(a) + 2.0 * sum(b)


def chosen_dict(x, v):
    a, b = {"p": v[0]}, {"p": x, "q": v[1]}
    c = b if x > v[0] else a
    c["p"] *= 3.0
    total = 0.0
    for key in c:
        total = total + c[key]
    return total * a["p"] + b["p"] * len(c)


def chosen_object(x, v):
    a, b = Box([v[0]]), Box([v[2], x])
    pair = (a, b) if x > 0.1 else (b, a)
    pair[0].items.append(x * x)
    a.items, b.items = b.items, a.items
    return sum(a.items) * v[0] + sum(b.items) * (2.0 if pair[0] is a else 3.0)


def index_from_data(x, v):
    boxes = [Box([x, v[0]]), Box([x, v[1], v[2]]), Box([v[2]])]
    box = boxes[int(5 * abs(x)) % 3]
    boxes[int(5 * abs(v[0])) % 3] = box
    box.items.append(x)
    boxes[-1 - int(5 * abs(v[1])) % 3].items[0] = v[1] * x
    return sum((k + 1) * sum(b.items) for k, b in enumerate(boxes))


def arrays_from_data(x, v):
    rows = [v * 1.0, v * x, v + 1.0]
    row = rows[int(5 * abs(x)) % 3]
    row[0] = x
    rows[0][1:] *= 2.0
    return sum((k + 1) * (r @ np.array([1.0, 2.0, 3.0])) for k, r in enumerate(rows)) + row[1]


def loop_over_one_of_two(x, v):
    a, b = [v[0], v[1]], [v[2], x, x * x]
    c = a if x > 0.1 else b
    total = 0.0
    for k, e in enumerate(c):
        total = total + (k + 1) * e
        if k == 0:
            c[1] = e * x
    return total + sum([e * e for e in c]) + sum(e * w for e, w in zip(c, v, strict=False))


def names_that_a_loop_exchanges(x, v):
    a, b = Box([v[0], v[1]]), Box([v[2], x])
    c = a
    for i in range(len(v)):
        if v[i] > x:
            c, b = b, c
        c.items[0] = x * 2.0 * c.items[1]
        b.items[1] += x * v[i]
    return sum(a.items) + 2.0 * sum(b.items) + (x if c is a else v[1])


def a_search_that_goes_through_objects(x, v):
    boxes = [Box([x, v[0]]), Box([x, v[1], v[2]])]
    i = 0
    while i < 3 and boxes[0].items[0] < 5.0:
        k = int(abs(5 * v[i])) % 2
        boxes[k].items[0] = v[1] * x
        boxes[1 - k].items[-1] *= boxes[k].items[1]
        i += 1
    return sum(sum(b.items) for b in boxes)


def the_best_of_new_objects(x, v):
    best = start = Box([x, v[0]])
    for i in range(len(v)):
        new = Box([x * i, v[i]])
        if v[i] > x:
            best = new
        best.items[0] *= 2.0
    return sum(start.items) + best.items[1] * best.items[0]


def as_many_objects_as_data_says(x, v):
    a, b = Box([v[0]]), Box([v[2], x])
    boxes = [a]
    if x > 0.1:
        boxes.append(b)
    boxes[-1].items[0] = x * 2.0
    boxes.append(a)
    boxes[0].items.append(x * v[0])
    total = 0.0 if boxes else x
    for k, box in enumerate(boxes):
        total += (k + 1) * sum(box.items)
    return total + sum(sum(box.items) for box in boxes) * len(boxes)


def as_many_arrays_as_data_says(x, v):
    rows = [v * 1.0, v * 2.0]
    if x > 0.1:
        rows.pop()
    rows[-1][0] = x
    if v[0] > -0.3:
        rows.insert(0, rows[-1])
    rows[0][1] *= 3.0
    return sum((k + 1) * (r @ np.array([1.0, 2.0, 3.0])) for k, r in enumerate(rows))


def objects_that_pass_a_test(x, v):
    boxes = []
    for k, e in enumerate(v):
        if e > -0.1:
            boxes.append(Box([e]))
        if k == 1:
            boxes.append(Box([x]))
    for box in boxes:
        box.items[0] *= x
    return sum(sum(box.items) for box in boxes)


def run_over_one_of_two_lengths(x, v):
    rows = [v]
    if v[0] > 0:
        rows.append(v * x)
    chosen = rows if x > 0.1 else [v, v * 2.0]
    return sum((1.0 + k) * (row @ v) for k, row in enumerate(chosen)) + len(chosen) * x


PROGRAMS = [
    run_over_one_of_two_lengths,
    chosen_list, chosen_dict, chosen_object, index_from_data, arrays_from_data,
    loop_over_one_of_two, names_that_a_loop_exchanges, a_search_that_goes_through_objects,
    the_best_of_new_objects, as_many_objects_as_data_says, as_many_arrays_as_data_says,
    objects_that_pass_a_test,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    with strict(True):
        derivative = value_and_grad(f, argnums=(0, 1))
        for x, v in POINTS:
            value, slopes = derivative(x, v)
            right, (x_bar, v_bar) = dual_numbers.value_and_grad(f, (0, 1))(x, v.astype(object))
            assert np.isclose(value, float(right))
            assert np.allclose(slopes[0], float(x_bar))
            assert np.allclose(slopes[1], v_bar.astype(float))


@pytest.mark.parametrize("f", [chosen_list, index_from_data, names_that_a_loop_exchanges])
def test_compiled(f):
    with strict(True):
        compiled = jit(f)
        for x, v in POINTS:
            assert np.isclose(compiled(x, v), f(x, v))


def test_a_loop_says_which_number_is_which_list():
    def f(x, v):
        a, b = [v[0], v[1]], [v[2], x]
        c = a
        for e in v:
            if e > x:
                c = b
            c[0] = x * 2.0 * c[1]
        return sum(a) + 2.0 * sum(b)

    assert "c: 0 for the list a, 1 for the list b." in grad(f).source(*POINTS[0])


def test_an_index_out_of_range():
    def f(x, v):
        boxes = [Box([x]), Box([v[0]])]
        return boxes[int(x)].items[0]

    derivative = grad(f)
    assert derivative(0.5, np.ones(2)) == 1.0
    assert derivative(-0.5, np.ones(2)) == 1.0
    with pytest.raises(IndexError, match="list index out of range"):
        derivative(2.5, np.ones(2))


def test_an_iterator_is_not_run_over_twice():
    def f(x, v):
        a, b = [v[0], v[1]], [v[2], x, x * x]
        items = enumerate(a if x > 0.1 else b)
        return sum(e for _, e in items) + sum(e for _, e in items)

    with pytest.raises(TapelessError, match="half-way"):
        grad(f)(*POINTS[0])


def test_a_list_of_objects_in_the_result():
    def f(x, v):
        boxes = [v * 1.0]
        if x > 0.1:
            boxes.append(v * x)
            boxes[0][0] = x
        return boxes

    with strict(True):
        compiled = jit(f)
        for x, v in POINTS:
            result, right = compiled(x, v.copy()), f(x, v.copy())
            assert len(result) == len(right)
            assert all(map(np.allclose, result, right))


def test_a_list_that_one_side_makes_gets_longer():
    def f(x, v):
        box = Box([v[1]])
        if x > 0.1:
            box.items = [v[0] * x] * 2
        box.items += [len(box.items) * x]
        return sum((k + 1) * e for k, e in enumerate(box.items))

    with strict(True):
        derivative = value_and_grad(f)
        for x, v in POINTS:
            value, slope = derivative(x, v)
            right, x_bar = dual_numbers.value_and_grad(f)(x, v.astype(object))
            assert np.isclose(value, float(right))
            assert np.isclose(slope, float(x_bar))


def test_whether_an_item_at_an_index_from_data_is_an_array():
    def f(x, v):
        rows = [v * 1.0, v * 2.0]
        k = int(x > 0.1)
        same = rows[k] is rows[1]
        row = rows[k]
        row *= 2.0
        return row @ v + (x if same else 2.0 * x) + rows[0][0]

    with strict(True):
        for x, v in POINTS:
            assert np.isclose(value_and_grad(f)(x, v)[0], f(x, v))


@pytest.mark.parametrize("make", [list, lambda pair: dict(enumerate(pair)), tuple])
def test_whether_an_item_at_an_index_from_data_is_a_container(make):
    def f(x, v):
        rows = [make([x, v[0]]), make([v[1], v[2]])]
        row = rows[int(x > 0.1)]
        total = 2.0 if row is rows[1] else 3.0
        for k, other in enumerate(rows):
            if other is row:
                total += k * other[0]
        return total * rows[0][0] + row[1]

    with warnings.catch_warnings(), strict(False):
        warnings.simplefilter("ignore")
        for x, v in POINTS:
            assert np.isclose(value_and_grad(f)(x, v)[0], f(x, v))
