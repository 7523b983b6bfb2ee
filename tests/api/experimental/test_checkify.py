"""checkify: checks that fail are results, in loops, branches, batches and derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tapeless.experimental import checkify
from tapeless.experimental.checkify import check


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


def test_what_is_refused():
    with pytest.raises(ValueError, match="debug_nans"):
        checkify.checkify(inverse, errors=checkify.nan_checks)
    with pytest.raises(TypeError, match="takes an Error, not int"):
        checkify.check_error(0)
    with pytest.raises(TypeError, match="must be a text"):
        check(True, 1)
