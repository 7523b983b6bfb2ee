"""Branches on data: both sides are staged, the side that is not taken has no say at all."""

# ruff: noqa: F841, SIM108 (branches are what is tested)

import warnings
from collections import deque

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import If
from tapeless.transforms.errors import StructureError, TapelessError, UndefinedError
from tests.transforms.staging import block_of, close_to, every, slope


def if_statement(x):
    if x > 0:
        return np.sqrt(x) * x
    return 3.0 * x


def conditional(x):
    return np.log(x) if x > 0 else 2.0 * x


def where(x):
    return np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 5.0 * x)


def unsafe_where(x):
    return np.where(x > 0, np.log(x) / x, 4.0 * x)


def maximum(x):
    return np.maximum(np.sqrt(x - 1.0), 7.0 * x + 10)


def minimum(x):
    return np.minimum(np.sqrt(x) + 5.0, 6.0 * x)


def short_circuit(x):
    if x > 0 and np.log(x) > 1:
        return x * x
    return 9.0 * x


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (if_statement, 0.0, 3.0),
        (if_statement, -1.0, 3.0),
        (conditional, 0.0, 2.0),
        (where, 0.0, 5.0),
        (where, -1.0, 5.0),
        (unsafe_where, 0.0, 4.0),
        (unsafe_where, -2.0, 4.0),
        (maximum, 1.0, 7.0),
        (minimum, 0.0, 6.0),
        (short_circuit, 0.0, 9.0),
        (short_circuit, -1.0, 9.0),
    ],
)
def test_the_side_that_is_not_taken_gives_an_exact_zero(function, x, expected):
    with np.errstate(all="ignore"):
        assert tapeless.grad(function)(x) == expected
        assert tapeless.jvp(function, (x,), (1.0,))[1] == expected
        elementwise = function in (where, unsafe_where, maximum, minimum)
        if elementwise:
            grad = tapeless.grad(lambda v: np.sum(function(v)))(np.array([x, x]))
            assert np.array_equal(grad, [expected, expected])


def test_one_element_of_an_array_does_not_touch_the_others():
    x = np.array([-1.0, 0.0, 4.0])
    with np.errstate(all="ignore"):
        grad = tapeless.grad(lambda v: np.sum(np.where(v > 0, np.sqrt(v), 0.0)))(x)
    assert np.array_equal(grad, [0.0, 0.0, 0.25])


# -- what may differ on the sides


def number_kinds(x):
    y = 1 if x > 0 else x
    return y * x


def containers(x):
    if x > 0:
        p = {"a": (x, 2.0), "b": [x * x]}
    else:
        p = {"a": (1.0, x), "b": [3 * x]}
    return p["a"][0] * p["a"][1] + p["b"][0]


def one_sided(x):
    y = x
    if x > 1:
        y = y * x
        if x > 2:
            y = y * x
    return y


def several_exits(x):
    if x < -1:
        return -x
    if x < 0:
        return x * x
    for k in range(3):
        if x > k:
            x = x + 0.5
    return np.sin(x)


def effects(x):
    v = np.zeros(2)
    if x > 0:
        v[0] = x
    else:
        v[1] = x * x
    return np.sum(v * np.array([2.0, 3.0]))


@pytest.mark.parametrize("function", [number_kinds, containers, one_sided, several_exits, effects])
@pytest.mark.parametrize("x", [-1.5, -0.5, 0.6, 1.6, 2.6])
def test_derivatives_on_all_sides(function, x):
    close_to(tapeless.grad(function)(x), slope(function, x), 1e-5)


def test_a_known_test_makes_no_branch():
    def f(x, flag, name):
        if flag and name == "sin":
            return np.sin(x)
        return x if not name else x * x

    assert not list(every(block_of(f, 1.0, True, "sin"), If))


def arrays_and_numbers(x):
    y = np.ones(3) if x > 0 else 1.0
    return np.sum(y) * x


@pytest.mark.parametrize("function", [arrays_and_numbers])
def test_values_that_do_not_fit_are_refused_where_they_meet(function):
    with pytest.raises(StructureError) as met:
        block_of(function, 1.0)
    assert met.value.where[1] > function.__code__.co_firstlineno


def test_a_deque_that_is_longer_on_one_side():
    derivative = tapeless.grad(longer_deque)
    assert [derivative(0.5), derivative(1.5)] == [1.0, 2.0]


def test_dicts_with_other_keys():
    def f(x):
        p = {"a": x} if x > 0 else {"b": x}
        return p["a"]

    compiled = tapeless.jit(f)
    assert compiled(2.0) == 2.0
    with pytest.raises(KeyError):
        compiled(-2.0)


def test_values_that_do_not_fit_do_no_harm_if_nobody_looks():
    def f(x):
        if x > 0:
            label, y = "positive", x * x
        else:
            label, y = None, x
        return y

    assert [tapeless.grad(f)(x) for x in (3.0, -1.0)] == [6.0, 1.0]


@pytest.mark.parametrize(
    "used",
    [False, True],
)
def test_a_variable_of_one_side_is_unset_on_the_other(used):
    def returned(x):
        if x > 0:
            y = x * x
        return y

    def f(x):
        if x > 0:
            y = x * x
        return y + 0.0

    grad = tapeless.grad(f if used else returned)
    assert grad(3.0) == 6.0
    with pytest.raises(UnboundLocalError, match="local variable 'y'"):
        grad(-3.0)


def test_a_variable_of_no_side_is_refused_at_once():
    def f(x):
        if x > 0:
            y = x
            del y
        return y

    with pytest.raises((UndefinedError, UnboundLocalError)):
        block_of(f, 1.0)


def longer_deque(x):
    held = deque(["a"])
    if x > 1:
        held.append("b")
    return x * len(held)


class Table(dict):
    pass


class Names(set):
    pass


def other_keys(x):
    table = Table(a=1.0)
    if x > 1:
        table["b"] = x
    return x * len(table)


def other_members(x):
    members = Names(["a"])
    if x > 1:
        members.add("b")
    return x * len(members)


def other_elements(x):
    rows = [[x, 1.0], 2.0]
    if x > 1:
        rows[0] = (2.0,)
    return rows[1]


class Holder:
    pass


def other_kind_in_an_attribute(x):
    holder = Holder()
    holder.pair = [x, 1.0]
    if x > 1:
        holder.pair = (2.0,)
    return holder.pair[0]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (other_keys, "the Table 'table' has 'a', 'b' on one side and 'a' on the other"),
        (other_members, "the Names 'members' has 'b' on one side only"),
        (other_elements, "the elements of the list 'rows' do not fit together"),
        (other_kind_in_an_attribute, "the values of 'pair' after the branches"),
    ],
)
def test_containers_that_do_not_fit_are_named(function, said):
    with pytest.raises(StructureError) as met:
        tapeless.grad(function)(0.5)
    assert said in str(met.value)


def product_that_does_not_fit(x, m):
    return x * x if x < 1 else np.sum(m @ m[:, 0])


def store_that_does_not_fit(x, m):
    z = m.copy()
    if x > 1:
        z[0] = m[:, 0]
    return np.sum(z) * x


def reshape_that_does_not_fit(x, m):
    if x < 1:
        return np.sum(m) * x
    return np.sum(m.reshape(4, -1))


def stack_that_does_not_fit(x, m):
    z = np.stack([m, m.T]) if x > 1 else m
    return np.sum(z) * x


def caught(x, m):
    try:
        return x * x if x < 1 else np.sum(m @ m)
    except ValueError:
        return 7 * x


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (product_that_does_not_fit, 1.0),
        (store_that_does_not_fit, 15.0),
        (reshape_that_does_not_fit, 15.0),
        (stack_that_does_not_fit, 15.0),
        (caught, 1.0),
    ],
)
def test_shapes_that_do_not_fit_are_an_error_of_the_side_that_is_taken(f, slope):
    m = np.arange(6.0).reshape(3, 2)
    value_and_slope = tapeless.value_and_grad(f)
    assert value_and_slope(0.5, m) == (f(0.5, m), slope)
    assert tapeless.jit(f)(0.5, m) == f(0.5, m)
    if f is caught:
        assert value_and_slope(1.5, m) == (10.5, 7.0)
    else:
        for form in (f, value_and_slope, tapeless.jit(f)):
            with pytest.raises(ValueError, match=r"shape|mismatch"):
                form(1.5, m)


class Leaf:
    def __init__(self, key):
        self.key, self.smaller, self.larger = key, None, None


def inserted(node, key):
    if node is None:
        return Leaf(key)
    if key < node.key:
        node.smaller = inserted(node.smaller, key)
    else:
        node.larger = inserted(node.larger, key)
    return node


def in_order(node):
    if node is None:
        return []
    return [*in_order(node.smaller), node.key, *in_order(node.larger)]


def smallest_of_a_tree(x):
    root = None
    for key in x:
        root = inserted(root, key)
    smallest, second, *_ = in_order(root)
    return smallest + 2 * second


def test_tests_inside_of_one_another_again_and_again_are_given_up_early():
    x = np.random.default_rng(0).random(12)
    with pytest.raises(TapelessError, match="more than 1,000 sides, each inside of others"):
        tapeless.jit(smallest_of_a_tree)(x)
    with tapeless.strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", tapeless.PerformanceWarning)
        assert tapeless.jit(smallest_of_a_tree)(x) == pytest.approx(smallest_of_a_tree(x))
        by_key = tapeless.grad(smallest_of_a_tree)(x)
    expected = np.zeros(12)
    expected[np.argsort(x)[:2]] = 1.0, 2.0
    np.testing.assert_array_equal(by_key, expected)
