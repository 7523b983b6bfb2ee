"""Programs that break what a rule of the front end might take for granted."""

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap

V = np.array([3.0, 1.0, 2.0])
LONG = np.array([0.6, 0.2, 0.9, 0.7, 0.8])


def stored_where_the_other_side_raises(x, y):
    d = {"a": x}
    if y < 1:
        d["a"] = x * y
    else:
        raise ValueError("no")
    return d["a"]


def stored_inside_where_the_other_side_raises(x, y):
    d = defaultdict(float)
    d["q"] = [{"z": x}]
    for k in range(3):
        if y + k < 5:
            d["a"] += x * y
            d["q"][0]["z"] = d["a"] * x
        else:
            raise ValueError("no")
    return d["a"] + d["q"][0]["z"]


def neighbours_of_what_is_selected(a):
    p = [v for v in a if v > 0]
    return sum([abs(v - w) for v, w in zip(p, p[1:], strict=False)])  # noqa: RUF007


def pairs_of_what_is_selected(a):
    p, q = a[a > 0], a[a < 1]
    s = 0.0
    for i, (v, w) in enumerate(zip(p, q, strict=False)):
        s += v * w * (i + 1)
    for i, (_, w) in enumerate(zip(range(2), p, strict=False)):
        s += w * i
    for v, w, z in zip(a, p, q, strict=False):
        s += v * w * z
    return s + sum(map(lambda v, w: v * w, p, q))


def work_list(a):
    todo, seen = [0], 0.0
    for k in todo:
        seen += a[k]
        if a[k] > 0.5 and k < 2:
            todo.append(k + 1)
    return seen


def removed_while_running(x):
    q = [1.0, 2.0, 3.0]
    for u in q:
        if u * x < 1.1:
            q.remove(u)
    return sum(q)


def longer_up_to(x, n):
    q, s = [x], 0.0
    for u in q:
        s += u
        if len(q) < n:
            q.append(u * 0.5)
    return s


def filled_and_followed(a):
    q, s = [], 0.0
    for v in a:
        q.append(v * 1)  # noqa: PERF401 (a list that a loop fills)
    for u in q:
        s += u
        if u > 1.5 and len(q) < 9:
            q.append(u - 1)
    else:
        s += 100.0
    return s


def shorter_and_left(a):
    q, s = [], 0.0
    for v in a:
        q.append(v * 1)  # noqa: PERF401
    for u in q:
        if u > 2.5:
            break
        s += u
        q.pop()
    return s


def walks(a, n):
    out = 0.0
    for i in range(n):
        todo = [i]
        for k in todo:
            if k > 4:
                continue
            out += a[k]
            if a[k] > 0.5:
                todo.append(k + 2)
            if len(todo) > 3:
                break
        else:
            out += 100.0
    return out


def stored_to_while_reversed(x):
    q, s = [1.0, 2.0], 0.0
    for u in reversed(q):
        s += u
        q[0] = 10.0 * x
    return s


def stored_to_while_zipped(x):
    q, s = [1.0, 2.0, x], 0.0
    for u, v in zip(q, reversed(q), strict=True):
        s += u * v
        q[1] = x * s
    return s


def none_by_name(a):
    m = None
    absent = None
    if a[0] > 0:
        m = a[0] * 2
    r = 0.0
    if m is absent:
        r += 1
    if None is m:
        r += 10
    if m == None:  # noqa: E711
        r += 100
    if m != None:  # noqa: E711
        r += 1000
    if absent is not m:
        r += 10000
    return r + (m if m is not None else 0.0)


def truth_is_truth(x, n):
    return (1.0 if (x > 0) is (n == 0) else 2.0) + (10.0 if (x > 1) is not (n > x) else 20.0)


def second_list_of_a_list(x, n):
    rows = [[x, 2.0], [0.5]]
    r = rows[1]
    if x > 1:
        r.append(4.0)
    for _ in range(n):
        rows[0] = [x, x]
        r.append(3.0)
    return sum(rows[1])


def number_beside_lists(x):
    return (
        (1.0 if x == [x] else 2.0) + (10.0 if x != (x,) else 20.0) + (5.0 if x in ([x], x) else 0)
    )


SELECTED = [V * 1.1, V - 1.5, V - 9, np.array([0.4, 0.2, 0.3]), np.array([-1.0, 2.0, 0.5])]
PROGRAMS = [
    *((stored_where_the_other_side_raises, 2.0, 0.5),),
    *((stored_inside_where_the_other_side_raises, 2.0, 0.5),),
    *((neighbours_of_what_is_selected, a) for a in SELECTED),
    *((pairs_of_what_is_selected, a) for a in SELECTED),
    *((work_list, a) for a in (V, V * 0.1, V[::-1])),
    *((removed_while_running, x) for x in (-0.7, 0.5, 0.3, 2.0)),
    *((longer_up_to, 1.0, n) for n in (0, 1, 4)),
    *((filled_and_followed, a) for a in (V, V[:0])),
    *((shorter_and_left, a) for a in (V, V[1:], V[::-1], np.array([2.0, 1.0, 2.0, 1.0]))),
    *((walks, a, n) for a in (LONG, LONG * 0.1) for n in (0, 1, 3)),
    *((f, 0.5) for f in (stored_to_while_reversed, stored_to_while_zipped, number_beside_lists)),
    *((none_by_name, a) for a in (V, -V)),
    *((truth_is_truth, x, n) for x in (2.0, 0.5, -1.0) for n in (0, 1, 3)),
    *((second_list_of_a_list, x, n) for x in (-0.7, 1.5) for n in (0, 1, 3)),
]


@pytest.mark.parametrize(("f", "args"), [(f, args) for f, *args in PROGRAMS])
def test_values_and_derivatives(f, args):
    wanted = f(*args)
    np.testing.assert_allclose(jit(f)(*args), wanted, rtol=1e-13)
    x, *others = args
    x = np.asarray(x)
    if x.size == 0:
        return
    stack = np.stack([x, x])  # of which the elements are NumPy's numbers
    of_each = [f(x, *others) for x in stack]
    np.testing.assert_allclose(vmap(lambda x: f(x, *others))(stack), of_each)
    units = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [(f(x + u, *others) - f(x - u, *others)) / 2e-6 for u in units]
    found = grad(f)(*args)
    np.testing.assert_allclose(np.ravel(found), slopes, rtol=1e-6, atol=1e-6)


def first_way(x, n):
    match (x > 0, n):
        case (True, 0):
            return 1.0
        case (False, 0):
            return 2.0
        case _:
            return 3.0


def any_way(x, n):
    match [x > 0, n > 1]:
        case [True, True]:
            return x * 1
        case [True | False, True]:
            return x * 2
        case (True, False) | (False, False):
            return x * 3
    return 4.0


@pytest.mark.parametrize("f", [first_way, any_way])
def test_truth_in_patterns_is_never_wrong(f):
    for x in (1.0, -1.0):
        for n in (0, 2):
            try:
                found = jit(f)(x, n)
            except tapeless.TapelessError as e:
                assert "whether this is true" in str(e)  # noqa: PT017
                continue
            assert found == f(x, n)
    assert first_way(1.0, 2) == jit(first_way)(1.0, 2)  # known by n


def changed_while_enumerated(x):
    q, s = [1.0, 2.0, x], 0.0
    for i, u in enumerate(q):
        s += u * i
        if x > 0 and len(q) < 5:
            q.append(x * i)
    return s


def changed_under_another_name(x):
    p = []
    r = p
    g = []
    for _ in range(3):
        r.append(2.0)
        g.append(1.0)
    for _ in range(4):
        r[0] += 3.0
        if x > 0:
            p = g
    return sum(p)


def length_under_another_name(x):
    g, r = [1.0, 2.0, 3.0], [x, x, x]
    p = g if x > 0 else r
    r.pop()
    return len(p) * x


def slice_of_a_carried_list(x, n=2):
    g, p = [x, 2.0], [1.0]
    for _ in range(n):
        p = [v for v in g if v > x - 5]
    p[:] = [9.0]
    return sum(p)


def test_refused_rather_than_wrong():
    with pytest.raises(tapeless.TapelessError, match="line"):
        jit(changed_while_enumerated)(0.5)


@pytest.mark.parametrize("f", [changed_under_another_name, length_under_another_name])
@pytest.mark.parametrize("x", [-0.5, 0.5])
def test_lists_under_other_names(f, x):
    assert jit(f)(x) == f(x)


def test_a_slice_of_a_carried_list_is_not_filled_as_one_of_an_array():
    assert jit(slice_of_a_carried_list)(0.5, 3) == slice_of_a_carried_list(0.5, 3) == 9.0


@dataclass
class Held:
    numbers: dict


def in_order(x, d):
    for i, v in enumerate(d.values()):
        x = x + 10**i * v
    return x


def in_order_of_keywords(x, **d):
    return in_order(x, d)


def in_order_of_a_dataclass(x, held):
    return in_order(x, held.numbers)


def in_order_of_a_queue(x, queue):
    return in_order(x, queue[0])


@pytest.mark.parametrize("transform", [jit, grad, lambda f: jit(grad(f))])
def test_keys_in_another_order_are_another_program(transform):
    one, other = {"b": 1.0, "a": 2.0}, {"a": 2.0, "b": 1.0}
    cases = [
        (in_order, lambda d: ((0.0, d), {})),
        (in_order, lambda d: ((0.0, defaultdict(float, d)), {})),
        (in_order_of_keywords, lambda d: ((0.0,), d)),
        (in_order_of_a_dataclass, lambda d: ((0.0, Held(dict(d))), {})),
        (in_order_of_a_queue, lambda d: ((0.0, deque([dict(d)])), {})),
    ]
    for f, given in cases:
        made = transform(f)
        for d in (one, other, one, other):
            args, kwargs = given(d)
            wanted = f(*args, **kwargs) if transform is jit else 1.0
            assert made(*args, **kwargs) == wanted
