"""Functions that call themselves, in C: on numbers and on short arrays."""

import numpy as np
import pytest

from tapeless import grad
from tapeless.transformations.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.c.compiled import checked, library, normal


def quadrature(f, a, b, tolerance):
    middle = (a + b) / 2
    coarse = (b - a) / 6 * (f(a) + 4 * f(middle) + f(b))
    left = (middle - a) / 6 * (f(a) + 4 * f((a + middle) / 2) + f(middle))
    right = (b - middle) / 6 * (f(middle) + 4 * f((middle + b) / 2) + f(b))
    if abs(left + right - coarse) < tolerance:
        return left + right
    return quadrature(f, a, middle, tolerance / 2) + quadrature(f, middle, b, tolerance / 2)


def integral(b, depth):
    """An argument has the name that the printed functions use themselves."""
    return quadrature(lambda x: np.exp(-x * x) * np.sin(depth * x), 0.0, b, 1e-6)


def collatz(n, x):
    """Branches and a loop in the function, and several results."""

    def step(n, x, count):
        if n == 1:
            return x, count
        if n % 2 == 0:
            return step(n // 2, x * 0.5 + 1, count + 1)
        for _ in range(2):
            x = np.sin(x) + 1
        return step(3 * n + 1, x, count + 1)

    return step(n, x, 0)


def even(x):
    return x if x < 1 else odd(x - 1) * 0.5


def odd(x):
    return -x if x < 1 else even(x - 1) + 1


def until_large(v):
    """An array that is handed on."""
    return v if np.sum(v * v) > 100 else until_large(v * 1.5 + np.roll(v, 1))


def counted(x):
    return 0.0 if x < 1 else 1 + counted(x - 1)


PROGRAMS_THAT_RECURSE = {
    "quadrature": (integral, (2.0, 3.0)),
    "several results": (collatz, (27, 0.3)),
    "each other": (even, (7.3,)),
    "arrays": (until_large, (normal(4),)),
}


@pytest.mark.parametrize("name", PROGRAMS_THAT_RECURSE)
def test_numbers_of_numpy(name, tmp_path):
    function, args = PROGRAMS_THAT_RECURSE[name]
    checked(function, args, tmp_path, function(*args))


def test_too_many_calls(tmp_path):
    """As in Python, that is an error."""
    run = library(counted, (5.5,), tmp_path)
    assert run(800.5) == 800.0
    with pytest.raises(RecursionError):
        run(5000.0)


def test_long_arrays_and_tapes_are_refused():
    with pytest.raises(UnsupportedError, match="of a function that calls itself"):
        JitToC(until_large).module_for((normal(100),), {})
    with pytest.raises(UnsupportedError, match="calls itself saves for its derivative"):
        JitToC(grad(even)).module_for((3.5,), {})
