"""Spectra and cosine transforms against SciPy and JAX, and derivatives."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import tapeless
from tapeless import check_grads, grad, jit, vmap
from tapeless.scipy import fft, signal
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((2, 3, 50))
OPTIONS = [
    {},
    {"nperseg": 17, "noverlap": 3},
    {"nperseg": 16, "nfft": 20, "fs": 2.5},
    {"nperseg": 10, "detrend": "linear"},
    {"nperseg": 10, "axis": 0},
    {"nperseg": 8, "return_onesided": False, "window": "boxcar"},
    {"nperseg": 12, "window": np.hanning(12)},
    {"nperseg": 16, "window": ("kaiser", 3.0)},
    {"nperseg": 10, "detrend": lambda d: d * d},
]


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def turned(options, *signals):
    return [x.T if "axis" in options else x for x in signals]


@pytest.mark.filterwarnings("ignore:nperseg ?= ?256 is greater")
@pytest.mark.parametrize("options", OPTIONS)
def test_segments(options):
    (x,) = turned(options, X)
    for boundary in (None, "zeros", "even", "odd", "constant") if options else (None,):
        for padded in (True, False):
            more = {**options, "boundary": boundary, "padded": padded}
            same(signal.stft(x, **more), scipy.signal.stft(x, **more))


@pytest.mark.filterwarnings("ignore:nperseg ?= ?256 is greater")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize("scaling", ["density", "spectrum"])
def test_power(options, average, scaling):
    x, y = turned(options, X, Y)
    options = {**options, "average": average, "scaling": scaling}
    same(signal.welch(x, **options), scipy.signal.welch(x, **options))
    same(signal.csd(x, y, **options), scipy.signal.csd(x, y, **options))


def test_complex_and_short_signals():
    z = X + 1j * Y
    two_sided = {"nperseg": 16, "return_onesided": False}
    same(signal.stft(z, nperseg=16), scipy.signal.stft(z, **two_sided))
    same(signal.welch(z, nperseg=16), scipy.signal.welch(z, **two_sided))
    made = signal.csd(X, Y[:, :40], nperseg=16)
    same(made, scipy.signal.csd(X, Y[:, :40], nperseg=16))
    found = scipy.signal.stft(z, **two_sided)[2]
    back = signal.istft(found, input_onesided=False)[1]
    np.testing.assert_allclose(back[:, :50], z, atol=1e-12)


@pytest.mark.parametrize("options", [{"nperseg": 16}, {"nperseg": 16, "noverlap": 12}])
def test_signals_of_spectra(options):
    found = scipy.signal.stft(X, **options)[2]
    want = scipy.signal.istft(found, **options)[1]
    np.testing.assert_allclose(signal.istft(found, **options)[1], want, atol=1e-12)
    for places in ((1, 2), (0, 2), (2, 0)):
        moved = np.moveaxis(found, (2, 1), places)
        axes = {"time_axis": places[0], "freq_axis": places[1]}
        want = scipy.signal.istft(moved, **axes, **options)[1]
        time, made = signal.istft(moved, **axes, **options)
        np.testing.assert_allclose(made, want, atol=1e-12)
        assert len(time) == max(made.shape)


def test_derivatives():
    def power(x):
        return np.sum(np.abs(signal.stft(x, nperseg=16)[2]) ** 2) + signal.welch(x)[1][3]

    def again(x):
        return np.sum(signal.istft(signal.stft(x, nperseg=16)[2] * 2, nperseg=16)[1] ** 3)

    for f in (power, again):
        check_grads(f, (X[0],), order=1)
    np.testing.assert_allclose(jit(grad(power))(X[0]), grad(power)(X[0]), rtol=1e-10)
    each = vmap(lambda x: signal.stft(x, nperseg=16)[2])(X)
    np.testing.assert_allclose(each, signal.stft(X, nperseg=16)[2], atol=1e-14)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: signal.stft(X, nperseg=8, noverlap=8), "noverlap must be less"),
        (lambda: signal.stft(X, nperseg=8, nfft=4), "nfft=4"),
        (lambda: signal.stft(X, nperseg=8, window=np.ones(3)), r"window of shape \(3,\)"),
        (lambda: signal.stft(X, boundary="far"), "boundary must be one of"),
        (lambda: signal.welch(X, scaling="other"), "scaling must be"),
        (lambda: signal.welch(X, average="other"), "average must be"),
    ],
)
def test_mistakes(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


@pytest.mark.parametrize("name", ["dct", "idct", "dctn", "idctn"])
def test_cosines(name):
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    many = name.endswith("n")
    for norm in (None, "ortho"):
        more = {"s": (2, 30), "axes": (0, 1)} if many else {"n": 30, "axis": 0}
        for options in ({}, more):
            options = {"norm": norm, **options}
            np.testing.assert_allclose(ours(X, **options), theirs(X, **options), atol=1e-12)


def test_jaxs_cosines():
    peer = jax_or_skip().scipy.fft
    np.testing.assert_allclose(jit(fft.dct)(X), peer.dct(X), atol=1e-12)
    np.testing.assert_allclose(fft.idctn(X, norm="ortho"), peer.idctn(X, norm="ortho"), atol=1e-12)


def test_cosines_are_written_as_they_are():
    assert "scipy.fft.dct(" in grad(lambda x: np.sum(fft.dct(x) ** 2)).source(X[0])
    assert isinstance(fft.dct(tapeless.numpy.ones(3)), tapeless.Array)
