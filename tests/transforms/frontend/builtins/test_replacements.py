"""Functions of other libraries that plain NumPy code of ours stands for."""

import numpy as np
import pytest

import tapeless

V = np.array([0.5, 0.25, 0.25])
NEARLY = V + np.array([0.0, 1e-9, 0.0])
WRONG = V + np.array([0.0, 0.1, 0.0])

ASSERTIONS = [
    (lambda a, b: np.testing.assert_allclose(a, b), NEARLY, 3 * WRONG),
    (lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-6), NEARLY, WRONG),
    (lambda a, b: np.testing.assert_almost_equal(np.sum(a), np.sum(b)), NEARLY, WRONG),
    (lambda a, b: np.testing.assert_almost_equal(a, b, 12), V, NEARLY),
    (lambda a, b: np.testing.assert_array_almost_equal(a, b), NEARLY, WRONG),
    (lambda a, b: np.testing.assert_array_equal(a, b), V, NEARLY),
    (lambda a, b: np.testing.assert_equal(a, b), V, NEARLY),
    (lambda a, b: np.testing.assert_array_less(a, b + 1e-3), V, -V),
]


@pytest.mark.parametrize(("check", "right", "wrong"), ASSERTIONS)
def test_assertions_about_numbers(check, right, wrong):
    def checked(a, b):
        check(a, b)
        return np.sum(a * b)

    for made in (
        tapeless.value_and_grad(checked),
        lambda a, b: tapeless.jvp(checked, (a, b), (a, b)),
    ):
        made(V, right)
        with pytest.raises(AssertionError):
            checked(V, wrong)
        with pytest.raises(AssertionError):
            made(V, wrong)
    np.testing.assert_array_equal(tapeless.grad(checked)(V, right), right)
    rows = np.stack([right, right])
    tapeless.jit(tapeless.vmap(checked))(np.stack([V, V]), rows)
    with pytest.raises(AssertionError):
        tapeless.vmap(checked)(np.stack([V, V]), np.stack([right, wrong]))


def test_what_is_not_a_number_or_infinite_equals_itself():
    odd = np.array([np.nan, np.inf, 1.0])

    def checked(x):
        np.testing.assert_array_equal(x, odd)
        np.testing.assert_almost_equal(x, odd)
        return x

    np.testing.assert_array_equal(tapeless.jit(checked)(odd), odd)


def test_the_message():
    def checked(x):
        np.testing.assert_allclose(x, 1, err_msg="the sum is {}".format(x))  # noqa: UP032
        return x

    with pytest.raises(AssertionError, match=r"tolerance rtol=1e-07, atol=0\nthe sum is 2.5"):
        tapeless.jit(checked)(2.5)


@pytest.mark.parametrize(
    ("places", "error"),
    [(np.array([4]), IndexError), (np.array([0, -4]), IndexError), (np.array([True]), TypeError)],
)
def test_insert_at_places_that_there_are_not(places, error):
    with pytest.raises((error, tapeless.TapelessError)):
        tapeless.jit(lambda x, at: np.insert(x, at, 1.0))(V, places)
