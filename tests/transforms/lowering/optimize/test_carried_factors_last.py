"""Products in loops: factors that do not wait for the pass before are multiplied first."""

import math

import numpy as np
import pytest

from tapeless import grad, jit
from tests.transforms.c.compiled import normal


def cooled(x, steps):
    """The derivative of each pass is a quotient of numbers that the forward loop has computed."""
    for _ in range(steps):
        x = x + 0.1 * x / (2.0 + x * x)
    return x


def chosen(x, w):
    for v in w:
        x = x * v / (2.0 + v) if v > 0 else 3.0 * x * v * v
    return x


def divided(x, w):
    """What is carried on divides."""
    for v in w:
        x = (v * v + 1.0) * v / x
    return x


def both(x, y, w):
    for v in w:
        x, y = 0.5 * x * v * y, y * v / (1.0 + v * v) * 2.0
    return x + y


def read_twice(x, w):
    total = 0.0
    for v in w:
        t = x * v
        x = t * v / 2.0
        total = total + t
    return total + x


def while_large(x, v):
    while x > 1.0:
        x = x * v / (1.0 + v) * v
    return x


W = np.abs(normal(6)) + 0.5
PROGRAMS = {
    "quotients of saved values": (cooled, (0.7, 9)),
    "branches": (chosen, (1.3, W - 0.9)),
    "carried divisors": (divided, (1.3, W)),
    "two carried factors": (both, (1.3, 0.4, W)),
    "products that are read twice": (read_twice, (1.3, W)),
    "while": (while_large, (40.0, 0.9)),
}


def slope(f, x, *args):
    """The derivative by the first argument, in longer numbers."""
    h = np.longdouble(1e-6)
    x = np.longdouble(x)
    return (f(x + h, *args) - f(x - h, *args)) / (2 * h)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, dtype):
    f, (x, *args) = PROGRAMS[name]
    x = dtype(x)
    args = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in args]
    digits = 1e-13 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(jit(f)(x, *args), f(np.longdouble(x), *args), rtol=digits)
    found = jit(grad(f))(x, *args)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, slope(f, x, *args), rtol=max(digits, 1e-9))


def test_one_multiplication_waits_for_the_pass_before():
    source = jit(grad(chosen)).source(1.3, W)
    assert "x_bar * (v / (2.0 + v))" in source
    assert "x_bar * (3.0 * v * v)" in source


def test_the_order_stays_where_numbers_must():
    source = jit(grad(chosen), fastmath=False).source(1.3, W)
    assert "x_bar / (2.0 + v) * v" in source
    assert "x_bar * v * v" in source


def binomial(n, k):
    """Each of its products is an integer: in another order it is not."""
    number = 1.0
    for j in range(k):
        number = number * (n - j) / (j + 1)
    return number


def test_what_the_user_computes_is_left_in_order():
    for n in range(3, 30):
        assert jit(binomial)(float(n), n // 2) == math.comb(n, n // 2)
    assert "x * v / " in jit(chosen).source(1.3, W)
