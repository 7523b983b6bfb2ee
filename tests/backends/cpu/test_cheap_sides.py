"""What a choice is between is computed without a branch where that is cheap and cannot fail."""

import ast

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.llvm.cheap_sides import is_cheap

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("text", "cheap"),
    [
        ("z[j] * z[j] + c[j]", True),
        ("-z[j].real", True),
        ("x >> 1 ^ poly", True),
        ("1 / x", False),
        ("exp(x)", False),
        ("far[j + 1]", False),
        ("x // n", False),
        ("+".join(["z[j]"] * 12), False),
    ],
)
def test_which_expressions_are_cheap(text, cheap):
    side = ast.parse(text, mode="eval").body
    assert is_cheap([side], lambda e: e.value.id != "far") is cheap


def escapes(z, c, n):
    count = np.zeros(z.shape, dtype=np.int64)
    for k in range(n):
        inside = np.abs(z) < 2.0
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def test_masked_stores_of_complex_numbers():
    z = RNG.normal(size=(9, 13)) + 1j * RNG.normal(size=(9, 13))
    c = RNG.normal(size=(9, 13)) + 1j * RNG.normal(size=(9, 13))
    for one, other in zip(jit(escapes)(z.copy(), c, 6), escapes(z.copy(), c, 6), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_elements_that_are_not_there_are_not_read():
    """The far neighbour of the last element is beyond the array."""
    x = RNG.normal(size=1000)

    def f(x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = x[i + 1] * 2 if i + 1 < len(x) else -x[i]
        return y

    np.testing.assert_array_equal(jit(f)(x), f(x))
