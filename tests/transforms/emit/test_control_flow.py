"""Loops are left by break, and flags are gone where nobody looks at them."""

import re

import numpy as np
import pytest

import tapeless
from tests.transforms.staging import close_to, slope

V = np.array([0.3, 0.5, 0.9])


def halved_until_small(x, n):
    for _ in range(n):
        x = x * 0.5
        if x < 0.3:
            break
        x = x + 0.01 * x * x
    return x


def newton_root(x):
    root = x
    while True:
        step = (root * root - x) / (2 * root)
        root = root - step
        if abs(step) < 1e-12:
            return root


def found_or_not(x, n):
    for k in range(n):
        if x > 2.0:
            break
        x = x * 1.5 + k
    else:
        x = x * 10.0
    return x


def first_large(x, n):
    while n > 0 and x < 50.0:
        x = x * x + 1.0
        n = n - 1
        if n == 1:
            return x * 3.0
    return x


PROGRAMS = [
    (halved_until_small, (1.7, 9), ["break"]),
    (newton_root, (2.0,), ["while True:", "break"]),
    (found_or_not, (0.7, 9), ["break", "stopped = True"]),
    (found_or_not, (0.1, 1), ["break", "stopped = True"]),
    (first_large, (1.1, 4), ["break", "while n > 0 and x < 50.0:"]),
    (first_large, (1.1, 2), ["break"]),
]


@pytest.mark.parametrize(("function", "args", "lines"), PROGRAMS)
def test_what_leaves_a_loop_is_a_break(function, args, lines):
    gradient = tapeless.value_and_grad(function)
    source = gradient.source(*args)
    stripped = {line.partition("  #")[0].strip() for line in source.splitlines()}
    assert stripped >= set(lines)
    assert not re.search(r"(done|stop|left)_\d", source)
    value, found = gradient(*args)
    assert value == function(*args)
    close_to(found, slope(lambda x: function(x, *args[1:]), args[0]), 1e-6)


def test_a_flag_that_only_ends_a_loop_has_no_name():
    assert "stopped" not in tapeless.grad(newton_root).source(2.0)
    assert "stopped" not in tapeless.grad(halved_until_small).source(1.7, 9)


def test_nested_conditions_are_one():
    def guarded(x, n):
        if n > 2:  # noqa: SIM102, what is shown
            if x > 9.0:
                raise ValueError("too large")
        return x * x

    source = tapeless.grad(guarded).source(0.5, 3)
    assert "if n > 2 and x > 9.0:" in source
    with pytest.raises(ValueError, match="too large"):
        tapeless.grad(guarded)(10.0, 3)
    assert tapeless.grad(guarded)(10.0, 1) == 20.0


def test_what_the_flag_of_a_loop_guards_is_computed_in_the_driver_of_a_kernel():
    def first_above(x, limit):
        sums, k = [x], 0
        while sums[k] <= limit:
            sums.append(sums[k] + x)
            if sums[k + 1] > limit:
                break
            k += 1
        return sums[k]

    assert tapeless.jit(first_above)(1.0, 5.0) == first_above(1.0, 5.0) == 5.0


def test_ranges_that_fall_are_read_forwards_backwards():
    def backwards(x):
        total = 0.0
        for i in range(len(x) - 2, -1, -1):
            total = np.sin(total + x[i] * x[i + 1])
        return total

    gradient = tapeless.grad(backwards)
    source = gradient.source(V)
    assert re.search(r"for i in range\(.*, -1, -1\):", source)
    assert "reversed(" not in source
    assert "// -1" not in source
    for k in range(3):
        unit = np.eye(3)[k]
        close_to(gradient(V)[k], slope(lambda h, u=unit: backwards(V + h * u), 0.0), 1e-6)
