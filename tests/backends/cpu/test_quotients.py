"""Remainders of our own are those of NumPy, to the last bit and with its signs."""

import numpy as np
import pytest

from tapeless import jit

SPECIAL = np.array(
    [
        *(0.0, -0.0, 1, -1, 0.5, 3, -3, 6, 0.1, 0.3, 1 / 3, np.inf, -np.inf, np.nan),
        *(5e-324, -5e-324, 1e-310, 2.3e-308, 1e308, -1.7e308),
        *(2.0**52, 2.0**52 + 1, 2.0**53, 1e22),
    ]
)
DTYPES = pytest.mark.parametrize("dtype", ["f8", "f4"])


def element_by_element(x, y):
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        out[i] = x[i] % y[i] + out[i - 1] * 0  # which keeps LLVM from vectorising
    return out


FUNCTIONS = [
    jit(lambda x, y: np.fmod(x, y)),
    jit(lambda x, y: np.mod(x, y)),
    jit(lambda x, y: np.floor_divide(x, y)),
]
WANTED = [np.fmod, np.mod, np.floor_divide]


def check(x, y):
    with np.errstate(all="ignore"):
        for f, of_numpy in zip(FUNCTIONS, WANTED, strict=True):
            found, wanted = f(x, y), of_numpy(x, y)
            np.testing.assert_array_equal(found, wanted)
            there = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found)[there], np.signbit(wanted)[there])


@DTYPES
def test_of_all_kinds_of_numbers(dtype):
    with np.errstate(over="ignore", under="ignore"):
        some = SPECIAL.astype(dtype)
    check(*(a.ravel() for a in np.meshgrid(some, some)))


@DTYPES
@pytest.mark.parametrize("largest", [8, 2**10, 2**21])
def test_beside_multiples(dtype, largest, rng):
    """Where a quotient is rounded to the next integer, or is a little above one."""
    y = rng.normal(size=5003).astype(dtype)
    multiples = (rng.integers(-largest, largest, 5003) * y).astype(dtype)
    for x in (multiples, np.nextafter(multiples, y * 0), np.nextafter(multiples, 2 * multiples)):
        check(x, y)


@DTYPES
def test_of_any_size(dtype, rng):
    sizes = 10.0 ** rng.integers(-30, 30, (2, 5003))
    check(*(rng.normal(size=(2, 5003)) * sizes).astype(dtype))
    check(np.arange(5003, dtype=dtype) / 10, np.full(5003, 0.1, dtype))


@DTYPES
def test_one_after_the_other(dtype, rng):
    x = np.concatenate([(rng.normal(size=503) * 50).astype(dtype), [1e30, -1e30]]).astype(dtype)
    y = rng.normal(size=505).astype(dtype)
    wanted = np.mod(x, y)
    np.testing.assert_array_equal(jit(element_by_element)(x, y)[1:], wanted[1:])


def test_integers_do_not_divide_as_floats():
    k = np.arange(-20, 20)
    np.testing.assert_array_equal(jit(lambda k: k % 7)(k), k % 7)
    np.testing.assert_array_equal(jit(lambda k: k // -7)(k), k // -7)
