"""Truth and membership where Python looks at whole containers, and errors of one side."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

X = np.array([3.0, 1.0, 2.0, 5.0])


def compiled_and_plain(function, *args):
    return tapeless.jit(function)(*args), function(*args)


TESTS = {
    "in_a_list_of_elements": lambda x: 2.0 in list(x),
    "not_in_a_filled_list": lambda x: 2.5 not in [2 * v for v in x],
    "text_in_pairs": lambda x: "a" in [("a", v) for v in x],
    "pair_of_another_length": lambda x: (3.0,) in [(v, v) for v in x],
    "none_in_numbers": lambda x: None in [x[0], x[1]],
    "number_in_numbers": lambda x: 5.0 in (x[0], x[3], 7.0),
    "in_a_map": lambda x: 2.5 in map(lambda v: v + 0.5, x),  # noqa: C417 (it is tested)
    "all_of_tuples": lambda x: all((0.0 * v, 1.0) for v in x),
    "any_of_tuples": lambda x: any((0.0 * v,) for v in x if v > 1),
    "tuple_with_a_list": lambda x: (x[0], 1) == [x[0], 1],
}


@pytest.mark.parametrize("name", TESTS)
def test_is_what_python_says(name):
    made, expected = compiled_and_plain(TESTS[name], X)
    assert bool(made) is bool(expected)


def test_identity_of_tuples_is_that_of_the_call():
    """Tuples are put together anew where data picks one; a trace tells them apart."""
    with tapeless.strict(False):
        for f in (lambda x: (x[0], 2) is (x[0], 2), lambda x: (t := (x[0], 2)) is t):
            made, expected = compiled_and_plain(f, X)
            assert made is expected


def test_rows_have_no_order():
    with pytest.raises(ValueError, match="ambiguous"):
        tapeless.jit(lambda a: min(a))(np.ones((3, 2)))


def test_whether_an_array_is_in_a_filled_list_is_refused():
    with pytest.raises(UnsupportedError, match="an array is in a list"):
        tapeless.jit(lambda x: x in [v * x for v in x])(X)


def on_one_side(kind):
    def unset(x):
        return missing * x if x > 100 else x * 2  # noqa: F821 (it is raised)

    def none(x, y=None):
        return x * y if x > 100 else x * 2

    def attribute(x):
        return x.nothing if x > 100 else x * 2

    return {"NameError": unset, "TypeError": none, "AttributeError": attribute}[kind.__name__]


@pytest.mark.parametrize("kind", [NameError, TypeError, AttributeError])
def test_an_error_of_a_side_is_raised_where_it_is_taken(kind):
    function = on_one_side(kind)
    compiled = tapeless.jit(function)
    assert compiled(3.0) == 6.0
    assert tapeless.grad(function)(3.0) == 2.0
    with pytest.raises(kind):
        compiled(200.0)


def test_a_generator_expression_without_an_item():
    function = tapeless.jit(lambda x: next(v for v in x if v > 9))
    with pytest.raises((StopIteration, RuntimeError)):
        function(X)


def doubled(x):
    return [v * 2 for v in x]


@pytest.mark.parametrize("other", [[2.0, 6.0, 4.0], [2.0, 6.0], [2.0, 7.0, np.nan], [np.nan] * 3])
def test_lists_that_loops_filled_are_compared(other):
    def compared(x, y):
        a, b = doubled(x), [v + 0 for v in y]
        return a == b, a != b, a < b, a <= b, a > b, a >= b, a == other, a == doubled(x)

    x = np.array([1.0, 3.0, 2.0])
    assert tapeless.jit(compared)(x, np.array(other)) == compared(x, np.array(other))


def test_a_branch_by_the_order_of_a_list():
    def slope(x):
        a = doubled(x)
        return np.sum(x**2) if a == sorted(a) else np.sum(x)

    assert tapeless.grad(slope)(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert tapeless.grad(slope)(np.array([2.0, 1.0])).tolist() == [1.0, 1.0]
