"""Loop variables that hold nothing of their own are gone, and names of the user are kept apart."""

import re

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import For
from tapeless.transforms.optimize.simplify import simplify
from tests.transforms.staging import block_of, close_to, compiled, every, slope

V = np.array([0.3, 0.5, 0.9])


def loops(function, *args):
    return list(every(simplify(block_of(function, *args)), For))


def alike(x, n):
    a, b = x, x
    for _ in range(n):
        a, b = np.sin(a), np.sin(b)
    return a * b


def unlike(x, n):
    a, b = x, x
    for k in range(n):
        a, b = np.sin(a), np.sin(b) + k
    return a * b


def exchanged(x, n):
    a, b, c = x, x, 2.0 * x
    for _ in range(n):
        a, b, c = b, c, a
    return a + 10.0 * b + 100.0 * c


def through_an_inner_loop(x, n):
    a, b = x, x
    for _ in range(n):
        for _ in range(2):
            a, b = a * 1.1, b * 1.1
    return a - 3.0 * b


@pytest.mark.parametrize("function", [alike, unlike, exchanged, through_an_inner_loop])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_the_result_is_unchanged(function, n):
    assert compiled(simplify(block_of(function, 0.7, 3)))(0.7, n)[0] == function(0.7, n)


def test_variables_that_go_on_alike_keep_their_own_names():
    assert len(loops(alike, 0.7, 3)[0].carries) == 2
    assert len(loops(unlike, 0.7, 3)[0].carries) == 2


def test_what_no_pass_changes_is_no_loop_variable():
    def kept(x, n):
        y = x
        for _ in range(n):
            x, y = np.sin(x) + y, y
        return x * y

    assert len(loops(kept, 0.7, 3)[0].carries) == 1


def test_a_value_is_saved_once_for_both_orders():
    def chain(x):
        for _ in range(5):
            x = np.sin(x)
        return x

    second = tapeless.grad(tapeless.grad(chain))
    made = re.findall(r"^    (\w+) = np.empty", second.source(0.5), re.MULTILINE)
    assert len([name for name in made if name.startswith("x_saved")]) == 1
    close_to(second(0.5), slope(tapeless.grad(chain), 0.5), 1e-6)


def test_a_stack_that_is_merged_is_never_copied():
    def upwind(u, n):
        for _ in range(n):
            new = np.zeros_like(u)
            for i in range(len(u)):
                step = u[i] - u[i - 1] if u[i] > 0 else u[i] * 0.5
                new[i] = u[i] - 0.1 * u[i] * step
            u = new
        return np.sum(u * u)

    gradient = tapeless.grad(upwind)
    assert not re.search(r"saved\w* = \w*saved\w*\.copy", gradient.source(V, 3))
    for k in range(3):
        unit = np.eye(3)[k]
        close_to(gradient(V, 3)[k], slope(lambda h, u=unit: upwind(V + h * u, 3), 0.0), 1e-6)


# -- names


def bisected(x, n):
    low, high = 0.0, x
    for _ in range(n):
        mid = (low + high) / 2
        if mid * mid < x:
            low = mid
        else:
            high = mid
    return low


def test_variables_of_the_user_are_not_mixed_up():
    source = tapeless.value_and_grad(bisected).source(2.0, 20)
    assert "low = mid" in source
    assert "high = mid" in source
    assert "x = high" not in source


def relaxed(u, n):
    for _ in range(n):
        new = np.zeros(u.shape)
        for i in range(1, len(u)):
            new[i] = 0.5 * (u[i] + u[i - 1])
        u = new
    return np.sum(u**2)


def stored(u, n):
    for _ in range(n):
        for i in range(1, len(u)):
            u[i] = np.sin(u[i] * u[i - 1])
    return np.sum(u)


@pytest.mark.parametrize("function", [relaxed, stored])
def test_a_size_costs_no_copy_of_a_name(function):
    gradient = tapeless.grad(function)
    assert not re.search(r"^ +(\w+)_\d = \1$", gradient.source(V, 3), re.MULTILINE)
    for k in range(3):
        unit = np.eye(3)[k]
        close_to(gradient(V, 3)[k], slope(lambda h, u=unit: function(V + h * u, 3), 0.0), 1e-6)


def test_sides_of_a_branch_share_a_name():
    def chosen(k, x, n):
        for _ in range(n):
            if x > 0:  # noqa: SIM108, a branch is what is shown
                x = x - k * np.sin(x)
            else:
                x = x + k
        return x

    source = tapeless.grad(chosen).source(0.5, 1.0, 4)
    assert "x_2" not in source
    close_to(tapeless.grad(chosen)(0.5, 1.0, 4), slope(lambda k: chosen(k, 1.0, 4), 0.5), 1e-6)
