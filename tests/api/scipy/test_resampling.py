"""Signals at other rates, filtered there and back, and their spectra: SciPy's values, and
derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless.scipy import signal as ours

signal = pytest.importorskip("scipy.signal")

RNG = np.random.default_rng(8)
X = RNG.standard_normal((3, 33))
Z = X + 1j * RNG.standard_normal(X.shape)
H = RNG.standard_normal(7)
SECTIONS = signal.butter(3, 0.3, output="sos")


def agree(function, tolerance=1e-9):
    made, expected = function(ours), function(signal)
    made, expected = (x if isinstance(x, tuple) else (x,) for x in (made, expected))
    for x, y in zip(made, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=tolerance)
        assert np.asarray(x).dtype == np.asarray(y).dtype


@pytest.mark.parametrize("num", [1, 2, 3, 16, 20, 32, 33, 41, 64, 66])
def test_resample(num):
    for x in (X, X[:, 1:], Z, Z[:, 1:]):
        agree(lambda m, x=x: m.resample(x, num, axis=1))
    agree(lambda m: m.resample(X.T, num, t=np.arange(33) / 2, window="hamming"))
    agree(lambda m: m.resample(X[0].astype(np.float32), num, window=np.exp), 1e-5)


@pytest.mark.parametrize(("up", "down"), [(1, 1), (2, 1), (1, 3), (3, 2), (4, 6), (5, 7)])
def test_by_filters(up, down):
    for h in (H, H[:1], H[:4]):
        agree(lambda m, h=h: m.upfirdn(h, X, up, down))
        agree(lambda m, h=h: m.resample_poly(X, up, down, axis=1, window=h))
    agree(lambda m: m.upfirdn(H, X, up, down, axis=0))
    for padtype in ("constant", "mean", "median", "minimum", "maximum"):
        agree(lambda m, p=padtype: m.resample_poly(X.T, up, down, padtype=p))


@pytest.mark.parametrize("ftype", ["iir", "fir"])
@pytest.mark.parametrize("zero_phase", [True, False])
def test_decimate(ftype, zero_phase):
    options = {"n": 3, "ftype": ftype, "zero_phase": zero_phase}
    agree(lambda m: m.decimate(X, 3, **options))
    agree(lambda m: m.decimate(X.T, 2, axis=0, **options))


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_sosfiltfilt(padtype):
    agree(lambda m: m.sosfiltfilt(SECTIONS, X, padtype=padtype))
    agree(lambda m: m.sosfiltfilt(SECTIONS[:1], X.T, 0, padtype, 5))


def test_states_of_filters():
    start = np.broadcast_to(signal.sosfilt_zi(SECTIONS)[:, None], (2, 3, 2)) * X[:, :1]
    agree(lambda m: m.sosfilt_zi(SECTIONS))
    agree(lambda m: m.lfilter_zi(*signal.butter(3, 0.2)))
    agree(lambda m: m.sosfilt(SECTIONS, X, zi=start))


def test_deconvolve():
    agree(lambda m: m.deconvolve(np.convolve(H, [1.0, 0.3, 0.1]), [1.0, 0.3, 0.1]))
    agree(lambda m: m.deconvolve(H, [2.0, 0.5]))
    agree(lambda m: m.deconvolve(H[:2], H[2:5]))


@pytest.mark.parametrize(
    "options",
    [{}, {"nfft": 40}, {"nfft": 20}, {"window": "hann", "fs": 3.0}, {"return_onesided": False}],
)
def test_periodogram(options):
    agree(lambda m: m.periodogram(X, **options))
    agree(lambda m: m.periodogram(X.T, axis=0, scaling="spectrum", **options))


def test_coherence():
    agree(lambda m: m.coherence(X[0], X[1], nperseg=16))
    agree(lambda m: m.coherence(X, X[::-1], nperseg=12, noverlap=3, fs=2.0))


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude", "angle"])
def test_spectrogram(mode):
    agree(lambda m: m.spectrogram(X, nperseg=16, mode=mode))
    options = {"nperseg": 10, "noverlap": 5, "nfft": 12, "scaling": "spectrum", "fs": 2.0}
    agree(lambda m: m.spectrogram(X.T, window="hann", axis=0, mode=mode, **options))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: signal.resample(x, 4, axis=1),
        lambda x: signal.resample_poly(x, 3, 2, axis=1),
        lambda x: signal.upfirdn(x[0, :4], x, 2, 3),
        lambda x: signal.decimate(x, 2, 1),
        lambda x: signal.sosfiltfilt(SECTIONS, x, padlen=4),
        lambda x: signal.sosfilt(SECTIONS, x, zi=x[0, :4].reshape(2, 1, 2) + np.zeros((2, 3, 2)))[
            1
        ],
        lambda x: np.concatenate(signal.deconvolve(x[0], 2 + x[1, :3])),
        lambda x: signal.periodogram(x)[1],
        lambda x: signal.coherence(x[0], x[1], nperseg=4)[1],
        lambda x: signal.spectrogram(x, nperseg=4)[2],
    ],
)
def test_in_place_of_scipy(function):
    x = X[:, :9]
    np.testing.assert_allclose(tapeless.jit(function)(x), function(x), rtol=1e-9, atol=1e-11)
    both = tapeless.vmap(function)(np.stack([x, x + 0.5]))
    np.testing.assert_allclose(both, [function(x), function(x + 0.5)], rtol=1e-9, atol=1e-11)
    tapeless.check_grads(function, (x,), order=2)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: signal.resample(x, 5, domain="freq"), "only domain='time'"),
        (lambda x: signal.resample(x, 5, window=H[:3]), "for 7 frequencies"),
        (lambda x: signal.upfirdn(H, x, mode="wrap"), "only mode='constant'"),
        (lambda x: signal.resample_poly(x, 2, 1, padtype="line"), "padtype must be"),
        (lambda x: signal.decimate(x, 2, ftype="no"), "ftype must be"),
        (lambda x: signal.sosfiltfilt(SECTIONS, x), "longer than padlen"),
        (lambda x: signal.sosfilt(H, x), "six columns"),
        (lambda x: signal.spectrogram(x, nperseg=4, mode="phase"), "mode must be"),
    ],
)
def test_what_is_refused(function, match):
    with pytest.raises(ValueError, match=match):
        tapeless.jit(function)(H)
