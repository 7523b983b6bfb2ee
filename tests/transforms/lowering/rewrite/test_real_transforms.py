"""Complex Fourier transforms of real numbers, and for real ones, compute half of what they have."""

import re

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
LENGTHS = (1, 2, 3, 8, 9, 50)


def filtered(x, h):
    return np.real(np.fft.ifft(np.fft.fft(x) * h))


def unscaled(x, h):
    return np.real(np.fft.ifft(np.fft.fft(x, norm="ortho") / h, norm="forward")) * 2


def turned(x, h):
    return np.fft.fft(np.fft.ifft(x) * h - np.conj(h)).real


def first_axis(x, h):
    return np.real(np.fft.ifft(np.fft.fft(x, axis=0) * h[:, None], axis=0))


def in_steps(x, h):
    for _ in range(3):
        x = np.real(np.fft.ifft(np.fft.fft(x) * h)) + 0.1 * x
    return x


def plane(x, h):
    return np.fft.ifft2(np.fft.fft2(x) * h / 3 - np.conj(h)).real


def two_of_three(x, h):
    return np.real(np.fft.fftn(np.fft.ifftn(x, axes=(0, 2)) * h, axes=(0, 2)))


def both_parts(x, h):
    z = np.fft.ifft(np.fft.fft(x) * h)
    return z.real + 2 * z.imag


def power(x, h):
    return np.abs(np.fft.fft(x)) ** 2 * np.real(h)


def whole(x, h):
    return np.fft.fft2(x) * h


def of_complex(x, h):
    return np.fft.fft(x + 1j * x).real + np.fft.ifft(h).real


def same(found, wanted, digits):
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=digits, atol=digits)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", [filtered, unscaled, turned, in_steps, both_parts, power, of_complex])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_along_a_line(f, n, dtype):
    x, h, g = RNG.normal(size=(3, n)).astype(dtype)
    digits = 1e-5 if dtype == np.float32 else 1e-12
    compiled = jit(f)
    for factor in (h, h + 1j * g, h[:1]):
        same(compiled(x, factor), f(x, factor), digits * (1 + 30 * (f is power)))
    source = compiled.source(x, h)
    assert bool(re.search(r"np\.fft\.i?fft\(", source)) == (f is both_parts)
    assert "np.fft.rfft(" in source or f is of_complex


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", [first_axis, plane, two_of_three, whole])
def test_along_several_axes(f, n):
    shape = (n, 2, 4) if f is two_of_three else (n, 5)
    x, h, g = RNG.normal(size=(3, *shape))
    factor = h[:, 0] if f is first_axis else h + 1j * g
    same(jit(f)(x, factor), f(x, factor), 1e-12)
    if f in (plane, whole):
        same(jit(f)(x.T, factor.T), f(x.T, factor.T), 1e-12)
        same(jit(f)(x, factor[0]), f(x, factor[0]), 1e-12)


@pytest.mark.parametrize("f", [filtered, unscaled, turned, in_steps, plane, power])
def test_derivatives_take_real_transforms(f):
    shape = (6, 7) if f is plane else (12,)
    x, h, w = RNG.normal(size=(3, *shape))

    def loss(x, h):
        return np.sum(np.sin(f(x, h)))

    slope = jit(grad(loss))
    by_differences = (loss(x + 1e-6 * w, h) - loss(x - 1e-6 * w, h)) / 2e-6
    np.testing.assert_allclose(np.sum(slope(x, h) * w), by_differences, rtol=1e-6)
    calls = re.findall(r"np\.fft\.(\w+)\(", slope.source())
    assert "fft2" not in calls
    assert f is plane or set(calls) == {"rfft", "irfft"}
    assert len(calls) <= (8 if f is plane else 4)


@pytest.mark.parametrize(("n", "m"), [(8, 9), (9, 8), (8, 3), (2, 3)])
def test_factors_of_other_lengths_are_refused(n, m):
    """Half of 8 frequencies are as many as half of 9."""
    compiled = jit(filtered)
    compiled(np.ones(n), np.ones(n))
    for f in (compiled, jit(filtered)):
        with pytest.raises(ValueError, match="could not be broadcast"):
            f(np.ones(n), np.ones(m))


def test_they_can_be_left_out():
    x, h = RNG.normal(size=(2, 16))
    compiled = jit(filtered, fastmath=False)
    np.testing.assert_array_equal(compiled(x, h), filtered(x, h))
    assert "rfft" not in compiled.source()
