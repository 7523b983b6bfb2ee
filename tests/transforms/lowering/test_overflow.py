"""Python's integers have no bounds: compiled code says so where 64 bits are not enough."""

import numpy as np
import pytest

import tapeless


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def factorial(n):
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def hashed(n):
    h = 17
    for _ in range(10):
        h = h * 31 + n
    return h


def alternating(n):
    s = n
    for _ in range(60):
        s = -2 * s
    return s


def square(n):
    return n * n


def shifted(n):
    total = 0
    for i in range(3):
        total += (n + i) << 40
    return total


def power(n):
    last = 0
    for k in range(n):
        last = k * k * k * k * k
    return last


def far_apart(n):
    total = 0
    for k in range(n):
        total = (k * 6_364_136_223_846_793_005) % 1000
    return total


def last_square(n):
    last = 0
    for k in range(n - 2, n):
        last = k * k
    return last


@pytest.mark.parametrize(
    ("f", "fits", "beyond"),
    [
        (power, 6000, 20_000),
        (far_apart, 2, 1000),
        (last_square, 3_000_000_000, 3_040_000_000),
        (fibonacci, 91, 93),
        (factorial, 20, 21),
        (hashed, 5, 10**6),
        (alternating, 3, 17),
        (square, 3_037_000_499, 3_037_000_500),
        (shifted, 2**21, 2**23),
    ],
)
def test_what_is_beyond_64_bits_is_said(f, fits, beyond):
    compiled = tapeless.jit(f)
    assert compiled(fits) == f(fits)
    if f not in (far_apart,):  # whose remainders are small
        assert not -(2**63) <= f(beyond) < 2**63
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(beyond)


def test_integers_of_numpy_wrap_as_those_of_numpy():
    def doubled(x, n):
        for _ in range(n):
            x = x * np.int64(2)
        return x

    for x in (np.array([3, 5]), np.int64(3)):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(tapeless.jit(doubled)(x, 64), doubled(x, 64))


def test_indices_and_counts_are_not_tested():
    def f(x, m):
        total, count = 0.0, 0
        for i in range(len(x) // 4):
            for j in range(4):
                total = total + x[i * 4 + j] * (2 * i + j)
                count += 1
        return total / count

    compiled = tapeless.jit(f)
    assert compiled(np.arange(12.0), 4) == f(np.arange(12.0), 4)
    assert "OverflowError" not in compiled.source()


def tripled(x):
    return 3 * x


def tripled_if_odd(x, steps):
    for _ in range(steps):
        if x % 2 == 0:  # noqa: SIM108  # a branch is what is tested
            x = x // 2
        else:
            x = x * -3
    return x


def counted_and_scaled(x, steps):
    count = 0
    for _ in range(steps):
        if x > 0:
            x = x * 5
            count = count + 1
        else:
            x = x + 1
            count = count + 2
    return x, count


LAST = (2**63 - 1) // 3


def test_multiples_are_tested_to_the_last_integer():
    compiled = tapeless.jit(tripled)
    for x in (LAST, -LAST, 0, 1):
        assert compiled(x) == 3 * x
    for x in (LAST + 1, -LAST - 1):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            compiled(x)


def test_a_side_of_a_branch_that_is_not_taken_raises_nothing():
    compiled = tapeless.jit(tripled_if_odd)
    for x in (2**62, -(2**62), LAST, -LAST, 2**62 + 2):
        assert compiled(x, 1) == tripled_if_odd(x, 1)
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(2**62 + 1, 1)
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(2**63 - 2, 2)


def test_several_numbers_that_a_branch_sets():
    compiled = tapeless.jit(counted_and_scaled)
    for x, steps in ((-3, 9), (1, 26), (-(2**62), 3)):
        assert compiled(x, steps) == counted_and_scaled(x, steps)
    with pytest.raises(OverflowError, match="more than 64 bits"):
        compiled(1, 28)


def test_bits_that_a_mask_keeps_fit_a_small_dtype():
    def low_bits(data, seed):
        for b in data:
            seed = (seed >> 1) + 3 * int((seed & 0xFF) ^ b)
        return seed

    data = np.arange(40, dtype=np.uint8)
    compiled = tapeless.jit(low_bits)
    assert compiled(data, 65535) == low_bits(data, 65535)
    assert compiled(data, -5) == low_bits(data, -5)
    assert "for uint8" not in compiled.source(data, 1)
