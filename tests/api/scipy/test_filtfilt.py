"""filtfilt, savgol_filter and hilbert by what SciPy gives, and their derivatives."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.scipy import signal as ours

signal = pytest.importorskip("scipy.signal")

X = np.random.default_rng(4).standard_normal((3, 20))
B, A = signal.butter(2, 0.3)


def agree(made, expected):
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-11)
    assert made.dtype == expected.dtype


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_filtfilt(padtype):
    for padlen, x, axis in ((None, X, -1), (5, X.T, 0), (0, X, 1)):
        options = {"axis": axis, "padtype": padtype, "padlen": padlen}
        agree(ours.filtfilt(B, A, x, **options), signal.filtfilt(B, A, x, **options))


@pytest.mark.parametrize("mode", ["interp", "mirror", "nearest", "wrap", "constant"])
def test_savgol_filter(mode):
    for window, degree, deriv in itertools.product((3, 4, 7), (1, 2), (0, 1)):
        options = {"deriv": deriv, "delta": 0.3, "mode": mode, "cval": 0.7}
        made, expected = (m.savgol_filter(X, window, degree, **options) for m in (ours, signal))
        agree(made, expected)
    made, expected = (m.savgol_filter(X.T, 5, 2, mode=mode, axis=0) for m in (ours, signal))
    agree(made, expected)


def test_hilbert():
    for n in (None, 19, 12, 33):
        agree(ours.hilbert(X, n), signal.hilbert(X, n))
    single = X.astype(np.float32)
    assert ours.hilbert(single.T, axis=0).dtype == signal.hilbert(single.T, axis=0).dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x: signal.filtfilt(B, A, x),
        lambda x: signal.filtfilt(x[0, :3], [1.0, 0.2], x[1], padtype="even", padlen=4),
        lambda x: signal.savgol_filter(x, 5, 2),
        lambda x: signal.savgol_filter(x, 6, 3, deriv=1, mode="wrap", axis=0),
        lambda x: np.abs(signal.hilbert(x)),
    ],
)
def test_in_place_of_scipy(function):
    x = np.concatenate([X, X[::-1]])
    np.testing.assert_allclose(tapeless.jit(function)(x), function(x), rtol=1e-9, atol=1e-11)
    both = tapeless.vmap(function)(np.stack([x, 2 * x]))
    np.testing.assert_allclose(both, [function(x), function(2 * x)], rtol=1e-9, atol=1e-11)
    tapeless.check_grads(function, (x,), order=2)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: signal.filtfilt(B, A, x[:, :9]), "greater than padlen, which is 9"),
        (lambda x: signal.filtfilt(B, A, x, padtype="zero"), "padtype must be"),
        (lambda x: signal.filtfilt(B, A, x, method="gust"), "method must be 'pad'"),
        (lambda x: signal.savgol_filter(x, 3, 3), "polyorder must be less"),
        (lambda x: signal.savgol_filter(x, 21, 2), "at most the length of x"),
        (lambda x: signal.savgol_filter(x, 3, 2, mode="odd"), "mode must be"),
        (lambda x: signal.hilbert(x + 1j), "x must be real"),
    ],
)
def test_what_is_refused(function, match):
    with pytest.raises(ValueError, match=match):
        tapeless.jit(function)(X)
