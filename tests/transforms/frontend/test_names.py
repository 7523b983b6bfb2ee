"""Programs may call their variables whatever they like."""

import numpy as np
import pytest

import tapeless


def frames(v0, t1):
    """v0, t1 ...: what a rewriter may call its own variables."""
    item_1, then_1, else_2, body_3 = v0 * 2, t1, v0 * t1, t1 + 1.0
    for t2 in range(2):
        item_1 = item_1 + sum([v1 * t2 for v1 in (v0, t1)])
    v2 = lambda v1, v0=t1: v0 * v1  # noqa: E731 (the name is what is tested)
    return np.sum(item_1 * then_1 + else_2 * body_3 + v2(v0))


def flags(x, n):
    """stop_1, left_1, done_1: what leaves loops early."""
    stop_1, left_1, done_1, going_3, return_value = 2.0, 3.0, 5.0, 7.0, x
    for _ in range(n):
        if x > 50.0:
            break
        if x > 20.0:
            return x * stop_1
        x = x * x + left_1
        while x > 9.0:
            x = x - done_1
            if x < 1.0:
                return x * going_3
    return x * stop_1 * left_1 * done_1 * return_value


def nested(x):
    """Functions and classes inside with such names."""

    def v0(t1):
        return t1 * x

    def factory(lambda_):
        return v0(lambda_) + lambda_

    return factory(x) * v0(x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (frames, (1.5, 0.7)),
        (flags, (0.4, 0)),
        (flags, (0.4, 4)),
        (flags, (3.0, 1)),
        (flags, (4.5, 3)),
        (flags, (8.0, 2)),
        (nested, (1.3,)),
    ],
)
def test_no_name_of_a_variable_is_taken(function, args):
    value, slope = tapeless.value_and_grad(function)(*args)
    assert value == function(*args)
    step, rest = 1e-6, args[1:]
    up, down = function(args[0] + step, *rest), function(args[0] - step, *rest)
    assert slope == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_no_global_of_a_module_is_hidden():
    def f(x):
        a, b = x, 2 * x
        return a * t1 + (b * v0 if x > 0 else b) * then_1

    assert tapeless.grad(f)(1.0) == 10.0 + 2 * 3.0 * 5.0


t1, v0, then_1 = 10.0, 3.0, 5.0
