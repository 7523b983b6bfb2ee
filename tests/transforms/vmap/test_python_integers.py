"""Python's integers that differ by element behave as Python's do."""

import math

import numpy as np
import pytest

from tapeless import grad, jit, vmap

SMALL = np.array([3, 200], np.uint8)
SIGNS = np.array([1.0, -1.0])


def compared(t, u):
    k = 300 if t < 0 else 5
    return u < k, u == k


def in_range(t, u):
    k = 7 if t > 0 else 9
    return u + k, np.maximum(u, k)


def by_where(t, u):
    k = 300 if t > 0 else 5
    return np.where(u > 4, u, k)


def stored(t, u):
    v = u + np.zeros(2, np.uint8)
    v[0] = 44 if t > 0 else 45
    return v


FINE = [compared, in_range, by_where, stored]


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("f", FINE)
def test_values(f, form):
    rows = [f(t, u) for t, u in zip(SIGNS, SMALL, strict=True)]
    want = [np.array(e) for e in zip(*rows, strict=True)] if isinstance(rows[0], tuple) else rows
    for got, each in zip(form(vmap(f))(SIGNS, SMALL), want, strict=True):
        np.testing.assert_array_equal(got, each)
        assert got.dtype == each.dtype


def added(t, u):
    k = 300 if t > 0 else 5
    return u + k


def taken_off(t, u):
    k = -1 if t > 0 else 5
    return u * k


def stored_too_large(t, u):
    v = u + np.zeros(2, np.uint8)
    v[0] = 300 if t > 0 else 45
    return v


def put_together(t, u):
    k = 300 if t > 0 else 45
    return np.array([1, k], dtype=np.uint8) + u


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("f", [added, taken_off, stored_too_large, put_together])
def test_too_large_for_the_array(f, form):
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        f(SIGNS[0], SMALL[0])
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        form(vmap(f))(SIGNS, SMALL)


def factorial(n):
    r, k = 1, 1
    while k <= n:
        r = r * k
        k += 1
    return r


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def power(n):
    k = 1
    for _ in range(n):
        k += 1
    return k**30


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize(
    ("f", "fine", "beyond"), [(factorial, 20, 21), (fibonacci, 90, 100), (power, 3, 5)]
)
def test_more_than_64_bits(f, fine, beyond, form):
    np.testing.assert_array_equal(form(vmap(f))(np.array([2, fine])), [f(2), f(fine)])
    with pytest.raises(OverflowError, match="64 bits"):
        form(vmap(f))(np.array([2, beyond]))


def steps(a, b, s):
    total = 0
    for i in range(a, b, s):
        total += i
    return total


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_no_step(form):
    a, b = np.array([0, 5]), np.array([5, 0])
    np.testing.assert_array_equal(form(vmap(steps))(a, b, np.array([2, -1])), [6, 15])
    with pytest.raises(ValueError, match="must not be zero"):
        form(vmap(steps))(a, b, np.array([1, 0]))


def sixth(x, n):
    return x[5] if n > 5 else x[0] * 2


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("width", [3, 8])
def test_places_that_only_a_side_not_taken_reads(width, form):
    x, n = np.arange(2.0 * width).reshape(2, width), np.array([3, 2])
    np.testing.assert_array_equal(form(vmap(sixth))(x, n), 2 * x[:, 0])
    np.testing.assert_array_equal(form(vmap(grad(sixth)))(x, n)[:, 0], [2, 2])
    if width == 3:
        with pytest.raises(IndexError):
            form(vmap(sixth))(x, np.array([3, 6]))


def by_integer(x):
    return 12 // int(x)


def remainder_by_integer(x):
    return 7 % int(x)


def share(x):
    return 1.0 / int(x)


def counted_down(x):
    k, total = int(x), 0
    while k > 0:
        total += 100 % k
        k -= 1
    return total


def guarded(x):
    k = int(x)
    return 10 // k if k > 0 else -1


@pytest.mark.parametrize("function", [by_integer, remainder_by_integer, share])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_zero_that_divides_is_an_error(function, compiled):
    batched = jit(vmap(function)) if compiled else vmap(function)
    right, wrong = np.array([2.0, 3.5, 5.0]), np.array([2.0, 0.5])
    np.testing.assert_allclose(batched(right), [function(x) for x in right])
    with pytest.raises(ZeroDivisionError):
        batched(wrong)


@pytest.mark.parametrize("function", [counted_down, guarded])
@pytest.mark.parametrize("compiled", [False, True])
def test_zeros_of_elements_that_do_not_divide(function, compiled):
    batched = jit(vmap(function)) if compiled else vmap(function)
    x = np.array([4.0, 0.5, 9.0, 1.0])
    np.testing.assert_array_equal(batched(x), [function(v) for v in x])


def stored_as_integer(x):
    y = np.zeros(2, int)
    y[0] = x
    return y


#: A function, elements for which it is fine, and one for which it raises.
RAISING = [
    (lambda x: 1 << int(x), [1.0, 3.0], -1.0),
    (lambda x: 5 >> int(x), [1.0, 3.0], -1.0),
    (lambda x: int(x), [1.0, -3.5], np.nan),
    (lambda x: int(x), [1.0, -3.5], np.inf),
    (lambda x: round(float(x)), [1.5, -3.5], np.nan),
    (lambda x: math.floor(x), [1.5, -3.5], -np.inf),
    (lambda x: math.ceil(x), [1.5, -3.5], np.nan),
    (lambda x: np.int64(float(x)), [1.5, -3.5], np.nan),
    (lambda x: np.int64(float(x)), [1.5, -3.5], 1e30),
    (lambda x: np.uint8(float(x)), [1.5, 3.5], 300.0),
    (lambda x: np.array(float(x), dtype=int), [1.5, -3.5], np.nan),
    (lambda x: np.array([float(x)], dtype=int), [1.5, -3.5], np.inf),
    (lambda x: np.array([x], dtype=int), [1.5, -3.5], np.nan),
    (stored_as_integer, [1.5, -3.5], np.nan),
    (lambda x: len(range(0, 10, int(x))), [1.0, -3.0], 0.5),
]


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize(("f", "right", "wrong"), RAISING)
def test_what_one_element_raises_is_raised(f, right, wrong, form):
    np.testing.assert_array_equal(form(vmap(f))(np.array(right)), [f(x) for x in right])
    batch = np.array([*right, wrong, *right])
    with pytest.raises((ValueError, OverflowError)) as alone:
        f(np.float64(wrong))
    for batched, values in ((vmap(f), batch), (vmap(vmap(f)), np.stack([batch, batch]))):
        with pytest.raises(alone.type):
            form(batched)(values)


def truncated_if_positive(x):
    return int(x) if x > 0 else -1


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_elements_of_which_no_integer_is_taken(form):
    x = np.array([2.5, -np.inf, np.nan, 3.0])
    np.testing.assert_array_equal(form(vmap(truncated_if_positive))(x), [2, -1, -1, 3])
    with pytest.raises(OverflowError):
        form(vmap(truncated_if_positive))(-x)


def test_the_first_element_that_fails_says_what_is_wrong():
    for values, error in (([1.0, np.nan, np.inf], ValueError), ([np.inf, np.nan], OverflowError)):
        with pytest.raises(error):
            vmap(lambda x: int(x))(np.array(values))


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_functions_of_numpy_divide_and_shift_integers_without_an_error(form):
    x = np.array([2.0, 0.0, -1.0])
    with np.errstate(all="ignore"):
        for f in (lambda x: np.floor_divide(7, int(x)), lambda x: np.left_shift(1, int(x))):
            np.testing.assert_array_equal(form(vmap(f))(x), [f(v) for v in x])


@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_exponents_stay_integers(form):
    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(form(vmap(lambda x: np.ldexp(1.5, int(x))))(x), [6.0, 12.0])
