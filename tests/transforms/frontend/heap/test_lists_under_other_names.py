"""Lists that loops and branches fill are the same list under each of their names: what cannot be
followed is refused, and traced on the values of the call."""

import contextlib
import warnings

import numpy as np
import pytest

from tapeless import grad, jvp, strict, value_and_grad
from tapeless.transforms.errors import TapelessError
from tests import dual_numbers

X, V = 0.494, np.array([-0.614, -0.035, 0.489])


class Box:
    def __init__(self, items):
        self.items = items


def stored_after_a_loop_that_assigns(x, v):
    first, items = list(v), list(v)
    for _ in range(len(v)):
        items = first
    first[0] = x
    return sum(items)


def appended_after_a_loop_that_assigns(x, v):
    first, box = [v[0]], Box(list(v))
    if x > 0.1:
        first.append(x * x)
    for _ in range(len(v)):
        box.items = first
    first.append(2.0 * x)
    return sum(box.items)


def stored_under_the_other_name(x, v):
    first, items = list(v), list(v)
    for _ in range(len(v)):
        items = first
    items[0] = x
    return sum(first)


def asked_whether_it_is_the_other(x, v):
    first = [x * v[0] for _ in range(len(v))]
    other = first if x > 0.1 else [v[1] for _ in range(len(v))]
    return sum(first) * (1.0 if first is other else 0.5)


def filled_in_an_object_of_a_branch(x, v):
    box = Box(list(v))
    box = box if box.items[-1] < x - 1.0 else Box(box.items[::-1])
    return sum((k + 1) * e for k, e in enumerate(box.items))


def shortened_in_a_branch_that_is_given_up(x, v):
    pairs = [[x, v[0]], [v[1], v[2]]]
    first = pairs[int(5 * abs(x)) % 2][0]
    if x < -5.0:
        pairs.pop()
        table = [{"a": v}, {"b": v}]
        first = table[int(5 * abs(x)) % 2]["a"][0]
    return first + sum(a * b for a, b in pairs)


PROGRAMS = [
    stored_after_a_loop_that_assigns, appended_after_a_loop_that_assigns,
    stored_under_the_other_name, asked_whether_it_is_the_other, filled_in_an_object_of_a_branch,
    shortened_in_a_branch_that_is_given_up,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_derivatives(f):
    right, (x_bar, v_bar) = dual_numbers.value_and_grad(f, (0, 1))(X, V.astype(object))
    value, slopes = value_and_grad(f, argnums=(0, 1))(X, V)
    assert np.isclose(value, float(right))
    assert np.allclose(slopes[0], float(x_bar))
    assert np.allclose(slopes[1], v_bar.astype(float))
    direction = np.array([1.0, 2.0, 4.0])
    assert np.isclose(jvp(f, (X, V), (3.0, direction))[1], 3.0 * x_bar + direction @ v_bar)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_without_traces_it_is_right_or_refused(f):
    right = f(X, V.copy())
    with strict(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            value, _ = value_and_grad(f)(X, V)
        except TapelessError:
            return
        assert np.isclose(value, right)


def test_an_object_of_a_branch_keeps_the_derivative_of_its_list():
    assert np.array_equal(grad(filled_in_an_object_of_a_branch, argnums=1)(X, V), [3.0, 2.0, 1.0])


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_one_list_that_a_pass_leaves_under_two_names():
    def f(x, v):
        first, second = list(v), list(v)
        kept = first
        for _ in range(len(v)):
            second = list(kept)
            first = second
        second[0] = x
        return sum(first) + 2.0 * sum(second)

    with strict(False):
        value, slope = value_and_grad(f)(X, V)
    assert np.isclose(value, f(X, V))
    assert np.isclose(slope, 3.0)
    with strict(True), contextlib.suppress(TapelessError):
        assert np.isclose(value_and_grad(f)(X, V)[0], f(X, V))
