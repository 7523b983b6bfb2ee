"""An iterator that ends inside of a comprehension or a generator expression raises what it raises
in Python: StopIteration there, RuntimeError here."""

import numpy as np
import pytest

from tapeless import grad, jit


def in_generator_expression(x):
    it = iter([x[0], x[1]])
    return sum(next(it) * e for e in x)


def in_long_generator_expression(x):
    it = iter(x)
    return sum(next(it) * k for k in range(40))


def in_inner_loop(x):
    it = iter(x)
    return sum(next(it) * a for e in x for a in (e, 2.0))


def in_loop_over_generator_expression(x):
    it = iter([x[0], x[1]])
    total = 0.0
    for v in (next(it) * e for e in x):
        total += v
    return total


def of_generator_expression(x):
    positive = (e for e in x if e > 0)
    return sum(next(positive) * w for w in (1.0, 2.0, 3.0, 4.0))


def of_first_items(x):
    return sum(next(e for e in x if e > k) for k in range(5))


def in_list(x):
    it = iter([x[0], x[1]])
    return sum([next(it) * k for k in range(3)])


def in_set(x):
    it = iter(x[:2])
    return sum({next(it) * k for k in range(3)})


def in_dictionary(x):
    it = iter(x[:2])
    return sum({k: next(it) for k in range(3)}.values())


def caught_outside(x):
    it = iter([x[0], x[1]])
    try:
        return sum(next(it) * e for e in x)
    except RuntimeError:
        return x[0] * 5


def caught_outside_of_a_list(x):
    it = iter([x[0], x[1]])
    try:
        return sum([next(it) * e for e in x])
    except StopIteration:
        return x[0] * 5


def caught_inside(x):
    it = iter([x[0], x[1]])

    def following():
        try:
            return next(it)
        except StopIteration:
            return 0.5

    return sum(following() * e for e in x)


def ends_a_map(x):
    it, last = iter(x), 0.0

    def scaled(k):
        return next(it) * k

    for v in map(scaled, range(7)):
        last = v
    return last


RAISING = [
    in_generator_expression,
    in_long_generator_expression,
    in_inner_loop,
    in_loop_over_generator_expression,
    of_generator_expression,
    of_first_items,
    in_list,
    in_set,
    in_dictionary,
]
RETURNING = [caught_outside, caught_outside_of_a_list, caught_inside, ends_a_map]
POINTS = [np.array(x) for x in ([1.0, 2.0, -3.0], [-1.0, -2.0, 3.0])]


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("f", RAISING)
@pytest.mark.parametrize("x", POINTS)
def test_errors(f, x):
    with pytest.raises((StopIteration, RuntimeError)) as right:
        f(x)
    for form in (jit(f).plain, grad(f)):
        with pytest.raises((StopIteration, RuntimeError)) as actual:
            form(x)
        assert type(actual.value) is type(right.value)
        assert str(actual.value) == str(right.value)


@pytest.mark.parametrize("f", RETURNING)
@pytest.mark.parametrize("x", POINTS)
def test_values(f, x):
    assert jit(f).plain(x) == f(x)
    differences = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(grad(f)(x), differences, rtol=1e-8, atol=1e-8)
