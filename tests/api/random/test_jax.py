"""The numbers are JAX's: by a table that is kept, and by JAX itself where it is installed."""

import numpy as np
import pytest

from tapeless import random
from tests.api.random.cases import CALLS, CLOSE, EXACT, SEEDS
from tests.api.random.jax_table import evaluate, jax_random, table

TABLE = table()
LAST_DIGITS = 32  # units in the last place, of the number or of 1 if that is larger
FRESH = [
    "random.split(key, 3)",
    "random.bits(key, (100,), np.uint8)",
    "random.uniform(key, (1000,))",
    "random.uniform(key, (1000,), np.float32)",
    "random.normal(key, (1000,), np.float32)",
    "random.randint(key, (1000,), -7, 1000)",
    "random.gamma(key, 0.7, (200,))",
    "random.permutation(key, 1700)",
    "random.poisson(key, 12.0, (200,))",
    "random.binomial(key, 40, 0.4, (200,))",
    "random.normal(key, (99,), np.float16)",
    "random.truncated_normal(key, -1.0, 0.5, (99,), np.float16)",
    "random.gamma(key, 2.0, (50,), np.float16)",
]


@pytest.fixture(autouse=True)
def _keys_may_be_used_again():
    with random.report_reuse(False):
        yield


def _same(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def _close(got, want):
    assert got.dtype == want.dtype
    eps = np.finfo(want.dtype).eps
    np.testing.assert_allclose(got, want, rtol=LAST_DIGITS * eps, atol=LAST_DIGITS * eps)


def test_the_table_is_whole():
    assert set(TABLE) == {(call, seed) for call in CALLS for seed in SEEDS}


@pytest.mark.parametrize("call", EXACT)
def test_bits_are_those_of_the_table(call):
    for seed in SEEDS:
        _same(evaluate(call, seed, random), TABLE[call, seed])


@pytest.mark.parametrize("call", CLOSE)
def test_digits_are_those_of_the_table(call):
    for seed in SEEDS:
        _close(evaluate(call, seed, random), TABLE[call, seed])


@pytest.mark.parametrize("call", FRESH)
def test_jax_itself_agrees(call):
    theirs = jax_random()
    if theirs is None:
        pytest.skip("jax is not installed")
    want = evaluate(call, 987654321, theirs)
    got = evaluate(call, 987654321, random)
    _close(got, want) if want.dtype.kind == "f" else _same(got, want)


def test_every_function_of_jax_is_there():
    theirs = jax_random()
    if theirs is None:
        pytest.skip("jax is not installed")
    public = {name for name in dir(theirs) if not name.startswith("_")}
    assert public - set(random.__all__) == {"random_gamma_p"}  # a primitive, no function


def test_every_function_is_in_the_table():
    others = {"KeyReuseWarning", "report_reuse", "clone", "shuffle"}
    others |= {"key_dtype", "key_impl", "wrap_key_data"}
    named = {name for name in random.__all__ for call in CALLS if f"random.{name}(" in call}
    assert set(random.__all__) - named == others
