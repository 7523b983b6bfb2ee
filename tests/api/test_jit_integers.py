"""Integers under jit have NumPy's dtypes, values and errors, whatever their width."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError

U1 = np.array([1, 2, 255], np.uint8)
I1 = np.array([-128, 127, 3], np.int8)
U8 = np.array([1, 2**64 - 1, 2**63], np.uint64)
I8 = np.array([-1, 2**63 - 1, 5])


def alike(f, *args):
    """Whether the compiled function gives the same values of the same types."""
    with np.errstate(over="ignore"):
        want, got = f(*args), jit(f)(*args)
    assert type(got) is type(want)
    np.testing.assert_array_equal(got, want)
    assert np.asarray(got).dtype == np.asarray(want).dtype


@pytest.mark.parametrize("n", [-1, 0, 255, 256, 2**40])
@pytest.mark.parametrize("x", [U1, I1, U8, I8], ids=["u1", "i1", "u8", "i8"])
def test_integers_are_compared_by_value(x, n):
    alike(lambda x, n: x > n, x, n)
    alike(lambda x, n: n <= x, x, n)
    alike(lambda x, n: x == n, x, n)
    alike(lambda x: x != 256, x)
    alike(lambda x: x < -1, x)
    alike(lambda x: x[0] >= -1, x)


def test_signed_and_unsigned_integers_of_64_bits_are_compared_by_value():
    alike(lambda x, y: x < y, U8, I8)
    alike(lambda x, y: x == y, U8, I8)
    alike(lambda x, y: y >= x, U8, I8)
    alike(lambda x, y: x != y, np.array([2**63 - 1], np.uint64), np.array([2**63 - 1]))


def test_a_branch_by_an_unsigned_element():
    def f(x):
        found = 0
        for i in range(len(x)):
            if x[i] > -2:
                found += 1
        return found

    assert jit(f)(U8) == jit(f)(U1) == 3


@pytest.mark.parametrize("count", [0, 7, 8, 63, 64, 200])
def test_shifts_by_any_number_of_bits(count):
    for x in (U8, I8):
        alike(lambda x, n: x << n, x, count)
        alike(lambda x, n: x >> n, x, count)
        alike(lambda x: x >> 64, x)
    counts = np.array([count, 1, -1])
    alike(lambda x, n: x << n, I8, counts)
    alike(lambda x, n: x >> n, I8, counts)


def test_python_integers_are_not_shifted_back():
    for f in (lambda n, k: n << k, lambda n, k: n >> k):
        assert jit(f)(5, 1) == f(5, 1)
        with pytest.raises(ValueError, match="negative shift count"):
            jit(f)(1, -1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: x + n,
        lambda x, n: x[0] * n,
        lambda x, n: np.maximum(x, n),
        lambda x, n: np.uint8(n) + x,
        lambda x, n: np.full(3, n, np.uint8) + x[0],
    ],
)
@pytest.mark.parametrize("n", [300, -1])
def test_python_integers_that_a_dtype_does_not_hold(f, n):
    alike(f, U1, 3)
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        jit(f)(U1, n)


def by_numpy(f, *args):
    """What a function gives, or the error that it raises."""
    try:
        return f(*args)
    except OverflowError as e:
        return type(e).__name__


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: np.where(x > 2, x, n),
        lambda x, n: np.clip(x, 0, n),
        lambda x, n: x.clip(-n, 3),
        lambda x, n: np.clip(x, n, n + 1),
        lambda x, n: np.pad(x, 1, constant_values=n),
    ],
    ids=["where", "clip_above", "clip_below", "clip_both", "pad"],
)
@pytest.mark.parametrize("n", [3, 300, -1, 2**40])
def test_python_integers_that_numpy_cuts_off_or_takes_as_bounds(f, n):
    """`where` raises from NumPy 2.5 on, and takes the last bits of the integer before."""
    want = by_numpy(f, U1, n)
    for g in (jit(f), lambda x, n: vmap(f, in_axes=(0, None))(x[None], n)[0]):
        got = by_numpy(g, U1, n)
        np.testing.assert_array_equal(got, want)
        assert getattr(got, "dtype", None) == getattr(want, "dtype", None)


def test_constants_that_a_dtype_does_not_hold():
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        jit(lambda x: x + 300)(U1)


def test_a_store_of_an_integer_that_the_array_does_not_hold():
    def f(x, n):
        for i in range(len(x)):
            x[i] = n + i
        return x

    np.testing.assert_array_equal(jit(f)(U1.copy(), 3), [3, 4, 5])
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        jit(f)(U1.copy(), 254)


@pytest.mark.parametrize("small", [U1, I1], ids=["u1", "i1"])
def test_parts_from_which_smaller_integers_are_taken(small):
    def f(x, y):
        x[1:] -= y[:-1]
        return x

    want = f(np.ones(3), small)
    np.testing.assert_array_equal(jit(f)(np.ones(3), small), want)
    slope = jit(grad(lambda x, y: np.sum(f(x * 1.0, y) ** 2)))(np.ones(3), small)
    np.testing.assert_array_equal(slope, 2 * want)


def test_products_of_small_integers_wrap_before_they_are_divided():
    alike(lambda x: (2 * x) / 2, I1)
    alike(lambda x, y: x - (-y) / 2, np.ones(3), I1)


def test_sums_of_python_keep_the_dtype():
    for x in (U1, I1, U8, np.array([True, True])):
        alike(lambda x: sum(x), x)


def test_a_first_value_of_a_reduction_has_the_dtype_of_the_array():
    for x in (U1, np.array([True, False]), np.ones(3, np.float32)):
        alike(lambda x: np.max(x, initial=7.5), x)
        alike(lambda x: np.sum(x, initial=2), x)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, bool])
@pytest.mark.parametrize("axis", [None, 0])
def test_means_of_a_dtype_are_of_sums_that_wrap_in_it(dtype, axis):
    x = np.array([[200, 100], [50, 7]], np.uint8)
    alike(lambda x: np.mean(x, axis=axis, dtype=dtype), x)


def test_floats_that_small_unsigned_integers_do_not_hold():
    x = np.array([-1.0, -2.7, 300.5, 255.0])
    for dtype in (np.uint8, np.uint16, np.uint32):
        alike(lambda x, dtype=dtype: x.astype(dtype), x)
        alike(lambda x, dtype=dtype: x.astype(np.float32).astype(dtype), x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda i: -i, (-(2**63),)),
        (lambda i: abs(i), (-(2**63),)),
        (lambda i, j: i // j, (-(2**63), -1)),
        (lambda i: i // -1, (-(2**63),)),
    ],
)
def test_the_least_integer_has_no_opposite(function, args):
    with pytest.raises(OverflowError, match="more than 64 bits"):
        jit(function)(*args)
    less = (args[0] + 1, *args[1:])
    assert jit(function)(*less) == function(*less)


def test_floats_added_to_integers_one_by_one_are_refused():
    def f(a, k):
        np.add.at(a, k, -1.5)
        return a

    with pytest.raises(UnsupportedError, match="cut off after each"):
        jit(f)(np.array([10, 12, 3]), np.array([0, 0, 1]))


def test_the_imaginary_part_of_a_number_is_one():
    for x in (0.5, np.float64(0.5)):
        assert np.ndim(jit(lambda x: np.imag(x))(x)) == 0
        assert not isinstance(jit(lambda x: np.imag(x))(x), np.ndarray)


def test_numbers_added_to_truth_values_one_by_one_are_refused():
    q, k = np.array([True, True, False]), np.array([0, 0, 1])

    def added(q, b):
        np.add.at(q, k, b)
        return q

    def subtracted(q, b):
        np.subtract.at(q, k, b)
        return q

    for f in (added, subtracted):
        with pytest.raises(UnsupportedError, match="cut off after each"):
            jit(f)(q.copy(), 1)
    np.testing.assert_array_equal(jit(added)(q.copy(), True), added(q.copy(), True))
    with pytest.raises(UnsupportedError, match="boolean subtract"):
        jit(subtracted)(q.copy(), True)
