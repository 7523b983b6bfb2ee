"""Quotients by one number that is never near zero are products with its reciprocal."""

import math

import numpy as np
import pytest

from tapeless import grad, jit, vmap


def logistic(x):
    return 1 / (1 + np.exp(-x))


def third(f):
    return jit(vmap(grad(grad(grad(f)))))


def exact(x):
    s = 1 / (1 + np.exp(-x.astype(np.longdouble)))
    d = s * (1 - s)
    return d * (1 - 6 * d)


@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 3e-6), (np.float64, 1e-14)])
def test_a_third_derivative(dtype, digits):
    x = np.linspace(-9, 9, 101).astype(dtype)
    slope = third(logistic)
    found = slope(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact(x).astype(float), atol=digits)
    kernel = slope.source().partition("@njit(nogil")[2]
    assert kernel.count(" / ") == 1


def quotients(a, b, c, x):
    d = 1 + x * x
    return a / d, b / d, c / d


def test_products_are_off_by_a_unit():
    rng = np.random.default_rng(0)
    args = [rng.normal(size=200) for _ in range(4)]
    args[3][:6] = 0, 1e160, np.inf, -np.inf, np.nan, 1e150
    with np.errstate(over="ignore"):
        wanted = quotients(*args)
    compiled = jit(quotients)
    for got, want in zip(compiled(*args), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=5e-16, atol=1e-320)
    assert "1.0 / " in compiled.source()


def two(a, b, x):
    d = 1 + x * x
    return a / d, b / d


def near_zero(a, b, c, x):
    d = x * x
    return a / d, b / d, c / d


def of_any_sign(a, b, c, x):
    d = 1 + x
    return a / d, b / d, c / d


def by_integers(a, b, c, n):
    d = 1 + n * n
    return a / d, b / d, c / d


@pytest.mark.parametrize("f", [two, near_zero, of_any_sign, by_integers])
def test_other_quotients_are_those_of_numpy(f):
    rng = np.random.default_rng(1)
    count = f.__code__.co_argcount
    args = [rng.normal(size=50) for _ in range(count)]
    args[-1][:2] = 1e-170, -1 + 1e-16
    if f is by_integers:
        args[-1] = np.arange(50)
    compiled = jit(f)
    with np.errstate(all="ignore"):
        for got, want in zip(compiled(*args), f(*args), strict=True):
            np.testing.assert_array_equal(got, want)


def test_they_can_be_left_out():
    rng = np.random.default_rng(0)
    args = [rng.normal(size=200) for _ in range(4)]
    compiled = jit(quotients, fastmath=False)
    for got, want in zip(compiled(*args), quotients(*args), strict=True):
        np.testing.assert_array_equal(got, want)
    assert "1.0 / " not in compiled.source()


def added_up(x, w):
    return np.sum(x, axis=1), x @ w


def test_sums_can_be_left_in_the_order_of_their_blocks():
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(40, 1000)), rng.normal(size=1000)
    compiled = jit(added_up, fastmath=False)
    sums, products = compiled(x, w)
    blocks = np.pad(x, ((0, 0), (0, 24))).reshape(40, 16, 64)  # each is added up in order
    in_order = np.cumsum(blocks, axis=2)[..., -1]
    exact = [math.fsum(row) for row in in_order]
    np.testing.assert_array_equal(sums, exact)
    np.testing.assert_allclose(products, x @ w, rtol=1e-12)
    assert "any order" not in compiled.source()
    assert "any order" in jit(added_up).lower(x, w).source()
    assert not np.array_equal(jit(added_up)(x, w)[0], exact)


def fourth_order(u):
    return -u[4:] / 12 + 8 * u[3:-1] / 12 - 8 * u[1:-3] / 12 + u[:-4] / 12


def by_several(x):
    return np.sum(x / 3 + np.sin(x) / 7 - x * x / 1.1)


def in_a_loop(x, n):
    for _ in range(n):
        x = x / 3 + np.cos(x) / 5 - x * x / 7
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("f", "others"), [(fourth_order, ()), (grad(by_several), ()), (in_a_loop, (3,))]
)
def test_quotients_by_constants_are_products(f, others, dtype):
    x = np.random.default_rng(2).normal(size=60).astype(dtype)
    compiled = jit(f)
    np.testing.assert_allclose(
        compiled(x, *others), f(x, *others), rtol=0, atol=4 * np.spacing(x.max())
    )
    assert " / " not in compiled.source().replace("d by_several / d x", "")
    exact = jit(f, fastmath=False)
    np.testing.assert_allclose(
        exact(x, *others), f(x, *others), rtol=0, atol=2 * np.spacing(x.max())
    )
    assert " / " in exact.source()


def clock(t):
    days = np.floor(t / 86400)
    hours = np.floor((t - 86400 * days) / 3600)
    return days, hours, np.floor((t - 86400 * days - 3600 * hours) / 60)


def places(x):
    return (x / 49 + x / 7 + x / 3).astype(int)


def compared(x):
    return np.where(x / 49 + x / 7 + x / 3 >= 1 + 7 + 49 / 3, x, 0.0)


def chosen(x):
    total = 0.0
    for a in x:
        if a / 49 + a / 49 + a / 49 >= 3:
            total = total + a
    return total


def as_they_are(x):
    return x / 49, x / 3, x / 10


def by_powers_of_two(x):
    return x / 2 + x / 4 - x / 8


def by_far_constants(x):
    return x / 1e-40 + x / 1e40 - x / 1e300


@pytest.mark.parametrize(
    "f", [clock, places, compared, chosen, as_they_are, by_powers_of_two, by_far_constants]
)
def test_quotients_whose_last_digit_matters_are_those_of_numpy(f):
    x = np.concatenate([np.arange(0.0, 200.0), 60.0 * np.arange(1.0, 3000.0)])
    np.testing.assert_array_equal(jit(f)(x), f(x))
