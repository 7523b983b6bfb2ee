"""Programs that are traced on the values of each call, against NumPy and finite differences."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient, signed
from tests.traced_programs import PROGRAMS

pytestmark = pytest.mark.usefixtures("traced")


@pytest.fixture(params=PROGRAMS, ids=lambda each: each[0].__name__)
def program(request):
    return request.param


def batch(at):
    return np.stack([at, 1.003 * at, 0.6 * at])


def test_values(program):
    function, at = program
    for x in batch(at):
        for _ in range(2):
            assert tapeless.jit(function)(x) == pytest.approx(function(x), rel=1e-12)


def test_reverse_and_forward_mode(program):
    function, at = program
    x = at.copy()
    slope = tapeless.grad(function)(x)
    expected = gradient(function, at)
    np.testing.assert_array_equal(x, at)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(function))(x), slope, rtol=1e-9)
    direction = signed(at.size, seed=1)
    value, tangent = tapeless.jvp(function, (x,), (direction,))
    assert value == pytest.approx(function(at), rel=1e-12)
    assert tangent == pytest.approx(expected @ direction, rel=1e-5, abs=1e-6)
    value, pull = tapeless.vjp(function, x)
    np.testing.assert_allclose(pull(2.0)[0], 2 * slope, rtol=1e-9)


def test_second_order(program):
    function, at = program
    first, second = signed(at.size, seed=2), signed(at.size, seed=3)
    slopes = tapeless.grad(function)
    expected = gradient(lambda x: slopes(x) @ second, at) @ first
    _, bend = tapeless.jvp(slopes, (at.copy(),), (first,))
    assert bend @ second == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_batches(program):
    """Elements go ways of their own; the last one another than the first ones, mostly."""
    function, at = program
    xs = batch(at)
    expected = [function(x) for x in xs]
    np.testing.assert_allclose(tapeless.vmap(function)(xs), expected, rtol=1e-12)
    slopes = tapeless.vmap(tapeless.grad(function))(xs)
    each = [tapeless.grad(function)(x) for x in xs]
    np.testing.assert_allclose(slopes, each, rtol=1e-9, atol=1e-12)


#: Those that have a program for all values; what is one stays one.
STAGED = {
    "clusters_by_union_and_find",
    "sorted_by_merging",
    "runs_that_are_lists",
    "the_last_values_in_a_queue",
    "keys_and_members",
    "objects_of_two_classes",
    "functions_in_a_list",
    "a_number_or_none",
    "an_array_that_grows",
    "an_array_that_shrinks",
    "a_shape_by_data",
    "one_of_two_arrays_is_stored_to",
    "a_domain_that_is_caught",
}


@pytest.mark.parametrize("transformation", [tapeless.jit, tapeless.grad])
def test_what_is_traced(program, transformation):
    function, at = program
    with tapeless.strict(True):
        if function.__name__ in STAGED:
            transformation(function)(at.copy())
            return
        with pytest.raises(tapeless.TapelessError) as refusal:
            transformation(function)(at.copy())
    assert 'traced_programs.py", line ' in str(refusal.value)


def ends_with_an_error(x):
    print("begins with", x)  # noqa: T201 (what is tested)
    if x[0] > 0:
        raise TypeError("positive")
    raise ValueError(f"not positive: {x[0]:.2f}", x)


@pytest.mark.parametrize("transformation", [tapeless.jit, tapeless.grad])
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_errors_in_all_cases(transformation, first, capsys):
    x = np.array([first, 2.0])
    with pytest.raises((TypeError, ValueError)) as plain:
        ends_with_an_error(x)
    printed = capsys.readouterr().out
    with pytest.raises(plain.type) as traced:
        transformation(ends_with_an_error)(x)
    assert traced.value.args[0] == plain.value.args[0]
    assert capsys.readouterr().out == printed
