"""Computes spectra of segments of a signal, with the conventions of scipy.signal."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.signal import get_window

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy import detrend as trends
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

EXTENSIONS: dict[Any, dict[str, Any]] = {
    "zeros": {"mode": "constant"},
    "constant": {"mode": "edge"},
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
}
PARTS: dict[str, Any] = {"complex": lambda z: z, "magnitude": np.abs, "angle": np.angle}
ENOUGH = 1e-10  # weight of windows by which is divided


class Segments:
    """How a signal is cut: a window, steps between segments, and the length of transforms."""

    def __init__(
        self, name: str, window: Any, nperseg: Any, noverlap: Any, nfft: Any, longest: Any
    ) -> None:
        is_array = not isinstance(window, (str, tuple))
        if nperseg is None:
            nperseg = len(window) if is_array else min(256, longest)
        self.length = nperseg = min(operator.index(nperseg), longest)
        self.window = np.asarray(window) if is_array else get_window(window, nperseg)
        overlap = nperseg // 2 if noverlap is None else operator.index(noverlap)
        self.size = nperseg if nfft is None else operator.index(nfft)
        self.step = nperseg - overlap
        if np.shape(self.window) != (nperseg,) or self.step < 1 or self.size < nperseg:
            raise ArgumentError(
                f"{name}: a window of shape {np.shape(self.window)}, nperseg={nperseg}, "
                f"noverlap={overlap}, nfft={self.size}",
                "noverlap must be less than nperseg, and nfft not",
            )

    def scale(self, scaling: str, fs: Any) -> Any:
        if scaling == "density":
            return 1 / (fs * np.sum(self.window * self.window))
        if scaling == "spectrum":
            return 1 / np.sum(self.window) ** 2
        raise ArgumentError(f"scaling must be 'density' or 'spectrum', not {scaling!r}")

    def spectra(self, x: Any, level: Callable[[Any], Any], half: bool) -> Any:
        """The transforms of all segments: shape (..., segments, frequencies)."""
        cut = np.lib.stride_tricks.sliding_window_view(x, self.length, axis=-1)
        weighted = self.window.astype(x.real.dtype) * level(cut[..., :: self.step, :])
        return (np.fft.rfft if half else np.fft.fft)(weighted, self.size)

    def power(self, products: Any, scaling: str, fs: Any, half: bool) -> Any:
        """Products of transforms as power; with one half of the frequencies, both count there."""
        if not half:
            return products * self.scale(scaling, fs)
        place = np.arange(products.shape[-1])
        alone = (place == 0) | (2 * place == self.size)
        return products * self.scale(scaling, fs) * np.where(alone, 1.0, 2.0)

    def frequencies(self, fs: Any, half: bool) -> Any:
        return (np.fft.rfftfreq if half else np.fft.fftfreq)(self.size, 1 / fs)


def _levelling(detrend: Any) -> Callable[[Any], Any]:
    """What is done to each segment."""
    if isinstance(detrend, str):
        return lambda d: trends.detrend(d, type=detrend)
    if callable(detrend):
        return lambda d: detrend(d)
    return lambda d: d


def _signal(x: Any, axis: int) -> Any:
    x = np.moveaxis(np.asarray(x), axis, -1)
    return x if x.dtype.kind in "fc" else x.astype(float)


def _to_length(x: Any, n: Any) -> Any:
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])])


@follow_arguments
def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> Any:
    """The spectra of overlapping segments: frequencies, times, and an array with the times along
    its last axis.

    x                an array of real or complex numbers
    fs               how many samples are in a unit of time
    window           a name that SciPy knows, or an array
    nperseg          the length of segments; at most that of x
    noverlap         how much of it two neighbours share; half by default
    nfft             the length of transforms; nperseg by default
    detrend          'constant', 'linear', a function of segments, or False
    return_onesided  of real numbers, whether negative frequencies are left out
    boundary         how x goes on at its ends: 'zeros', 'constant', 'even', 'odd', or None: not
    padded           whether zeros are added, for a whole number of segments
    axis             along which the signal lies

    Raises ValueError for lengths that do not fit, and for another boundary.

    >>> f, t, z = stft(np.sin(np.pi * np.arange(16.0) / 2), nperseg=8)
    >>> f, np.abs(z[:, 2]).round(3)
    (array([0.   , 0.125, 0.25 , 0.375, 0.5  ]), array([0.  , 0.25, 0.5 , 0.25, 0.  ]))
    """
    x = _signal(x, axis)
    cut = Segments("stft", window, nperseg, noverlap, nfft, operator.index(x.shape[-1]))
    if boundary is not None:
        if boundary not in EXTENSIONS:
            raise ArgumentError(f"stft: boundary must be one of {', '.join(EXTENSIONS)}, or None")
        ends = [(0, 0)] * (x.ndim - 1) + [(cut.length // 2, cut.length // 2)]
        x = np.pad(x, ends, **EXTENSIONS[boundary])
    n = operator.index(x.shape[-1])
    if padded:
        n += -(n - cut.length) % cut.step % cut.length
        x = _to_length(x, n)
    half = return_onesided and x.dtype.kind == "f"
    spectra = cut.spectra(x, _levelling(detrend), half)
    spectra = spectra * np.sqrt(cut.scale("spectrum", fs))
    times = np.arange(cut.length / 2, n - cut.length / 2 + 1, cut.step) / fs
    times = times if boundary is None else times - cut.length / 2 / fs
    return (
        cut.frequencies(fs, half),
        times,
        np.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis),
    )


@follow_arguments
def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """The cross power spectrum of two signals by Welch's method: frequencies, and an array.

    y        a second signal; None: x itself
    scaling  'density': power by frequency; 'spectrum': power
    average  'mean' or 'median', over the segments

    The other arguments, and errors, are those of `stft`; nperseg is 256 by default. P. Welch, IEEE
    Transactions on Audio and Electroacoustics 15, 1967.

    >>> f, p = csd(np.array([1.0, -1.0, 1.0, -1.0]), None, window="boxcar", detrend=False)
    >>> p.round(3)
    array([0., 0., 4.])
    """
    x = _signal(x, axis)
    z = x if y is None else _signal(y, axis)
    n = max(operator.index(x.shape[-1]), operator.index(z.shape[-1]))
    x, z = _to_length(x, n), _to_length(z, n)
    cut = Segments("csd", window, nperseg, noverlap, nfft, n)
    half = return_onesided and x.dtype.kind == "f" and z.dtype.kind == "f"
    level = _levelling(detrend)
    first = cut.spectra(x, level, half)
    second = first if y is None else cut.spectra(z, level, half)
    power = cut.power(np.conj(first) * second, scaling, fs, half)
    power = _average_segments(np.real(power) if y is None else power, average)
    return cut.frequencies(fs, half), np.moveaxis(power, -1, axis)


def _average_segments(power: Any, average: str) -> Any:
    """Over the segments, the last axis but one."""
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median":
        raise ArgumentError(f"average must be 'mean' or 'median', not {average!r}")
    even = 2.0 * np.arange(1, (operator.index(power.shape[-2]) - 1) // 2 + 1)
    bias = 1 + np.sum(1 / (even + 1) - 1 / even)  # that of the median of exponential numbers
    if power.dtype.kind == "c":
        middle = np.median(power.real, axis=-2) + 1j * np.median(power.imag, axis=-2)
        return middle / bias
    return np.median(power, axis=-2) / bias


@follow_arguments
def welch(x: Any, *args: Any, **options: Any) -> Any:
    """The power spectrum of a signal: `csd` of it with itself, from whose `fs` on the arguments are
    the same.

    >>> f, p = welch(np.array([1.0, -1.0, 1.0, -1.0]), window="boxcar", scaling="spectrum")
    >>> p.round(3)
    array([0., 0., 1.])
    """
    return csd(x, None, *args, **options)


@follow_arguments
def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    """The power spectrum of a signal as a whole: `csd` of one segment with itself.

    nfft  the length of the transform: zeros are added, or the rest of the signal is left out

    >>> periodogram(np.array([1.0, -1.0, 1.0, -1.0]))[1].round(3)
    array([0., 0., 4.])
    """
    x = _signal(x, axis)
    n = operator.index(x.shape[-1])
    if nfft is not None and nfft < n:
        x, n = x[..., :nfft], operator.index(nfft)
    spectra = csd(x, None, fs, window, n, 0, nfft, detrend, return_onesided, scaling)
    return spectra[0], np.moveaxis(spectra[1], -1, axis)


@follow_arguments
def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> Any:
    """How far one signal follows another at each frequency, from 0 to 1: frequencies, and an array.

    The arguments are those of `csd`.

    >>> coherence(np.arange(8.0) ** 2, np.arange(8.0) ** 2, nperseg=4)[1].round(3)
    array([1., 1., 1.])
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    frequencies, across = csd(x, y, *options)
    own = csd(x, None, *options)[1] * csd(y, None, *options)[1]
    return frequencies, (across.real**2 + across.imag**2) / own


@follow_arguments
def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> Any:
    """The spectra of segments: frequencies, times, and an array with the times along its last axis.

    noverlap  how much neighbours share; an eighth by default
    mode      'psd': power; 'complex', its 'magnitude' or 'angle': the transforms themselves

    The other arguments, and errors, are those of `csd`.

    >>> spectrogram(np.array([1.0, -1.0] * 4), window="boxcar", nperseg=4, noverlap=0)[2].round(3)
    array([[0., 0.],
           [0., 0.],
           [4., 4.]])
    """
    x = _signal(x, axis)
    n = operator.index(x.shape[-1])
    cut = Segments("spectrogram", window, nperseg, 0, nfft, n)
    overlap = cut.length // 8 if noverlap is None else noverlap
    cut = Segments("spectrogram", window, nperseg, overlap, nfft, n)
    half = return_onesided and x.dtype.kind == "f"
    spectra = cut.spectra(x, _levelling(detrend), half)
    if mode == "psd":
        spectra = cut.power(np.real(np.conj(spectra) * spectra), scaling, fs, half)
    elif mode in PARTS:
        spectra = PARTS[mode](spectra * np.sqrt(cut.scale(scaling, fs)))
    else:
        raise ArgumentError(f"spectrogram: mode must be 'psd', {', '.join(PARTS)}, not {mode!r}")
    times = np.arange(cut.length / 2, n - cut.length / 2 + 1, cut.step) / fs
    return (
        cut.frequencies(fs, half),
        times,
        np.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis),
    )


@follow_arguments
def istft(
    Zxx: Any,  # noqa: N803 (SciPy's)
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> Any:
    """The signal of which `stft` gives these spectra: times, and an array.

    Zxx             an array with times and frequencies along two axes
    input_onesided  whether negative frequencies are left out
    boundary        whether the signal was made longer at its ends

    The other arguments, and errors, are those of `stft`. D. Griffin, J. Lim, "Signal estimation
    from modified short-time Fourier transform", IEEE Trans. ASSP 32, 1984.

    >>> x = np.array([1.0, 2.0, 4.0, 3.0])
    >>> istft(stft(x, nperseg=2)[2])[1].round(6)
    array([1., 2., 4., 3.])
    """
    z = np.asarray(Zxx)
    frequencies, times = freq_axis % z.ndim, time_axis % z.ndim
    z = np.moveaxis(z, (times, frequencies), (-2, -1))
    count, size = map(operator.index, z.shape[-2:])
    whole = 2 * (size - 1) if input_onesided else size
    length = whole if nperseg is None else operator.index(nperseg)
    if nfft is None:
        nfft = length if input_onesided and length == whole + 1 else whole
    cut = Segments("istft", window, length, noverlap, nfft, length)
    parts = (np.fft.irfft if input_onesided else np.fft.ifft)(z, cut.size)[..., :length]
    parts = parts * cut.window * np.sum(cut.window)
    n = length + (count - 1) * cut.step
    signal, weight = np.zeros((*z.shape[:-2], n), parts.dtype), np.zeros(n)
    for k in range(count):
        start = k * cut.step
        signal[..., start : start + length] += parts[..., k, :]
        weight[start : start + length] += cut.window**2
    if boundary:
        inside = slice(length // 2, n - length // 2)
        signal, weight = signal[..., inside], weight[inside]
    signal = signal / np.where(weight > ENOUGH, weight, 1.0)
    time = np.arange(operator.index(signal.shape[-1])) / fs
    return time, np.moveaxis(signal, -1, times - (frequencies < times))
