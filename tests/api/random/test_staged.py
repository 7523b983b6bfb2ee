"""Staged, emitted and batched, the functions give the numbers that they give at once."""

import numpy as np
import pytest

import tapeless
from tapeless import random

KEY = np.array([0, 1], np.uint32)
X = np.array([1.5, 0.8, 2.5])
CASES = {
    "bits": lambda key, x: random.bits(key, (3,), np.uint32) * x,
    "uniform": lambda key, x: random.uniform(key, x.shape, None, -x, x),
    "uniform number": lambda key, x: random.uniform(key) * x,
    "split": lambda key, x: random.uniform(random.split(key)[1], (3,)) * x,
    "fold_in": lambda key, x: random.uniform(random.fold_in(key, 5), (3,)) * x,
    "key": lambda key, x: random.uniform(random.key(7), (3,)) * x,
    "normal": lambda key, x: random.normal(key, x.shape) * x,
    "normal float32": lambda key, x: random.normal(key, (3,), np.float32) * x,
    "normal complex": lambda key, x: (random.normal(key, (3,), complex) * x).imag,
    "randint": lambda key, x: random.randint(key, (3,), 0, 10) * x,
    "bernoulli": lambda key, x: random.bernoulli(key, 0.3, (3,)) * x,
    "truncated_normal": lambda key, x: random.truncated_normal(key, -x, x),
    "gumbel highest": lambda key, x: random.gumbel(key, (3,), np.float32, "highest") * x,
    "laplace": lambda key, x: random.laplace(key, (3,)) * x,
    "logistic": lambda key, x: random.logistic(key, (3,)) * x,
    "cauchy": lambda key, x: random.cauchy(key, (3,)) * x,
    "pareto": lambda key, x: random.pareto(key, x, (2, 3)),
    "rayleigh": lambda key, x: random.rayleigh(key, x),
    "weibull_min": lambda key, x: random.weibull_min(key, x, 1.5, (3,)),
    "double_sided_maxwell": lambda key, x: random.double_sided_maxwell(key, 1.0, x),
    "triangular": lambda key, x: random.triangular(key, -x, 0.3, x),
    "wald": lambda key, x: random.wald(key, x),
    "gamma": random.gamma,
    "ball": lambda key, x: random.ball(key, 3) * x,
    "orthogonal": lambda key, x: random.orthogonal(key, 3) * x,
    "multivariate_normal": lambda key, x: random.multivariate_normal(key, x, np.diag(x)),
    "categorical": lambda key, x: random.categorical(key, x, shape=(4,)),
    "categorical, all different": lambda key, x: random.categorical(key, x, -1, (3,), False),
    "choice": lambda key, x: random.choice(key, x, (4,)),
    "choice by p": lambda key, x: random.choice(key, x, (4,), p=x / np.sum(x)),
    "permutation": random.permutation,
    "poisson": random.poisson,
    "binomial": lambda key, x: random.binomial(key, 10, x / 3),
    "multinomial": lambda key, x: random.multinomial(key, 10, x / 5),
    "geometric": lambda key, x: random.geometric(key, x / 3),
}
BATCHED = ["uniform", "split", "fold_in", "normal", "randint", "permutation", "choice by p"]


@pytest.fixture(autouse=True)
def _keys_may_be_used_again():
    with random.report_reuse(False):
        yield


@pytest.mark.parametrize("name", CASES)
def test_emitted(name):
    f = CASES[name]
    with tapeless.disable_jit():
        got = tapeless.jit(f)(KEY, X)
    np.testing.assert_allclose(got, f(KEY, X), rtol=1e-6 if "float32" in name else 1e-13)


@pytest.mark.parametrize("name", BATCHED)
def test_batched_over_keys(name):
    f, keys = CASES[name], random.split(KEY, 4)
    got = tapeless.vmap(f, in_axes=(0, None))(keys, X)
    np.testing.assert_allclose(got, np.stack([f(key, X) for key in keys]), rtol=1e-13)


@pytest.mark.parametrize("name", ["uniform", "normal", "split"])
def test_compiled(name):
    f = CASES[name]
    np.testing.assert_allclose(tapeless.jit(f)(KEY, X), f(KEY, X), rtol=1e-13)


@pytest.mark.parametrize("draw", [random.normal, random.gamma, random.truncated_normal])
def test_half_precision(draw):
    bounds = {random.gamma: (2.0,), random.truncated_normal: (-1.0, 0.5)}.get(draw, ())

    def f(key):
        return draw(key, *bounds, (5,), np.float16)

    want = f(KEY)
    assert want.dtype == np.float16
    for got in (tapeless.jit(f)(KEY), tapeless.vmap(f)(KEY[None])[0]):
        assert got.dtype == np.float16
        np.testing.assert_allclose(got, want, rtol=2e-3)


def test_compiled_bits_are_the_same():
    def f(key):
        return random.uniform(key, (999,)), random.randint(key, (9, 9), -5, 77)

    for got, want in zip(tapeless.jit(f)(KEY), f(KEY), strict=True):
        np.testing.assert_array_equal(got, want)


def test_sizes_that_are_known_late():
    def walk(key, n):
        return np.cumsum(random.normal(key, (n,)))

    with tapeless.disable_jit():
        step = tapeless.jit(walk)
        for n in (3, 5):
            np.testing.assert_allclose(step(KEY, n), walk(KEY, n), rtol=1e-13)


def test_a_key_for_each_pass_of_a_loop():
    def noisy(key, x):
        for t in range(4):
            x = x + x * random.normal(random.fold_in(key, t), x.shape)
        return np.sum(x)

    slope = tapeless.grad(noisy, 1)(KEY, X)
    steps = [1 + random.normal(random.fold_in(KEY, t), (3,)) for t in range(4)]
    np.testing.assert_allclose(slope, np.prod(steps, axis=0), rtol=1e-13)


def test_blocks_do_not_change_the_numbers():
    whole = random.normal(random.key(2), (40_000,))
    np.testing.assert_array_equal(whole.reshape(200, 200), random.normal(random.key(2), (200, 200)))
    with tapeless.disable_jit():
        staged = tapeless.jit(lambda key: random.normal(key, (40_000,)))(random.key(2))
    np.testing.assert_allclose(staged, whole, rtol=1e-13)
