"""Functions that call themselves, in C, and their derivatives."""

from types import SimpleNamespace

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, value_and_grad
from tapeless.transformations.compilation.jit_to_c import JitToC
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


def halves(v):
    """Arrays whose lengths differ from call to call."""
    if np.sum(v * v) < 1:
        return np.sum(np.sin(v))
    h = len(v) // 2
    return halves(v[:h] * v[h : 2 * h]) + halves(v[h:] * 0.7)


def walk(x, v, end):
    """What is saved is an array, or an array for each pass of a loop."""
    if x < end:
        return np.sum(v * x)
    for _ in range(3):
        v = np.sin(v) * x + v[::-1] * 0.5
    return walk(x - 0.01, v, end)


def masked(x, m):
    """Flags and numbers of single precision are saved."""
    if x < 1:
        return np.sum(np.where(m, x, x * x))
    return masked(x - 1, ~m) * np.float64(np.float32(x))


def power(a, n):
    if n < 1:
        return a
    half = power(a, n / 2)
    return half @ half if n > 3 else half @ half @ a


def sum_of_power(a, n):
    return np.sum(power(a, n))


def of_each(xs):
    """Calls in a loop: their tapes are in an array."""

    def half(x):
        return x if x < 1 else np.sin(half(x / 2)) + x

    total = 0.0
    for x in xs:
        total += half(x)
    return total


def guarded(x, k):
    """A quotient whose derivative is zero where nothing depends on it."""
    return x * k if x < 1 else guarded(x / (2 + k), k) + 2 * x


def named_as_c_names_it(memory, saved, depth):
    """Arguments have names that the printed functions use themselves."""
    if depth < 1:
        return memory * saved
    return np.sin(named_as_c_names_it(memory * 0.5, saved, depth - 1)) * memory


POINTS = np.linspace(0.1, 1.0, 37)
SLOPES = {
    "tree": (grad(lambda b: integral(b, 3.0)), (2.0,)),
    "each other": (grad(even), (7.3,)),
    "arrays": (grad(lambda v: np.sum(until_large(v))), (normal(4),)),
    "long arrays": (grad(lambda v: np.sum(until_large(v))), (normal(40) * 0.1,)),
    "lengths that differ": (grad(halves), (POINTS,)),
    "loops inside": (value_and_grad(walk, argnums=(0, 1)), (0.7, POINTS[:20], 0.65)),
    "short arrays": (grad(walk, argnums=(0, 1)), (0.7, POINTS[:3], 0.65)),
    "flags": (grad(masked), (4.5, np.arange(15) % 2 == 0)),
    "matrices": (grad(sum_of_power), (np.eye(12) * 0.9 + 0.01, 13.0)),
    "in a loop": (grad(of_each), (POINTS * 30,)),
    "a strong zero": (grad(guarded, argnums=(0, 1)), (5.0, 0.3)),
    "names": (grad(named_as_c_names_it, argnums=(0, 1)), (0.7, 0.4, 3.5)),
    "Hessian": (hessian(halves), (POINTS[:12],)),
    "forward of reverse": (jacfwd(grad(halves)), (POINTS[:12],)),
}
PROGRAMS_THAT_RECURSE = {
    "long arrays": (until_large, (normal(100) * 0.1,)),
    "lengths that differ": (halves, (POINTS,)),
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


@pytest.mark.parametrize("name", SLOPES)
def test_derivatives_in_reverse_mode(name, tmp_path):
    """They are those of array form, which agree with differences of the function in NumPy."""
    function, args = SLOPES[name]
    checked(function, args, tmp_path, function(*args))


def test_a_derivative_agrees_with_differences(tmp_path):
    slope = library(grad(halves), (POINTS,), tmp_path)
    v, step = np.linspace(0.2, 0.9, 23), 1e-6
    units = np.eye(len(v)) * step
    expected = [(halves(v + u) - halves(v - u)) / (2 * step) for u in units]
    np.testing.assert_allclose(slope(v), expected, rtol=1e-7, atol=1e-9)


def test_memory_of_calls_grows_with_them(tmp_path):
    """The wrapper asks for more until it is enough; too many calls are an error before that."""
    run, v = library(grad(walk), (0.7, POINTS, 0.65), tmp_path), np.linspace(0.1, 1.0, 200)
    np.testing.assert_allclose(run(1.3, v, 0.1), grad(walk)(1.3, v, 0.1), rtol=1e-9)
    with pytest.raises(RecursionError):
        run(20.0, v[:3], 0.1)


def test_memory_is_given_back(tmp_path):
    """What a call takes for itself, others have after it: 2,000 calls on arrays of 20 numbers need
    no more than the ten that wait for one another."""

    def tree(v, n):
        if n < 1:
            return np.sum(v)
        for _ in range(100):
            v = np.sqrt(np.sort(v)[::-1] + 1)
        return tree(v, n - 1) + tree(0.5 * v, n - 1)

    run, rooms = library(tree, (POINTS[:20], 10.0), tmp_path), []
    compiled = run.__globals__["LIBRARY"]

    def watched(*args):
        rooms.append(args[-2].value)
        return compiled.tree(*args)

    run.__globals__["LIBRARY"] = SimpleNamespace(tree=watched, tree_work=compiled.tree_work)
    np.testing.assert_allclose(run(POINTS[:20], 10.0), tree(POINTS[:20], 10.0), rtol=1e-12)
    assert rooms == [1024]


def test_lists_of_functions_that_call_themselves_are_refused():
    def shrunk(x):
        if x < 0.5:
            return x * x
        y = x
        while y > 0.3:
            y = y * 0.7 * np.cos(y)
        return y * shrunk(x * 0.6)

    with pytest.raises(UnsupportedError, match="a list of a function that calls itself"):
        JitToC(grad(shrunk)).module_for((3.5,), {})
