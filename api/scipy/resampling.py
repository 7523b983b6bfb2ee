"""Resamples signals at other rates: resample, upfirdn, resample_poly and decimate of
scipy.signal."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from scipy.signal import cheby1, firwin, get_window

from tapeless.lax.sliding_windows.convolution import conv_general_dilated
from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.filtfilt import sosfiltfilt
from tapeless.scipy.iir_filters import sosfilt
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

LEVELS: dict[str, Any] = {"mean": np.mean, "median": np.median}
LEVELS |= {"minimum": np.min, "maximum": np.max}


@follow_arguments
def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:
    """A periodic signal at another number of places, by its Fourier transform.

    x       an array
    num     how many numbers are wanted
    t       where those of x are: returned is then a pair, the signal and the new places
    axis    along which the signal lies
    window  by which the spectrum is multiplied: a name that SciPy knows, a function of
            frequencies, or an array

    Raises ValueError for another domain than 'time', and for a window of another length.

    >>> resample(np.array([1.0, 0.0, -1.0, 0.0]), 8).round(3) + 0
    array([ 1.   ,  0.707,  0.   , -0.707, -1.   , -0.707,  0.   ,  0.707])
    """
    if domain != "time":
        raise ArgumentError("resample: only domain='time' is supported", "use np.fft.ifft first")
    x, num = np.moveaxis(np.asarray(x), axis, -1), operator.index(num)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    n = operator.index(x.shape[-1])
    spectrum = np.fft.fft(x)
    if window is not None:
        spectrum = spectrum * _spectral_window(window, n).astype(x.real.dtype)
    kept = min(n, num)
    parts = [spectrum[..., : (kept + 1) // 2]]
    if kept % 2 == 0:  # the frequency that is its own negative, unless there is room for both
        middle, other = spectrum[..., kept // 2], spectrum[..., n - kept // 2]
        both = [(middle + other)[..., None]] if num < n else [middle[..., None] / 2] * 2
        both = [middle[..., None]] if num == n else both
    else:
        both = []
    hole = np.zeros((*x.shape[:-1], max(num - kept - len(both[1:]), 0)), spectrum.dtype)
    negative = spectrum[..., n - (kept - 1) // 2 :] if kept > 2 else spectrum[..., :0]
    parts += [*both[:1], hole, *both[1:], negative]
    samples = np.fft.ifft(np.concatenate(parts, axis=-1)) * (num / n)
    real = x.dtype.kind != "c"
    resampled = np.moveaxis((samples.real if real else samples).astype(x.dtype), -1, axis)
    if t is None:
        return resampled
    return resampled, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


def _spectral_window(window: Any, n: int) -> Any:
    if callable(window):
        return np.asarray(window(np.fft.fftfreq(n)))
    if isinstance(window, (str, tuple, float)):
        return np.fft.ifftshift(get_window(window, n))
    if np.shape(window) != (n,):
        raise ArgumentError(f"resample: a window of shape {np.shape(window)} for {n} frequencies")
    return np.asarray(window)


@follow_arguments
def upfirdn(
    h: Any,
    x: Any,
    up: int = 1,
    down: int = 1,
    axis: int = -1,
    mode: str = "constant",
    cval: Any = 0,
) -> Any:
    """A signal with zeros put between its numbers, filtered, of which every few are kept.

    h     the filter, a vector
    x     an array
    up    one more than how many zeros are put between two numbers
    down  every how many are kept
    axis  along which the signal lies

    Differentiable in h and x. Raises ValueError for another mode than 'constant' with 0.

    >>> upfirdn([1.0, 1.0], np.array([1.0, 2.0]), up=2)
    array([1., 1., 2., 2.])
    """
    if mode != "constant" or cval != 0:
        raise ArgumentError("upfirdn: only mode='constant' with cval=0 is supported", "use np.pad")
    h, x, up, down = np.asarray(h), np.asarray(x), operator.index(up), operator.index(down)
    if h.ndim != 1 or up < 1 or down < 1:
        raise ArgumentError("upfirdn: takes a vector h, and rates that are at least 1")
    dtype = np.result_type(h, x, np.float32)
    rows = np.moveaxis(x.astype(dtype), axis, -1)
    lead, n, size = rows.shape[:-1], operator.index(rows.shape[-1]), operator.index(h.shape[0])
    count = ((n - 1) * up + size - 1) // down + 1
    behind = (count - 1) * down + 1 - ((n - 1) * up + 1)
    filtered = conv_general_dilated(
        np.reshape(rows, (-1, 1, n)),
        np.flip(h).astype(dtype)[None, None],
        (down,),
        [(size - 1, max(behind, 0))],
        lhs_dilation=(up,),
    )
    return np.moveaxis(np.reshape(filtered[..., :count], (*lead, count)), -1, axis)


@follow_arguments
def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """A signal at up / down times its rate, by a filter of finite length.

    x         an array
    up, down  integers
    axis      along which the signal lies
    window    of the filter that is made: a name that SciPy knows; or a filter, a vector
    padtype   what is taken for the signal outside: 'constant': 0; its 'mean', 'median', 'minimum'
              or 'maximum'

    Differentiable in x and a given filter. Raises ValueError for another padtype.

    >>> resample_poly(np.ones(3), 2, 1, padtype="mean")
    array([1., 1., 1., 1., 1., 1.])
    """
    up, down = operator.index(up), operator.index(down)
    if (padtype != "constant" or cval not in (None, 0)) and padtype not in LEVELS:
        raise ArgumentError(
            f"resample_poly: padtype must be 'constant' with 0, or one of {', '.join(LEVELS)}"
        )
    up, down = up // math.gcd(up, down), down // math.gcd(up, down)
    x = np.asarray(x)
    if up == down == 1:
        return x.copy()
    h = _low_pass(window, max(up, down), x) * up
    half = (operator.index(h.shape[0]) - 1) // 2
    level = LEVELS[padtype](x, axis=axis, keepdims=True) if padtype in LEVELS else 0
    before = down - half % down
    n = operator.index(x.shape[axis])
    count, first = -(-n * up // down), (half + before) // down
    have = ((n - 1) * up + operator.index(h.shape[0]) + before - 1) // down + 1
    h = np.pad(h, (before, max(first + count - have, 0) * down))
    filtered = np.moveaxis(upfirdn(h, x - level, up, down, axis), axis, -1)
    return np.moveaxis(filtered[..., first : first + count], -1, axis) + level


def _low_pass(window: Any, rate: int, x: Any) -> Any:
    if not isinstance(window, (str, tuple)):
        return np.asarray(window) * 1.0
    h = firwin(20 * rate + 1, 1.0 / rate, window=window)
    return h.astype(x.dtype) if x.dtype.kind in "fc" else h


@follow_arguments
def decimate(
    x: Any,
    q: int,
    n: int | None = None,
    ftype: str = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Any:
    """Every q-th number of a signal without its high frequencies.

    x           an array
    q           an integer
    n           the order of the filter: 8 for 'iir', 20 q for 'fir'
    ftype       'iir': a Chebyshev filter; 'fir': one of finite length, with a Hamming window
    axis        along which the signal lies
    zero_phase  whether the filter goes there and back, or is centred, so that nothing is delayed

    Raises ValueError for another ftype.

    >>> decimate(np.ones(40), 2, ftype="fir", zero_phase=False).shape
    (20,)
    """
    x, q = np.asarray(x), operator.index(q)
    x = x if x.dtype.kind in "fc" and x.dtype != np.float16 else x.astype(float)
    if ftype == "iir":
        sos = cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(x.dtype)
        filtered = (sosfiltfilt if zero_phase else sosfilt)(sos, x, axis)
        return np.moveaxis(np.moveaxis(filtered, axis, 0)[::q], 0, axis)
    if ftype != "fir":
        raise ArgumentError(f"decimate: ftype must be 'iir' or 'fir', not {ftype!r}")
    h = firwin((20 * q if n is None else n) + 1, 1.0 / q, window="hamming").astype(x.dtype)
    if zero_phase:
        return resample_poly(x, 1, q, axis, h)
    filtered = np.moveaxis(upfirdn(h, x, 1, q, axis), axis, 0)
    return np.moveaxis(filtered[: -(-operator.index(x.shape[axis]) // q)], 0, axis)
