"""What a library for GPUs lacks, or answers otherwise than NumPy: values are NumPy's."""

import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(5, 6, 7))
HOLES = np.where(RNG.random(PLAIN.shape) < 0.2, np.nan, PLAIN)
HOLES[2] = np.nan
EDGES = RNG.choice([0.0, 1.0, -1.0, np.inf, -np.inf], size=PLAIN.shape)
ARRAYS = {
    "plain": PLAIN,
    "single": PLAIN.astype(np.float32),
    "holes": HOLES,
    "edges": EDGES,
    "integers": RNG.integers(-5, 5, PLAIN.shape),
    "one": PLAIN[:1, :1],
}
COMPLEX = PLAIN + 1j * PLAIN[::-1]


def median(x):
    return np.median(x), np.median(x, axis=1), np.median(x, axis=(0, 2), keepdims=True)


def quantiles(x):
    return np.quantile(x, 0.3), np.percentile(x, 75, axis=-1), np.quantile(x, [0.1, 1.0], axis=0)


def without_holes(x):
    return np.nanmedian(x, axis=1), np.nanquantile(x, 0.3, axis=(0, 1)), np.nanpercentile(x, 60)


def of_logarithms(x):
    return np.logaddexp.reduce(x, axis=1), np.logaddexp2.reduce(x, keepdims=True)


def check(f, *args):
    rtol = 1e-6 if args[0].dtype.itemsize == 4 else 1e-13
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = f(*args)
    found = tapeless.device_get(jit(f, backend="gpu")(*args))
    for a, b in zip(tapeless.tree.leaves(found), tapeless.tree.leaves(expected), strict=True):
        assert a.dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("f", [median, quantiles, without_holes, of_logarithms])
def test_values_are_those_of_numpy(f, name, gpu):
    check(f, ARRAYS[name])


def test_moments_of_complex_numbers(gpu):
    check(lambda z: (z.mean(), z.var(axis=1), z.std(axis=(0, 2), ddof=1)), COMPLEX)


@pytest.mark.parametrize("at", [np.maximum.at, np.minimum.at], ids=["maximum", "minimum"])
def test_elements_that_are_named_twice_take_all_values(at, gpu):
    def f(y, places, x):
        y = y.copy()
        at(y, places, x)
        return y

    x = RNG.normal(size=40)
    check(f, np.zeros(7), RNG.integers(-7, 7, 40), x)
    with pytest.raises(IndexError):
        tapeless.device_get(jit(f, backend="gpu")(np.zeros(7), np.full(40, 7), x))


def test_slopes_of_a_median(gpu):
    def f(x):
        return np.sum(np.median(x * x, axis=1))

    found = tapeless.device_get(jit(grad(f), backend="gpu")(PLAIN))
    np.testing.assert_allclose(found, grad(f)(PLAIN), rtol=1e-13)
