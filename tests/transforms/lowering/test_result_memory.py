"""Functions of NumPy that take an array for their result get one that was used before."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(64, 512))
PROGRAMS = {
    "fft": lambda x: np.abs(np.fft.ifft(np.fft.fft(x) * 2.0)),
    "rfft": lambda x: np.fft.irfft(np.fft.rfft(x, axis=0), n=x.shape[0], axis=0),
    "of two axes": lambda x: np.fft.fft2(x).real,
    "back, of two axes": lambda x: np.fft.ifft2(x * 2.0).real,
    "back, of two axes, scaled": lambda x: np.fft.ifft2(x * 2.0, norm="ortho").real,
    "back, of the last two axes": lambda x: np.fft.ifft2(x.reshape(4, 16, 512)).real,
    "back and forth": lambda x: np.fft.ifft2(np.fft.fft2(x) * np.fft.fft2(x * x)).real,
    "back, of the first two axes": lambda x: np.fft.ifft2(x.reshape(64, 8, 64), axes=(0, 1)).imag,
    "back, of real halves": lambda x: np.fft.irfft2(np.fft.rfft2(x) * 2.0),
    "back, of all axes": lambda x: np.fft.ifftn(x.reshape(64, 8, 64)).real,
    "running sum of complex numbers": lambda x: np.cumsum(x + 1j * x, axis=1).imag,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    f = PROGRAMS[name]
    compiled = jit(f)
    assert "out=" in compiled.source(X)
    np.testing.assert_allclose(compiled(X), f(X), rtol=1e-12, atol=1e-12)


def test_results_of_calls_are_apart():
    spectrum = jit(lambda x: np.fft.fft(x))
    first, second = spectrum(X), spectrum(2 * X)
    np.testing.assert_allclose(first, np.fft.fft(X))
    np.testing.assert_allclose(second, 2 * first)


def test_single_precision_stays():
    narrow = jit(lambda x: np.fft.fft(x))(X.astype(np.float32))
    assert narrow.dtype == np.complex64


def test_gradient():
    def power(x):
        return np.sum(np.abs(np.fft.rfft(x)) ** 2)

    along = RNG.normal(size=X.shape)
    slope = (power(X + 1e-6 * along) - power(X - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(power))(X) * along), slope, rtol=1e-6)
