"""Functions that an emitted module has once: their numbers, and how often they are written out."""

import numpy as np
import pytest
import scipy.special

import tapeless
from tapeless import random
from tapeless.random.threefry_blocks import PART
from tapeless.transforms.ops.primitives.module_functions import (
    BLOCK,
    erf_inv,
    erf_inv_single,
    threefry2x32,
    unit_of,
)

INSIDE = np.concatenate([np.linspace(-0.999, 0.999, 11), 1 - 10.0 ** -np.arange(4, 16)])
#: Of the authors' library Random123: key and counter words, and the two random words.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
FORMS = {"numpy": lambda f: f, "array": tapeless.vmap, "loops": tapeless.jit}


def draws(key, x):
    """Four calls of each function, of scalars."""
    total = x
    for k in (0, 1, 2, 3):
        bits = threefry2x32(key[:1] + np.uint32(k), key[1:], np.zeros(1, np.uint64))
        unit = (bits >> np.uint64(11)).astype(float)[0] * 2.0**-53
        total = total + x * erf_inv(2 * unit - 1)
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("key", "count", "words"), KNOWN)
def test_bits_are_those_of_the_authors(form, key, count, words):
    keys = [np.array([k], np.uint32) for k in key]
    counts = np.array([count[0] << 32 | count[1]], np.uint64)
    made = FORMS[form](lambda a, b, n: threefry2x32(a, b, n))(*keys, counts)
    assert [int(made[0]) >> 32, int(made[0]) & 0xFFFFFFFF] == list(words)


@pytest.mark.parametrize("form", FORMS)
def test_inverse_of_the_error_function(form):
    made = FORMS[form](lambda x: erf_inv(x))(INSIDE)
    np.testing.assert_allclose(made, scipy.special.erfinv(INSIDE), rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_inverse_of_the_error_function_in_single_precision(form):
    x = np.linspace(-0.999, 0.999, 11, dtype=np.float32)
    f = erf_inv_single if form == "numpy" else erf_inv
    made = FORMS[form](lambda x: f(x))(x)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, scipy.special.erfinv(x.astype(float)), rtol=1e-6)


def test_derivatives_of_both_modes_and_of_second_order():
    x, h = 0.3, 1e-5
    slope = (scipy.special.erfinv(x + h) - scipy.special.erfinv(x - h)) / (2 * h)
    bend = (
        scipy.special.erfinv(x + 1e-4)
        - 2 * scipy.special.erfinv(x)
        + scipy.special.erfinv(x - 1e-4)
    ) / 1e-8
    f = lambda x: erf_inv(x)  # noqa: E731 (a function of one's own, to be transformed)
    assert np.isclose(tapeless.grad(f)(x), slope, rtol=1e-8)
    assert np.isclose(tapeless.jvp(f, (x,), (1.0,))[1], slope, rtol=1e-8)
    assert np.isclose(tapeless.grad(tapeless.grad(f))(x), bend, rtol=1e-5)


def test_they_are_written_once():
    key, x = np.array([1, 2], np.uint32), 0.5
    array = tapeless.grad(draws, argnums=1).source(key, x)
    assert array.count("def threefry2x32(") == array.count("def erf_inv(") == 1
    assert array.count(" = threefry2x32(") + array.count(" threefry2x32(") >= 4
    loops = tapeless.jit(draws).source(key, x)
    assert loops.count("def random_word(") == loops.count("def inverse_error(") == 1
    assert loops.count(" = random_word(") == 4


def test_scalars_of_the_forms_agree():
    key, x = np.array([1, 2], np.uint32), 0.5
    wanted = draws(key, x)
    assert np.isclose(tapeless.jit(draws)(key, x), wanted, rtol=1e-12)
    assert np.isclose(tapeless.grad(draws, argnums=1)(key, x) * x, wanted, rtol=1e-12)
    keys = np.stack([key, key + np.uint32(1)])
    many = tapeless.vmap(draws, in_axes=(0, None))
    np.testing.assert_allclose(many(keys, x), [draws(k, x) for k in keys], rtol=1e-12)
    np.testing.assert_allclose(tapeless.jit(many)(keys, x), many(keys, x), rtol=1e-12)


def test_names_of_the_user_are_left_alone():
    def named(key, log):
        random_word, sqrt = log * 2, log + 1
        bits = threefry2x32(key[:1], key[1:], np.zeros(1, np.uint64))
        unit = (bits >> np.uint64(11)).astype(float)[0] * 2.0**-53
        return erf_inv(unit) * random_word + sqrt

    key = np.array([1, 2], np.uint32)
    assert np.isclose(tapeless.jit(named)(key, 0.5), named(key, 0.5), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.complex128])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="erf_inv takes float32 or float64"):
        tapeless.jit(lambda x: erf_inv(x))(np.zeros(2, dtype))
    words = np.zeros(1, np.uint32)
    with pytest.raises(TypeError, match="threefry2x32 takes uint32, uint32 and uint64"):
        tapeless.jit(lambda n: threefry2x32(words, words, n))(np.zeros(2, dtype))


@pytest.mark.parametrize("form", FORMS)
def test_uniform_numbers_are_the_upper_bits(form):
    bits = np.array([0, 1 << 11, 1 << 12, (1 << 63) + 5, (1 << 64) - 1], np.uint64)
    made = FORMS[form](lambda b: unit_of(b))(bits)
    assert [x * 2**52 for x in made.tolist()] == [int(b) >> 12 for b in bits]


def test_blocks_do_not_change_numbers():
    size = 3 * BLOCK + 7
    keys, counts = np.array([[1, 2], [3, 4]], np.uint32), np.arange(size, dtype=np.uint64)
    made = threefry2x32(keys[:, :1], keys[:, 1:], counts)
    x = np.linspace(-0.9999, 0.9999, size)
    for start in (0, BLOCK - 2, size - 5):
        part = slice(start, start + 5)
        for key, row in zip(keys, made, strict=True):
            alone = threefry2x32(key[:1], key[1:], counts[part])
            np.testing.assert_array_equal(row[part], alone)
        for f, y in ((erf_inv, x), (erf_inv_single, x.astype("f4"))):
            np.testing.assert_allclose(f(y)[part], f(y[part]), rtol=1e-14 if y is x else 1e-6)
    assert threefry2x32(keys[:, :1], keys[:, 1:], counts[:0]).shape == (2, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_change_numbers(dtype):
    shape = (5, 1 + PART)
    plain, key = random.uniform(random.key(3), shape, dtype), random.key(3)
    np.testing.assert_array_equal(
        plain, tapeless.jit(lambda k: random.uniform(k, shape, dtype))(key)
    )
