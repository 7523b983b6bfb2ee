"""Filters signals recursively (infinite impulse response): lfilter, sosfilt and deconvolve of
scipy.signal.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through the filter a[0] y[n] = b[0] x[n] + b[1] x[n-1] + ... - a[1] y[n-1] - ...

    b, a  vectors, or numbers
    x     an array
    axis  along which the signal lies
    zi    what the filter holds before: as x, with max(len(a), len(b)) - 1 along `axis`; returned is
          then a pair: the signal, and what it holds at the end

    Differentiable in all of them. Raises ValueError for other shapes.

    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    if b.ndim != 1 or a.ndim != 1:
        raise ArgumentError("lfilter: the coefficients b and a must be vectors")
    n = max(operator.index(b.shape[0]), operator.index(a.shape[0]))
    b, a = (np.pad(c, (0, n - c.shape[0])) / a[0] for c in (b, a))
    dtype = np.result_type(b, a, x, *([] if zi is None else [zi]))
    rows = np.moveaxis(x, axis, 0).astype(dtype)
    if zi is None:
        held = np.zeros((n - 1, *rows.shape[1:]), dtype)
    else:
        held = np.moveaxis(np.asarray(zi), axis, 0).astype(dtype)
        if held.shape[0] != n - 1 or held.ndim != rows.ndim:
            raise ArgumentError(f"lfilter: zi must have {n - 1} numbers, and the axes of x")
        held = np.broadcast_to(held, (n - 1, *rows.shape[1:])).copy()
    filtered = np.zeros_like(rows)
    for k in range(rows.shape[0]):
        held, filtered[k] = _next(b, a, held, rows[k])
    y = np.moveaxis(filtered, 0, axis)
    return y if zi is None else (y, np.moveaxis(held, 0, axis))


def _next(b: Any, a: Any, held: Any, x: Any) -> Any:
    """Direct form II, transposed: what is held for the next number, and the one that is given."""
    if operator.index(held.shape[0]) == 0:
        return held, b[0] * x
    y = b[0] * x + held[0]
    along = (slice(1, None), *[None] * x.ndim)
    moved = np.concatenate([held[1:], np.zeros_like(held[:1])])
    return moved + b[along] * x - a[along] * y, y


@follow_arguments
def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> Any:  # noqa: N803 (SciPy's)
    """Angular frequencies, and the response b(jw) / a(jw) of an analog filter at each.

    b, a  coefficients, the highest power first
    worN  the frequencies; SciPy's choice of them is not supported

    >>> freqs([1.0], [1.0, 1.0], [1.0])[1]
    array([0.5-0.5j])
    """
    if np.ndim(worN) == 0 or plot is not None:
        raise ArgumentError("freqs: give the frequencies, and plot what is returned")
    w = np.asarray(worN)
    return w, np.polyval(b, 1j * w) / np.polyval(a, 1j * w)


@follow_arguments
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through filters of second order, one after the other.

    sos   a matrix with a row (b0, b1, b2, a0, a1, a2) for each
    zi    what each of them holds before: for each row an array as x, with 2 along `axis`

    The other arguments, what is returned, and errors are those of `lfilter`.

    >>> sosfilt([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    sos = _sections("sosfilt", sos)
    held = []
    for k in range(operator.index(sos.shape[0])):
        x = lfilter(sos[k, :3], sos[k, 3:], x, axis, None if zi is None else zi[k])
        if zi is not None:
            x, last = x
            held.append(last)
    return x if zi is None else (x, np.stack(held))


def _sections(name: str, sos: Any) -> Any:
    sos = np.asarray(sos)
    if sos.ndim != 2 or operator.index(sos.shape[1]) != 6:
        raise ArgumentError(f"{name}: takes a matrix with six columns")
    return sos


@follow_arguments
def lfilter_zi(b: Any, a: Any) -> Any:
    """What a filter holds after it has seen 1 for long.

    >>> lfilter_zi([1.0], [1.0, -0.5])
    array([1.])
    """
    b, a = coefficients(b, a)
    n = operator.index(b.shape[0])
    if n == 1:
        return np.zeros(0, b.dtype)
    turned = np.concatenate((-a[1:, None], np.eye(n - 1, n - 2, dtype=b.dtype)), axis=1)
    return np.linalg.solve(np.eye(n - 1, dtype=b.dtype) - turned, b[1:] - a[1:] * b[0])


def coefficients(b: Any, a: Any) -> Any:
    """Of one length, the first of a is 1."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    n = max(operator.index(b.shape[0]), operator.index(a.shape[0]))
    return [np.pad(c, (0, n - c.shape[0])) / a[0] for c in (b, a)]


@follow_arguments
def sosfilt_zi(sos: Any) -> Any:
    """What filters of second order hold after the first has seen 1 for long: a row for each.

    >>> sosfilt_zi([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]])
    array([[1., 0.]])
    """
    sos = _sections("sosfilt_zi", sos)
    seen, held = 1.0, []
    for k in range(operator.index(sos.shape[0])):
        b, a = sos[k, :3], sos[k, 3:]
        held.append(seen * lfilter_zi(b, a))
        seen = seen * (np.sum(b) / np.sum(a))
    return np.stack(held)


@follow_arguments
def deconvolve(signal: Any, divisor: Any) -> Any:
    """The quotient and the rest of two polynomials, which undo `convolve`: signal is the divisor
    convolved with the quotient, and the rest.

    signal, divisor  vectors, the first number of the divisor is not 0

    >>> deconvolve(np.array([1.0, 4.0, 5.0, 2.0]), np.array([1.0, 2.0]))
    (array([1., 2., 1.]), array([0., 0., 0., 0.]))
    """
    signal, divisor = np.atleast_1d(signal), np.atleast_1d(divisor)
    if signal.ndim != 1 or divisor.ndim != 1:
        raise ArgumentError("deconvolve: signal and divisor must be vectors")
    count = operator.index(signal.shape[0]) - operator.index(divisor.shape[0]) + 1
    if count < 1:
        return np.zeros(0, np.result_type(signal, divisor, float)), signal
    first = (np.arange(count) == 0).astype(np.result_type(signal, divisor, np.float32))
    quotient = lfilter(signal, divisor, first)
    return quotient, signal - np.convolve(divisor, quotient)
