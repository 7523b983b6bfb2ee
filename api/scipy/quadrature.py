"""Integrates functions and samples by the rules of scipy.integrate: quad, fixed_quad, simpson,
romb.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeless
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

# Gauss and Kronrod's rule of 21 points: R. Piessens et al., QUADPACK, Springer 1983.
PLACES = np.array(
    [
        *(0.995657163025808080735527280689003, 0.973906528517171720077964012084452),
        *(0.930157491355708226001207180059508, 0.865063366688984510732096688423493),
        *(0.780817726586416897063717578345042, 0.679409568299024406234327365114874),
        *(0.562757134668604683339000099272694, 0.433395394129247190799265943165784),
        *(0.294392862701460198131126603103866, 0.148874338981631210884826001129720),
        0.0,
    ]
)
WEIGHTS = np.array(
    [
        *(0.011694638867371874278064396062192, 0.032558162307964727478818972459390),
        *(0.054755896574351996031381300244580, 0.075039674810919952767043140916190),
        *(0.093125454583697605535065465083366, 0.109387158802297641899210590325805),
        *(0.123491976262065851077958109585166, 0.134709217311473325928054001771707),
        *(0.142775938577060080797094273138717, 0.147739104901338491374841515972068),
        0.149445554002916905664936468389821,
    ]
)
KRONROD = np.concatenate([-PLACES[:-1], PLACES[::-1]])
KRONROD_WEIGHTS = np.concatenate([WEIGHTS[:-1], WEIGHTS[::-1]])
GAUSS_WEIGHTS = np.zeros(21)
GAUSS_WEIGHTS[1::2] = np.polynomial.legendre.leggauss(10)[1]


@follow_arguments
def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    full_output: int = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    **options: Any,
) -> Any:
    """The integral of a function, and an estimate of the error.

    func            takes a number, and args; gives a number
    a, b            from where to where; may be infinite
    args            further arguments, a tuple, or one that is none
    epsabs, epsrel  how large the error may be: the greater of epsabs, and epsrel times the integral
    limit           the most intervals

    The interval with the greatest error is halved until the errors together are small enough; the
    derivative, by what func reads, args, a and b, is that of the sum over the points. Raises
    RuntimeError where `limit` intervals are not enough, and ValueError for other options.

    >>> value, error = quad(np.exp, 0.0, 1.0)
    >>> bool(abs(value - np.e + 1) < 1e-14)
    True
    """
    if full_output or any(v is not None for v in options.values()):
        raise ArgumentError("quad: full_output, points, weight and the like are not supported")
    extra = args if isinstance(args, tuple) else (args,)
    down, up = a == -np.inf or b == -np.inf, a == np.inf or b == np.inf
    low, high, start, sign = a, b, 0.0, 1.0
    if down or up:  # x = start + (1 - |t|) / t: t from -1 to 0 is all below, from 0 to 1 all above
        low, high = -1.0 if down else 0.0, 1.0 if up else 0.0
        if not (np.isinf(a) and np.isinf(b)):
            start = b if np.isinf(a) else a
        sign = -1.0 if a > b else 1.0
        low, high = (1.0, 1.0) if a == b else (low, high)

    def integrand_on_interval(
        t: Any,
    ) -> Any:  # calls func in one place: integrals in integrals stay short
        x, scale = t, 1.0
        if down or up:
            x, scale = start + (1 - np.abs(t)) / t, t**-2
        return scale * func(x, *extra)

    value, error = _adaptive(integrand_on_interval, low, high, down and up, epsabs, epsrel, limit)
    return sign * value, error


def _adaptive(f: Any, a: Any, b: Any, apart: Any, epsabs: Any, epsrel: Any, limit: int) -> Any:
    """By halves, and from the start on both sides of 0 if `apart`. The error of an interval that
    is yet to be looked at is infinite, so that it is the next."""
    lows, highs, values, errors = (np.zeros(limit) for _ in range(4))
    lows[0], highs[0], errors[0], n = a, b, np.inf, 1
    if apart:
        highs[0], lows[1], highs[1], errors[1], n = 0.0, 0.0, b, np.inf, 2
    while np.sum(errors) > max(epsabs, epsrel * np.abs(np.sum(values))):
        k = np.argmax(errors)
        if errors[k] < np.inf:
            if n == limit:
                raise RuntimeError(
                    "quad: the integral is not found with so many intervals; see limit"
                )
            middle, high = (lows[k] + highs[k]) / 2, highs[k]
            highs[k], lows[n], highs[n], errors[n] = middle, middle, high, np.inf
            n += 1
        values[k], error = _by_points(f, lows[k], highs[k])
        errors[k] = min(error, np.finfo(float).max)
    return np.sum(values), np.sum(errors)


def _by_points(f: Any, a: Any, b: Any) -> Any:
    """The integral over one interval, and QUADPACK's estimate of its error."""
    middle, half = (a + b) / 2, (b - a) / 2
    values = np.zeros(21)
    for k in range(21):
        values[k] = f(middle + half * KRONROD[k])
    value = half * np.sum(KRONROD_WEIGHTS * values)
    seen, h = tapeless.stop_gradient(values), np.abs(tapeless.stop_gradient(half))
    mean = np.sum(KRONROD_WEIGHTS * seen) / 2
    spread = h * np.sum(KRONROD_WEIGHTS * np.abs(seen - mean))
    error = h * np.abs(np.sum((KRONROD_WEIGHTS - GAUSS_WEIGHTS) * seen))
    if spread > 0 and error > 0:
        error = spread * min(1.0, (200 * error / spread) ** 1.5)
    return value, max(error, 50 * np.finfo(float).eps * h * np.sum(KRONROD_WEIGHTS * np.abs(seen)))


@follow_arguments
def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """The integral of a function that takes arrays, by Gauss's rule of n points; and None.

    >>> fixed_quad(np.square, 0.0, 3.0)[0].round(12)
    np.float64(9.0)
    """
    places, weights = np.polynomial.legendre.leggauss(operator.index(n))
    half = (b - a) / 2
    return half * np.sum(weights * func(half * (places + 1) + a, *args), axis=-1), None


@follow_arguments
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples, with parabolas through three of them.

    y     an array
    x     where the samples are, of the shape of y or of one axis; evenly spaced by default
    dx    their distance, where x is not given
    axis  along which is integrated

    With an even number of samples, the last interval is that of the parabola through the last three
    (K. V. Cartwright, J. of Math. Sciences and Math. Education 12, 2017). Differentiable in all.

    >>> float(simpson(np.array([0.0, 1.0, 4.0]), dx=3.0))
    8.0
    """
    y = np.moveaxis(np.asarray(y), axis, -1)
    n = operator.index(y.shape[-1])
    if x is None:
        h = np.full(n - 1, 1.0) * dx
    else:
        x = np.asarray(x)
        h = np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1), axis=-1)
    if n == 2:
        return h[..., 0] * (y[..., 0] + y[..., 1]) / 2
    even, odd, pairs = h[..., 0:-1:2], h[..., 1::2], 2 * ((n - 1) // 2)
    first, middle, last = (y[..., k : pairs + k - 1 : 2] for k in range(3))
    ratio, both = even / odd, even + odd
    areas = first * (2 - 1 / ratio) + middle * both**2 / (even * odd) + last * (2 - ratio)
    total = np.sum(both / 6 * areas, axis=-1)
    if n % 2:
        return total
    a, b = h[..., -2], h[..., -1]
    total = total + y[..., -1] * (2 * b**2 + 3 * a * b) / (6 * (a + b))
    return total + y[..., -2] * (b**2 + 3 * a * b) / (6 * a) - y[..., -3] * b**3 / (6 * a * (a + b))


@follow_arguments
def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """The integral of 2^k + 1 evenly spaced samples, by Romberg's method.

    y     an array
    dx    the distance of samples
    axis  along which is integrated

    Differentiable in y and dx. Raises ValueError for another number of samples, and for show.

    >>> float(romb(np.array([0.0, 1.0, 4.0]), dx=3.0))
    8.0
    """
    y = np.moveaxis(np.asarray(y), axis, -1)
    count = operator.index(y.shape[-1]) - 1
    steps = count.bit_length() - 1
    if show or count < 1 or count != 1 << steps:
        raise ArgumentError("romb: needs 2**k + 1 samples, and shows nothing")
    row = [(y[..., 0] + y[..., -1]) / 2 * (dx * count)]
    for i in range(1, steps + 1):
        stride = count >> i
        between = np.sum(y[..., stride :: 2 * stride], axis=-1)
        new = [row[0] / 2 + between * (dx * stride)]
        for j, before in enumerate(row):
            new.append(new[j] + (new[j] - before) / (4.0 ** (j + 1) - 1))
        row = new
    return row[-1]
