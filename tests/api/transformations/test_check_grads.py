"""check_grads accepts right derivatives, and finds wrong ones in each mode and order."""

import numpy as np
import pytest

from tapeless import check_grads, custom_jvp, custom_vjp
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def right(x, y):
    return {"out": np.sin(x) * y["k"], "sum": np.sum(x**2)}


def test_right_derivatives_pass():
    assert check_grads(right, (np.linspace(0.1, 1.0, 4), {"k": 2.0}), order=2) is None
    check_grads(np.exp, [0.3], order=3)
    check_grads(lambda x: x * 2, (np.ones(3, np.float32),), order=1)


def wrong_value(error):
    @custom_jvp
    def f(x):
        return x**3

    @f.defjvp
    def rule(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return f(x), (3 * x**2 + error(x)) * x_dot

    return f


@pytest.mark.parametrize("modes", [["fwd"], ["rev"], ["fwd", "rev"]])
def test_wrong_first_derivatives_are_found(modes):
    with pytest.raises(AssertionError, match="the derivative of f is wrong"):
        check_grads(wrong_value(lambda x: 0.1), (1.3,), order=1, modes=modes)


@pytest.mark.parametrize("modes", [["fwd"], ["rev"]])
def test_wrong_second_derivatives_are_found(modes):
    @custom_jvp
    def slope(x):
        return 3 * x**2

    slope.defjvp(lambda primals, tangents: (slope(*primals), 7.0 * tangents[0]))
    f = custom_jvp(lambda x: x**3)
    f.defjvp(lambda primals, tangents: (primals[0] ** 3, slope(primals[0]) * tangents[0]))
    check_grads(f, (1.3,), order=1, modes=modes)
    with pytest.raises(AssertionError, match=r"of .* is wrong"):
        check_grads(f, (1.3,), order=2, modes=modes)


def test_the_worst_entry_is_named():
    @custom_vjp
    def f(t):
        return np.sum(t["a"] * t["b"])

    def back(t, bar):
        wrong = np.array(t["b"])
        wrong[2] = wrong[2] + 0.5
        return ({"a": wrong * bar, "b": t["a"] * bar},)

    f.defvjp(lambda t: (np.sum(t["a"] * t["b"]), t), back)
    with pytest.raises(AssertionError) as e:
        check_grads(f, ({"a": np.ones(4), "b": np.arange(4.0)},), order=1, modes=["rev"])
    assert "worst at the argument[0]['a'][2]" in str(e.value)


def test_functions_that_overwrite_their_argument():
    def f(x):
        x[0] = x[0] ** 2
        return x

    x = np.array([1.5, 2.0])
    check_grads(f, (x,))
    np.testing.assert_array_equal(x, [1.5, 2.0])


def test_tolerances_and_steps():
    f = wrong_value(lambda x: 1e-3)
    check_grads(f, (1.3,), order=1, atol=0.1, rtol=0.0)
    with pytest.raises(AssertionError):
        check_grads(f, (1.3,), order=1, atol=1e-6, rtol=0.0)
    check_grads(np.abs, (1e-3,), order=1, eps=1e-4)


@pytest.mark.parametrize(
    ("use", "error", "problem"),
    [
        (
            lambda: check_grads(3, (1.0,)),
            ArgumentTypeError,
            "check_grads needs a function, not int '3'",
        ),
        (
            lambda: check_grads(np.sin, 1.0),
            ArgumentTypeError,
            "check_grads: args must be a tuple or list, not float",
        ),
        (
            lambda: check_grads(np.sin, (1.0,), order=0),
            ArgumentError,
            "check_grads: order must be 1 or more, not 0",
        ),
        (
            lambda: check_grads(np.sin, (1.0,), modes=["forward"]),
            ArgumentError,
            'check_grads: modes are "fwd" and "rev", not [\'forward\']',
        ),
        (
            lambda: check_grads(np.sin, (1,)),
            ArgumentTypeError,
            "check_grads: cannot differentiate with respect to x, which is int64",
        ),
    ],
)
def test_bad_arguments(use, error, problem):
    with pytest.raises(error) as e:
        use()
    assert e.value.problem == problem
