"""Which list or object a name stands for, by data: what cannot be told is refused, not guessed."""

from dataclasses import dataclass

import pytest

import tapeless
from tapeless.transforms.errors import AliasError, NeedStaticError


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
