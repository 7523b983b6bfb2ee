"""Filters signals there and back, smooths them by polynomials, and makes them analytic: filtfilt,
sosfiltfilt, savgol_filter and hilbert of scipy.signal.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.iir_filters import coefficients, lfilter, lfilter_zi, sosfilt, sosfilt_zi
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

PADS = ("odd", "even", "constant", None)
EDGES = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}


def _extend_rows(x: Any, n: int, kind: str | None) -> Any:
    """The rows of x with n more on both sides: turned about the ends, mirrored, or the ends."""
    if n == 0 or kind is None:
        return x
    first, last = x[:1], x[-1:]
    before, after = x[n:0:-1], x[-2 : -n - 2 : -1]
    if kind == "odd":
        before, after = 2 * first - before, 2 * last - after
    elif kind == "constant":
        before, after = first + np.zeros_like(before), last + np.zeros_like(after)
    return np.concatenate((before, x, after))


def _pad_length(name: str, x: Any, kind: Any, padlen: Any, least: int) -> int:
    if kind not in PADS:
        raise ArgumentError(
            f"{name}: padtype must be 'even', 'odd', 'constant' or None, not {kind!r}"
        )
    if kind is None:
        return 0
    n = least if padlen is None else operator.index(padlen)
    if n < 0 or operator.index(x.shape[0]) <= n:
        raise ArgumentError(
            f"{name}: the length of the input vector x must be greater than padlen, which is {n}"
        )
    return n


@follow_arguments
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: Any = "odd",
    padlen: Any = None,
    method: str = "pad",
    irlen: Any = None,
) -> Any:
    """A signal through a filter forwards and backwards, so that it is not delayed.

    b, a     the coefficients, as for `lfilter`
    axis     along which the signal lies
    padtype  how it goes on at its ends: 'odd', 'even', 'constant', or None
    padlen   for how long; 3 * max(len(a), len(b)) by default

    Differentiable in b, a and x. Raises ValueError for another padtype, for a signal that is not
    longer than padlen, and for another method than 'pad'.

    >>> filtfilt([1.0], [1.0], np.array([1.0, 2.0, 4.0, 7.0]))
    array([1., 2., 4., 7.])
    """
    if method != "pad" or irlen is not None:
        raise ArgumentError(f"filtfilt: method must be 'pad', not {method!r}", "leave it out")
    b, a = coefficients(b, a)
    rows = np.moveaxis(np.asarray(x), axis, 0)
    n = _pad_length("filtfilt", rows, padtype, padlen, 3 * operator.index(b.shape[0]))
    settled = _with_axes_behind(lfilter_zi(b, a), rows.ndim)
    y = _extend_rows(rows, n, padtype)
    for _ in range(2):
        y = lfilter(b, a, y, 0, settled * y[:1])[0][::-1]
    return np.moveaxis(y[n : y.shape[0] - n], 0, axis)


def _with_axes_behind(settled: Any, ndim: int) -> Any:
    """As many axes of length one behind as a signal has more than one."""
    return settled[(..., *[None] * (ndim - 1))]


@follow_arguments
def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None) -> Any:
    """A signal through filters of second order, there and back, so that it is not delayed.

    sos  a matrix with a row (b0, b1, b2, a0, a1, a2) for each

    The other arguments and errors are those of `filtfilt`.

    >>> sosfiltfilt([[0.5, 0.5, 0.0, 1.0, 0.0, 0.0]], np.arange(7.0), padlen=2)
    array([0., 1., 2., 3., 4., 5., 6.])
    """
    sos = np.asarray(sos)
    rows = np.moveaxis(np.asarray(x), axis, 0)
    length, most = operator.index(rows.shape[0]), 3 * (2 * operator.index(sos.shape[0]) + 1)
    if padlen is not None or padtype is None:
        n = most = _pad_length("sosfiltfilt", rows, padtype, padlen, 0)
    else:  # as SciPy, by how many coefficients are 0, which a program knows when it runs
        _pad_length("sosfiltfilt", rows, padtype, 0, 0)
        n = most - 3 * np.minimum(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
        if n >= length:
            raise ValueError("sosfiltfilt: x must be longer than padlen; pass a smaller padlen")
    settled = _with_axes_behind(sosfilt_zi(sos), rows.ndim)
    # Beyond n the ends go on as they are: a filter that has settled there stays settled
    y = _extension_at(rows, np.clip(np.arange(-most, length + most), -n, length - 1 + n), padtype)
    for _ in range(2):
        y = sosfilt(sos, y, 0, settled * y[:1])[0]
        y = y[np.minimum(np.arange(length + 2 * most), most + length - 1 + n)][::-1]
    return np.moveaxis(y[most : most + length], 0, axis)


def _extension_at(x: Any, at: Any, kind: str | None) -> Any:
    """What `_extend_rows` has at places of which some lie outside."""
    last = x.shape[0] - 1
    inside = np.clip(at, 0, last)
    if kind in (None, "constant"):
        return x[inside]
    mirrored = x[last - np.abs(last - np.abs(at))]
    if kind == "even":
        return mirrored
    outside = (at != inside)[(slice(None), *[None] * (x.ndim - 1))]
    return np.where(outside, 2 * x[inside] - mirrored, mirrored)


@follow_arguments
def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """A signal smoothed by the polynomial that fits best around each place, or its derivatives.

    window_length  how many numbers it is fitted to
    polyorder      its degree, less than window_length
    deriv          which derivative
    delta          the distance of the numbers
    axis           along which the signal lies
    mode           at the ends: 'interp': one polynomial for half a window; or how it goes on:
                   'mirror', 'nearest', 'wrap', 'constant' with cval

    Differentiable in x. Raises ValueError for another mode, degree and length.

    >>> savgol_filter(np.arange(5.0) ** 2, 3, 2, deriv=1).round(9) + 0
    array([0., 2., 4., 6., 8.])
    """
    window, degree = operator.index(window_length), operator.index(polyorder)
    if degree >= window:
        raise ArgumentError("savgol_filter: polyorder must be less than window_length")
    if mode != "interp" and mode not in EDGES:
        raise ArgumentError(f"savgol_filter: mode must be interp, {', '.join(EDGES)}, not {mode!r}")
    x = np.asarray(x)
    rows = np.moveaxis(x.astype(x.dtype if x.dtype == np.float32 else np.float64), axis, 0)
    n, half = operator.index(rows.shape[0]), window // 2
    if mode == "interp" and window > n:
        raise ArgumentError(
            "savgol_filter: if mode is 'interp', window_length must be at most the length of x"
        )
    middle = half if window % 2 else half - 0.5
    weights = _weights(window, degree, deriv, delta, [middle])[0].astype(rows.dtype)
    if mode == "interp":
        smooth = _slid(rows[1 - window % 2 :], weights, n - 2 * half)
        first, last = (
            np.tensordot(_weights(window, degree, deriv, delta, at).astype(rows.dtype), part, 1)
            for at, part in (
                (range(half), rows[:window]),
                (range(window - half, window), rows[n - window :]),
            )
        )
        return np.moveaxis(np.concatenate((first, smooth, last)), 0, axis)
    widths = [(window - 1 - half, half), *[(0, 0)] * (rows.ndim - 1)]
    options = {"constant_values": cval} if mode == "constant" else {}
    padded: Any = np.pad(rows, widths, mode=EDGES[mode], **options)  # type: ignore[call-overload]  # its words are texts here
    return np.moveaxis(_slid(padded, weights, n), 0, axis)


def _weights(window: int, degree: int, deriv: int, delta: float, at: Any) -> Any:
    """What the numbers of a window count for the fitted polynomial at some of its places."""
    fit = np.linalg.pinv(np.vander(np.arange(window) - window // 2, degree + 1, increasing=True))
    weights = np.zeros((len(at), window))
    for k in range(deriv, degree + 1):
        factor = np.prod(np.arange(k - deriv + 1, k + 1)) / delta**deriv
        weights = weights + np.outer(factor * (np.asarray(at) - window // 2) ** (k - deriv), fit[k])
    return weights


def _slid(x: Any, weights: Any, count: int) -> Any:
    filtered = np.zeros_like(x[:count])
    for k in range(weights.shape[0]):
        filtered = filtered + weights[k] * x[k : k + count]
    return filtered


@follow_arguments
def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:  # noqa: N803 (SciPy's)
    """The analytic signal: x, and its Hilbert transform as imaginary part.

    N     how many numbers of x are taken, or to which length zeros are added
    axis  along which the signal lies

    Raises ValueError for complex x, and for N below 1.

    >>> hilbert(np.array([1.0, 0.0, -1.0, 0.0])).round(12) + 0
    array([ 1.+0.j,  0.+1.j, -1.+0.j,  0.-1.j])
    """
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise ArgumentError("hilbert: x must be real")
    n = operator.index(x.shape[axis] if N is None else N)
    if n <= 0:
        raise ArgumentError("hilbert: N must be positive")
    spectrum = np.fft.fft(x, n, axis=axis)
    place = np.arange(n)
    factor = np.where((place == 0) | (2 * place == n), 1, np.where(2 * place < n, 2, 0))
    shape = [1] * x.ndim
    shape[axis] = n
    return np.fft.ifft(spectrum * np.reshape(factor, shape).astype(x.dtype), axis=axis)
