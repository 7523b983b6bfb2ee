"""Scaled with one rounding: against fractions, which are exact."""

from fractions import Fraction

import numpy as np
import pytest

from tapeless import grad, jit, random, vmap
from tapeless.random.fused_multiply_add import multiply_add
from tests.api.jax_peer import jax_or_skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_and_a_sum_are_rounded_once(dtype):
    rng = np.random.default_rng(0)
    x = rng.random(500).astype(dtype)
    y = (rng.standard_normal(500) * 10.0 ** rng.integers(-6, 6, 500)).astype(dtype)
    z = (rng.standard_normal(500) * 10.0 ** rng.integers(-6, 6, 500)).astype(dtype)
    want = [
        dtype(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))
        for a, b, c in zip(x, y, z, strict=True)
    ]
    assert (multiply_add(x, y, z) == np.array(want)).all()
    assert (multiply_add(x, y, z) != x * y + z).any()


def test_large_numbers_stay_finite():
    assert multiply_add(np.array([0.5]), np.array([1e308]), np.array([1.0])) == 5e307


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_same_numbers_by_all_ways(dtype):
    def draw(key):
        return random.uniform(key, (1000,), dtype, -2.0, 3.0)

    keys = random.split(random.key(3), 4)
    with random.report_reuse(False):
        want = np.stack([draw(k) for k in keys])
        assert (np.asarray(jit(draw)(keys[0])) == want[0]).all()
        assert (np.asarray(vmap(draw)(keys)) == want).all()
    assert ((want >= -2) & (want < 3)).all()


def test_slopes_by_the_bounds():
    key = random.key(1)
    u = np.asarray(random.uniform(key, (5,)))
    low = grad(lambda a: random.uniform(key, (5,), float, a, 3.0).sum())(-2.0)
    high = grad(lambda b: random.uniform(key, (5,), float, -2.0, b).sum())(3.0)
    np.testing.assert_allclose([low, high], [(1 - u).sum(), u.sum()], rtol=1e-14)


def test_bits_of_jax():
    jax = jax_or_skip()
    for low, high in ((-2.0, 3.0), (0.1, 0.7), (-1e-3, 1e3)):
        for dtype in ("float64", "float32"):
            want = jax.random.uniform(jax.random.PRNGKey(3), (2000,), dtype, low, high)
            got = random.uniform(random.PRNGKey(3), (2000,), dtype, low, high)
            assert (np.asarray(want) == np.asarray(got)).all()
