"""Convolves and correlates signals, as jax.scipy.signal does, and collects trends and spectra."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.lax.sliding_windows.convolution import conv_general_dilated
from tapeless.missing import missing
from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.detrend import detrend
from tapeless.scipy.filtfilt import filtfilt, hilbert, savgol_filter, sosfiltfilt
from tapeless.scipy.iir_filters import (
    deconvolve,
    freqs,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
)
from tapeless.scipy.resampling import decimate, resample, resample_poly, upfirdn
from tapeless.scipy.spectral import coherence, csd, istft, periodogram, spectrogram, stft, welch
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

#: The modes of np.pad by the boundaries of SciPy.
BOUNDARIES: dict[str, Any] = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}
MODES = ("full", "same", "valid")


@follow_arguments
def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """The convolution of two arrays with the same number of axes.

    mode    'full'; 'same': as long as in1; 'valid': where one lies within the other
    method  'direct' ('auto' is the same), or 'fft'

    precision is what JAX takes. Raises ValueError for another mode or method, and for other shapes.

    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    _check("convolve", in1, in2, mode)
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(f"convolve: method must be auto, direct or fft, not {method!r}")
    return fftconvolve(in1, in2, mode) if method == "fft" else _convolve_direct(in1, in2, mode)


@follow_arguments
def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Any:
    """The correlation of two arrays: the convolution with in2 backwards, and conjugate.

    Arguments and errors are those of `convolve`.

    >>> correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), mode="same")
    array([2. , 3.5, 3. ])
    """
    return convolve(in1, np.conj(np.flip(in2)), mode, method, precision)


@follow_arguments
def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Any:
    """The convolution of two matrices.

    boundary  what in1 is taken to go on as beyond its ends: 'fill' by fillvalue, 'wrap' or 'symm'
              (SciPy's; JAX has 'fill' by 0)

    Other arguments and errors are those of `convolve`.

    >>> convolve2d(np.eye(2), np.ones((1, 2)), mode="same")
    array([[1., 1.],
           [0., 1.]])
    """
    _check_matrices("convolve2d", in1, in2, boundary)
    if mode == "valid" or _is_plain(boundary, fillvalue):
        return convolve(in1, in2, mode)
    full = _full(in1, in2, boundary, fillvalue)
    if mode == "full":
        return full
    return _cut(full, [(n - 1) // 2 for n in np.shape(in2)], np.shape(in1))


@follow_arguments
def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Any:
    """The correlation of two matrices. Arguments and errors are those of `convolve2d`.

    >>> correlate2d(np.eye(2), np.ones((1, 2)), mode="valid")
    array([[1.],
           [1.]])
    """
    _check_matrices("correlate2d", in1, in2, boundary)
    _check("correlate2d", in1, in2, mode)
    backwards = np.conj(np.flip(in2))
    if _is_plain(boundary, fillvalue):
        full = convolve(in1, backwards)
    else:
        full = _full(in1, backwards, boundary, fillvalue)
    if mode == "full":
        return full
    if mode == "same":  # where the middle of in2 lies on an element of in1
        starts = [n - 1 - (n - 1) // 2 for n in np.shape(in2)]
        return _cut(full, starts, np.shape(in1))
    return convolve(in1, backwards, "valid")


@follow_arguments
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution of two arrays by Fourier transforms: quick for long ones.

    mode  as in `convolve`
    axes  over which is convolved, all by default; the others broadcast

    Raises ValueError for another mode, and for other shapes.

    >>> fftconvolve(np.array([1.0, 2.0]), np.array([0.0, 1.0])).round(12)
    array([0., 1., 2.])
    """
    _check("fftconvolve", in1, in2, mode)
    in1, in2 = np.asarray(in1), np.asarray(in2)
    axes = tuple(range(in1.ndim)) if axes is None else tuple(k % in1.ndim for k in np.ravel(axes))
    lengths = [in1.shape[k] + in2.shape[k] - 1 for k in axes]
    turning = in1.dtype.kind == "c" or in2.dtype.kind == "c"
    there, back = (np.fft.fftn, np.fft.ifftn) if turning else (np.fft.rfftn, np.fft.irfftn)
    spectrum = there(in1, lengths, axes) * there(in2, lengths, axes)
    full: Any = back(spectrum, lengths, axes)
    if mode == "full":
        return full
    first, second = ([x.shape[k] for k in axes] for x in (in1, in2))
    wanted = first if mode == "same" else [_valid(n, m) for n, m in zip(first, second, strict=True)]
    starts, shape = [0] * full.ndim, list(full.shape)
    for k, n in zip(axes, wanted, strict=True):
        starts[k], shape[k] = (full.shape[k] - n) // 2, n
    return _cut(full, starts, shape)


def _valid(n: Any, m: Any) -> Any:
    return max(n, m) - min(n, m) + 1


def _cut(full: Any, starts: Any, shape: Any) -> Any:
    return full[tuple(slice(a, a + n) for a, n in zip(starts, shape, strict=True))]


def _convolve_direct(in1: Any, in2: Any, mode: str) -> Any:
    """By a convolution of one channel, whose kernel does not turn round."""
    dtype = np.result_type(in1, in2)
    in1, in2 = np.asarray(in1, dtype), np.asarray(in2, dtype)
    if mode == "valid" and _is_smaller(in1.shape, in2.shape):
        in1, in2 = in2, in1
    rank = in1.ndim
    pads = {
        "full": [(n - 1, n - 1) for n in in2.shape],
        "same": [(n - 1 - (n - 1) // 2, (n - 1) // 2) for n in in2.shape],
        "valid": [(0, 0)] * rank,
    }[mode]
    work = dtype if dtype.kind in "fc" else np.dtype(float)
    image, kernel = in1.astype(work), np.flip(in2).astype(work)
    if rank == 2:
        convolved = _sum_of_shifted_images(
            image if mode == "valid" else np.pad(image, pads), kernel
        )
    else:
        channels = image[None, None], kernel[None, None]
        convolved = conv_general_dilated(*channels, (1,) * rank, pads)[0, 0]
    return convolved if work == dtype else np.rint(convolved).astype(dtype)


def _sum_of_shifted_images(image: Any, kernel: Any) -> Any:
    """The sum of the shifted image, weighted by the elements of the kernel: with one channel that
    takes less memory than a product of matrices."""
    height, width = (n - m + 1 for n, m in zip(image.shape, kernel.shape, strict=True))
    total = np.zeros((height, width), image.dtype)
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            total += kernel[i, j] * image[i : i + height, j : j + width]
    return total


def _is_smaller(first: Any, second: Any) -> bool:
    """Whether the first array lies within the second; a staged run is made for their lengths."""
    pairs = [*zip(map(operator.index, first), map(operator.index, second), strict=True)]
    shorter, longer = any(n < m for n, m in pairs), any(n > m for n, m in pairs)
    if shorter and longer:
        raise ArgumentError(
            f"mode 'valid' of arrays of shape {tuple(first)} and {tuple(second)}",
            "one must be at least as long as the other along every axis",
        )
    return shorter


def _check(name: str, in1: Any, in2: Any, mode: str) -> None:
    if mode not in MODES:
        raise ArgumentError(f"{name}: mode must be one of {', '.join(MODES)}, not {mode!r}")
    if np.ndim(in1) != np.ndim(in2) or np.ndim(in1) == 0:
        raise ArgumentError(
            f"{name}: arrays of shape {np.shape(in1)} and {np.shape(in2)}",
            "both need the same number of axes, at least one",
        )


def _check_matrices(name: str, in1: Any, in2: Any, boundary: str) -> None:
    if boundary not in BOUNDARIES:
        raise ArgumentError(f"{name}: boundary must be fill, wrap or symm, not {boundary!r}")
    if np.ndim(in1) != 2 or np.ndim(in2) != 2:
        raise ArgumentError(f"{name}: takes matrices, not shapes {np.shape(in1)}, {np.shape(in2)}")


def _is_plain(boundary: str, fillvalue: Any) -> bool:
    return boundary == "fill" and isinstance(fillvalue, (int, float)) and fillvalue == 0


def _full(in1: Any, in2: Any, boundary: str, fillvalue: Any) -> Any:
    """The convolution of a matrix that goes on beyond its ends."""
    in2 = np.asarray(in2)
    widths = tuple((n - 1, n - 1) for n in in2.shape)
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    return convolve(np.pad(in1, widths, BOUNDARIES[boundary], **options), in2, "valid")


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "decimate",
    "deconvolve",
    "detrend",
    "fftconvolve",
    "filtfilt",
    "freqs",
    "hilbert",
    "istft",
    "lfilter",
    "lfilter_zi",
    "periodogram",
    "resample",
    "resample_poly",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "spectrogram",
    "stft",
    "upfirdn",
    "welch",
]
