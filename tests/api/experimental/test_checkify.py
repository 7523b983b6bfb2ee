"""checkify: checks that fail are results, in loops, branches, batches and derivatives."""

import operator
from pathlib import Path

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tapeless.experimental import checkify
from tapeless.experimental.checkify import check
from tests.transforms.ops.test_function_table import CASES as OPERATIONS
from tests.transforms.ops.test_function_table import flat


def inverse(x):
    check(x > 0, "{x} must be {what}", x=x, what="positive")
    return 1 / x


def doubled(x):
    def body(i, s):
        check(s < 10, "at {}: {}", i, s)
        return s * 2

    return lax.fori_loop(0, 6, body, x)


def chosen(x):
    if x < 0:
        check(False, "negative")
    return x


CASES = {
    "value": (inverse, -2.0, "-2.0 must be positive (`check` failed)"),
    "loop": (doubled, 1.0, "at 4: 16.0 (`check` failed)"),
    "branch": (chosen, -1.0, "negative (`check` failed)"),
    "derivative": (tapeless.grad(inverse), -2.0, "-2.0 must be positive (`check` failed)"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_check_that_fails_is_the_error(name):
    f, x, message = CASES[name]
    checked = checkify.checkify(f)
    with tapeless.disable_jit():
        found = [checked(x), tapeless.jit(checked)(x)]
    for error, made in found:
        assert error.get() == message
        assert made is not None
        with pytest.raises(ValueError, match="check` failed"):
            error.throw()
    error, _ = checked(0.01)
    error.throw()
    assert error.get() is None


def test_a_batch_has_an_error_for_each_element():
    error, made = tapeless.vmap(checkify.checkify(inverse))(np.array([1.0, -2.0, -4.0]))
    np.testing.assert_array_equal(made, [1, -0.5, -0.25])
    first, second = error.get().split("\n")
    assert first == "at mapped index 1: -2.0 must be positive (`check` failed)"
    assert second.startswith("at mapped index 2: -4.0")


def test_functions_that_are_mapped_inside_have_checks():
    x = np.array([1.0, -2.0, -4.0])
    mapped = tapeless.vmap(inverse)
    slope = tapeless.grad(lambda x: np.sum(mapped(x)))
    for f in (mapped, slope, tapeless.pmap(inverse), lambda x: lax.map(inverse, x)):
        for make in (lambda f: f, tapeless.jit):
            error, _ = make(checkify.checkify(f))(x)
            assert error.get() == "-2.0 must be positive (`check` failed)"
            assert make(checkify.checkify(f))(-x[1:])[0].get() is None


def test_only_the_first_failure_is_formatted():
    def counted(x):
        for k in range(100):
            check(x < 0, "{}", k)
        return x

    before = len(checkify._messages)
    error, _ = tapeless.jit(checkify.checkify(counted))(1.0)
    assert error.get() == "0 (`check` failed)"
    assert len(checkify._messages) == min(before + 1, checkify.KEPT)


def test_a_rule_does_not_hide_checks():
    for rule in (tapeless.checkpoint, tapeless.custom_jvp):
        f = rule(inverse)
        if rule is tapeless.custom_jvp:
            f.defjvp(lambda primals, tangents: (inverse(*primals), tangents[0]))
        with pytest.raises(tapeless.TapelessError, match="inverse has a rule of its own"):
            checkify.checkify(f)(1.0)
        error, _ = checkify.checkify(f, errors=checkify.div_checks)(-1.0)
        assert error.get() is None  # looked at from outside, and calls of check are left out


def test_without_checkify_a_check_raises():
    for f in (inverse, tapeless.grad(inverse)):
        with pytest.raises(checkify.JaxRuntimeError, match=r"-2\.0 must be positive"):
            f(-2.0)
        f(2.0)
    checkify.debug_check(False, "only under checkify")
    error, _ = checkify.checkify(lambda x: checkify.debug_check(x > 0, "no"))(-1.0)
    assert error.get() == "no (`check` failed)"


def test_errors_are_raised_again_and_found_again():
    def outer(x):
        error, y = tapeless.vmap(checkify.checkify(inverse))(x)
        checkify.check_error(error)
        return y

    x = np.array([1.0, -3.0])
    for f in (outer, tapeless.vjp):
        with pytest.raises(ValueError, match=r"-3\.0 must be"):
            f(x) if f is outer else f(outer, x)
    assert checkify.checkify(outer)(x)[0].get().startswith("-3.0 must be")


# -- automatic checks


@pytest.mark.parametrize("kind", [float, np.float32, np.array, int])
@pytest.mark.parametrize("y", [0.0, -0.0, 2.0])
@pytest.mark.parametrize("divide", [operator.truediv, operator.floordiv, operator.mod])
def test_divisions_of_numbers_go_on_as_those_of_numpy(kind, y, divide):
    checked = checkify.checkify(divide, errors=checkify.div_checks)
    for x in (1, -3, 0):
        a, b = kind(x), kind(y)
        with np.errstate(all="ignore"):
            value = divide(np.array([a]), np.array([b]))
        for run in (checked, tapeless.jit(checked)):
            error, result = run(a, b)
            np.testing.assert_array_equal(result, value[0])
            assert np.asarray(result).dtype == value.dtype
            assert (error.get() is None) == (y == 2)


def test_divisions_in_rules_and_powers_are_checked():
    @tapeless.custom_jvp
    def logarithm(x):
        return np.log(x)

    logarithm.defjvp(lambda primals, tangents: (np.log(primals[0]), tangents[0] / primals[0]))
    for f in (logarithm, lambda x: x**0.5):
        error, slope = checkify.checkify(tapeless.grad(f), errors=checkify.float_checks)(0.0)
        assert error.get().startswith("division by zero")
        assert slope == np.inf


def here(text):
    """The line of this file that has a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (line,) = [k for k, each in enumerate(lines, 1) if each.endswith(text)]
    return f'("{__file__}", line {line}, in '


def logarithm(x):
    return np.log(x)  # of a number


def ratio(x):
    return 3 / (x * 2)  # with a divisor


def whole(x):
    return np.sum(7 // np.array([1, 2]) ** (x > 0)) + 7 // int(x > 0)  # of integers


def element(x):
    return np.array([2.0, 3.0, 5.0])[np.int64(x)]  # by a number


def elements(x):
    return np.sum(np.ones((2, 4))[:, [0, 3, np.int64(x)]])  # of columns


def stored(x):
    y = np.array([2.0, 3.0])
    y[np.int64(x)] = 9.0  # into two
    return np.sum(y)


def loop(x):
    for _ in range(4):
        x = np.sqrt(x) - 1.0  # again and again
    return x


def walk(x):
    table, k = np.array([1.0, 2.0, 3.0, 0.0]), 0
    while table[k] < x:  # beyond the end
        k += 1
    return k * 1.0


def recurrence(x):
    if x < 0.2:
        return np.log(x - 0.19)  # at the end
    return np.sin(x) + recurrence(x / 2) * x


def branch(x):
    if x > 0:
        return x * 2
    return np.arcsin(x - 2)  # on one side


NAN = "nan generated by primitive: "
BOUNDS = "out-of-bounds indexing: index {} is out of bounds for axis {} with size {} "
AUTOMATIC = {
    # name: function, argument that fails, message, line, value, argument that does not
    "nan": (logarithm, -1.0, NAN + "log ", "# of a number", np.nan, 1.0),
    "division": (ratio, 0.0, "division by zero ", "# with a divisor", np.inf, 1.0),
    "integers": (whole, -1.0, "division by zero ", "# of integers", 14.0, 1.0),
    "index": (element, 3.5, BOUNDS.format(3, 0, 3), "# by a number", 5.0, 2.5),
    "negative": (element, -4.0, BOUNDS.format(-4, 0, 3), "# by a number", 2.0, -3.0),
    "columns": (elements, 4.0, BOUNDS.format(4, 1, 4), "# of columns", 6.0, -4.0),
    "store": (stored, 2.0, BOUNDS.format(2, 0, 2), "# into two", 5.0, 1.0),
    "loop": (loop, 2.0, NAN + "sqrt ", "# again and again", np.nan, 900.0),
    "while": (walk, 9.0, BOUNDS.format(4, 0, 4), "# beyond the end", 4.0, 2.5),
    "recursion": (recurrence, 1.0, NAN + "log ", "# at the end", np.nan, 1.59),
    "branch": (branch, -1.0, NAN + "arcsin ", "# on one side", np.nan, 2.0),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_what_goes_wrong_is_the_error_and_the_program_goes_on(name):
    f, bad, message, line, value, good = AUTOMATIC[name]
    checked = checkify.checkify(f, errors=checkify.automatic_checks)
    for run in (checked, tapeless.jit(checked)):
        error, result = run(bad)
        assert error.get().startswith(message + here(line))
        np.testing.assert_array_equal(result, value)
        with pytest.raises(ValueError, match="line"):
            error.throw()
        error, result = run(good)
        assert error.get() is None
        np.testing.assert_allclose(result, f(good), rtol=1e-15)
    for run in (tapeless.vmap(checked), tapeless.jit(tapeless.vmap(checked))):
        error, result = run(np.array([good, bad, good]))
        assert error.get().startswith("at mapped index 1: " + message)
        assert "\n" not in error.get()
        np.testing.assert_allclose(result, [f(good), value, f(good)], rtol=1e-15)


def test_derivatives_and_batches_inside_are_checked():
    every = checkify.all_checks
    error, _ = checkify.checkify(tapeless.grad(lambda x: np.sqrt(x * 0.0)), errors=every)(2.0)
    assert error.get().startswith("division by zero")
    for f in (recurrence, loop):
        error, slope = checkify.checkify(tapeless.grad(f), errors=every)(1.59 if f is loop else 1.0)
        assert error.get().startswith(NAN)
        assert np.isnan(slope)
    batch = checkify.checkify(tapeless.vmap(logarithm), errors=every)
    assert batch(np.array([1.0, -1.0]))[0].get().startswith(NAN + "log")
    assert batch(np.array([1.0, 2.0]))[0].get() is None
    of_jit = checkify.checkify(tapeless.jit(logarithm), errors=every)
    assert of_jit(-1.0)[0].get().startswith(NAN + "log")
    (slope, error) = tapeless.grad(
        lambda x: checkify.checkify(logarithm, errors=every)(x)[::-1], has_aux=True
    )(-2.0)
    assert slope == -0.5
    assert error.get().startswith(NAN + "log")


def test_a_nan_that_was_given_is_not_generated():
    add = checkify.checkify(lambda x: x + 1.0, errors=checkify.nan_checks)
    assert add(np.nan)[0].get() is None  # as in JAX
    difference = checkify.checkify(lambda x: x - x, errors=checkify.nan_checks)
    assert difference(np.inf)[0].get().startswith(NAN + "sub")


def test_the_first_of_all_kinds_is_told():
    def before(x):
        check(x > 0, "not positive")
        return np.log(x)

    def after(x):
        y = np.log(x)
        check(x > 0, "not positive")
        return y

    for make in (lambda f: f, tapeless.jit):
        first = make(checkify.checkify(before, errors=checkify.all_checks))(-1.0)[0]
        second = make(checkify.checkify(after, errors=checkify.all_checks))(-1.0)[0]
        assert first.get() == "not positive (`check` failed)"
        assert second.get().startswith(NAN + "log")
    alone = checkify.checkify(before, errors=checkify.div_checks)
    assert alone(1.0)[0].get() is None
    with np.errstate(invalid="ignore"):
        assert alone(-1.0)[0].get() is None  # neither kind is asked for


def test_errors_are_handed_on_with_their_lines():
    def outer(x):
        inner = tapeless.vmap(checkify.checkify(logarithm, errors=checkify.float_checks))
        error, y = inner(x)
        checkify.check_error(error)
        return y

    x = np.array([1.0, -3.0])
    assert checkify.checkify(outer)(x)[0].get().startswith(NAN + "log " + here("# of a number"))
    with pytest.raises(ValueError, match="nan generated"):
        outer(x)
    with pytest.raises(ValueError, match="nan generated"):
        tapeless.jit(outer)(x)


def keyed(key, x):
    for _ in range(3):
        x = x + tapeless.random.normal(key)
    return x


def test_keys_that_are_used_twice_are_still_reported():
    checked = checkify.checkify(keyed, errors=checkify.all_checks)
    with pytest.warns(tapeless.random.KeyReuseWarning, match="again in each pass"):
        tapeless.jit(checked)(tapeless.random.key(3), 1.0)


SAMPLE = [case for k, case in enumerate(OPERATIONS) if k % 40 == 7]


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_functions_that_go_right_have_no_error(case):
    f = case.program()
    value = f(*case.args)
    if has_nan(value) or has_nan(case.args):
        return
    error, checked = checkify.checkify(f, errors=checkify.all_checks)(*case.args)
    assert error.get() is None
    for a, b in zip(flat(checked), flat(value), strict=True):
        if np.asarray(b).dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def has_nan(value):
    return any(np.isnan(x).any() for x in flat(value) if getattr(x, "dtype", None) == np.float64)


def test_what_is_refused():
    for errors in ("nan", {"foo"}, None):
        with pytest.raises(TypeError, match=r"there are user_checks, nan_checks"):
            checkify.checkify(inverse, errors=errors)
    with pytest.raises(TypeError, match="takes an Error, not int"):
        checkify.check_error(0)
    with pytest.raises(TypeError, match="must be a text"):
        check(True, 1)
