"""Sums under jit are as exact as NumPy's: their errors against those of NumPy, by sums in more
digits, for reductions of all kinds, shapes and dtypes."""

import math

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
WIDER = {np.dtype("f4"): np.float64, np.dtype("f8"): np.longdouble, np.dtype("c8"): np.complex128}
FEW = 6  # units in the last place that any form may be off
OPTIONS = [{}, {"fastmath": False}, {"parallel": False}]


def total(x):
    return np.sum(x)


def of_squares(x):
    return np.sum(x * x)


def of_exponentials(x):
    return np.sum(np.exp(-x))


def mean(x):
    return np.mean(x)


def reduced(x):
    return np.add.reduce(x, axis=None)


def averaged(x):
    return np.average(x, weights=x * x)


def masked(x):
    return np.sum(np.where(x.real > 0.3, x, 0))


def picked(x):
    return np.sum(x[x.real > 0.3])


def dotted(x):
    return np.dot(x.ravel(), x.ravel())


def contracted(x):
    return np.einsum("i,i->", x.ravel(), x.ravel())


def trapezoid(x):
    return np.trapezoid(x.ravel(), dx=0.5)


def backwards(x):
    return np.sum(x[::-1] * x)


def every_second(x):
    return np.sum(x[::2])


def beside_a_product(x):
    return np.sum(x * x), np.prod(x / x)


def down(x):
    return np.sum(x, axis=0)


def along(x):
    return np.sum(x, axis=-1)


def of_largest(x):
    return np.sum(np.max(x, axis=-1))


def logarithms(x):
    return np.log(np.sum(np.exp(x), axis=-1))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def variance(x):
    return np.var(x)


def deviations(x):
    return np.std(x, axis=-1)


def norm(x):
    return np.linalg.norm(x)


def turned(x):
    return np.sum(x.T * 2)


def by_bias(x):
    return grad(lambda b: np.sum(np.exp(-(x + b))))(x[-1] * 0)


def by_scale(x):
    return grad(lambda s: np.sum(np.exp(-x * s)))(x.dtype.type(0.5))


ANY = [total, of_squares, mean, reduced, masked, picked, dotted, contracted, trapezoid, backwards]
ANY += [every_second, turned]
REAL = [of_exponentials, averaged, beside_a_product, variance, norm, by_scale]
ROWS = [down, along, of_largest, logarithms, softmax, deviations, by_bias]
CASES = [(f, (n,)) for f in ANY + REAL for n in (300, 70_001)]
CASES += [(f, s) for f in ANY + REAL + ROWS for s in ((20_000, 2), (3000, 10), (90, 1500))]


def numbers(shape, dtype):
    x = RNG.uniform(0.01, 1, shape)
    return (x + 1j * RNG.uniform(0, 1, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def error(got, right):
    """The largest error, as a part of the result."""
    pairs = zip(flat(got), flat(right), strict=True)
    return max(float(np.max(np.abs(a.astype(b.dtype) - b) / np.abs(b))) for a, b in pairs)


def flat(x):
    return [np.atleast_1d(y) for y in (x if isinstance(x, tuple) else (x,))]


@pytest.mark.parametrize("options", OPTIONS, ids=["", "as-written", "one-thread"])
@pytest.mark.parametrize(("f", "shape"), CASES, ids=lambda p: getattr(p, "__name__", str(p)))
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_as_exact_as_numpy(f, shape, dtype, options):
    x = numbers(shape, dtype)
    right = f(x.astype(WIDER[x.dtype] if f not in (by_bias, by_scale) else np.float64))
    bound = 2 * error(f(x), right) + FEW * np.finfo(dtype).eps
    assert error(jit(f, **options)(x), right) <= bound


@pytest.mark.parametrize("f", [total, of_squares, mean, masked, turned, backwards, down, along])
@pytest.mark.parametrize("options", [{}, {"fastmath": False}])
def test_complex_numbers(f, options):
    x = numbers((300, 200), "c8")
    right = f(x.astype(np.complex128))
    bound = 2 * error(f(x), right) + FEW * np.finfo("f4").eps
    assert error(jit(f, **options)(x), right) <= bound


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_errors_do_not_grow(dtype):
    """One unit for ten million equal terms, which an accumulator for all of them rounds alike."""
    x = np.full(10_000_000, 0.1, dtype)
    for options in OPTIONS:
        got = jit(total, **options)(x)
        assert abs(got - math.fsum(x)) <= FEW * np.finfo(dtype).eps * got


def loop_of_the_user(x):
    s = np.float32(0)
    for v in x:
        s += v * v
    return s


def test_loops_of_the_user():
    """At least as exact as Python's order; that order with fastmath=False."""
    x = numbers(200_000, "f4")
    right = float(np.sum(x.astype(float) ** 2))
    assert abs(jit(loop_of_the_user)(x) - right) <= 4 * np.finfo("f4").eps * right
    assert jit(loop_of_the_user, fastmath=False)(x) == loop_of_the_user(x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_no_numbers(dtype, value):
    for at in (0, 1500, 2999):
        x = np.ones((3000, 3), dtype)
        x[at, 1] = value
        for f in (total, of_squares, along, mean):
            np.testing.assert_array_equal(jit(f)(x), f(x))
            np.testing.assert_array_equal(jit(f, fastmath=False)(x), f(x))
    both = np.array([np.inf, -np.inf, 1], dtype)
    assert np.isnan(jit(total)(both))


def test_compiled_again_for_long_rows_only():
    f = jit(lambda x: np.sum(x, axis=1))
    for n in (3, 100, 1000, 5000):
        f(numbers((40, n), "f4"))
    assert len(f.compilations) == 1
    for _ in range(2):
        y = numbers((2, 90_000), "f4")
        np.testing.assert_allclose(f(y), along(y.astype(float)), rtol=4e-7)
    assert len(f.compilations) == 2


def test_read_in_loop_form():
    text = jit(total).source(np.ones(3, "f4"))
    kernel = text.partition("@njit(nogil")[2].partition("def total(")[0]
    assert [line.strip() for line in kernel.splitlines()[2:]][:6] == [
        "total_wide = 0.0  # line 18",
        "for start in range(first, last, 2048):",
        "part = np.float32(0)",
        "for i in range(start, min(start + 2048, last)):",
        "part = plus(part, x[i])",
        "total_wide += part",
    ]
