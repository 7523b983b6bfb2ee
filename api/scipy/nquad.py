"""Integrates over several variables, by integrals of integrals: dblquad, tplquad, nquad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.quadrature import quad
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def dblquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: tuple[Any, ...] = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """The integral of func(y, x) over an area, and an estimate of the error.

    func            takes y, x and args; gives a number
    a, b            from where to where x goes
    gfun, hfun      from where to where y goes: numbers, or functions of x
    args            further arguments of func
    epsabs, epsrel  how large the error of each integral may be, as for quad

    Differentiable in all that func reads, and in the ends.

    >>> value, error = dblquad(lambda y, x: x * y, 0.0, 1.0, 0.0, lambda x: 2 * x)
    >>> bool(abs(value - 0.5) < 1e-14)
    True
    """
    ranges = [lambda x, *_: (_limit_at(gfun, x), _limit_at(hfun, x)), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


@follow_arguments
def tplquad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: tuple[Any, ...] = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """The integral of func(z, y, x) over a volume, and an estimate of the error.

    func            takes z, y, x and args; gives a number
    a, b            from where to where x goes
    gfun, hfun      from where to where y goes: numbers, or functions of x
    qfun, rfun      from where to where z goes: numbers, or functions of x and y
    args            further arguments of func
    epsabs, epsrel  how large the error of each integral may be, as for quad

    Differentiable in all that func reads, and in the ends.

    >>> value, error = tplquad(lambda z, y, x: z, 0.0, 1.0, 0.0, 1.0, 0.0, lambda x, y: x + y)
    >>> bool(abs(value - 7 / 12) < 1e-14)
    True
    """
    ranges = [
        lambda y, x, *_: (_limit_at(qfun, x, y), _limit_at(rfun, x, y)),
        lambda x, *_: (_limit_at(gfun, x), _limit_at(hfun, x)),
        (a, b),
    ]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


@follow_arguments
def nquad(
    func: Callable[..., Any],
    ranges: Sequence[Any],
    args: tuple[Any, ...] | None = None,
    opts: Any = None,
    full_output: bool = False,
) -> Any:
    """The integral of func(x0, ..., xn) over all of these, and an estimate of the error.

    func    takes x0, ..., xn and args; gives a number
    ranges  from where to where each goes: a pair, or a function of those behind it and args
    args    further arguments of func and of the functions in ranges
    opts    options of quad: a dict, or one for each variable; or functions that give them

    The estimate is the greatest of those of the integrals. Differentiable in all that func reads,
    and in the ends. Raises ValueError for full_output, and for options that quad does not take.

    >>> value, error = nquad(lambda x, y: x * y, [lambda y: (0.0, 2 * y), (0.0, 1.0)])
    >>> bool(abs(value - 0.5) < 1e-14)
    True
    """
    if full_output:
        raise ArgumentError("nquad: full_output is not supported")
    options = opts if isinstance(opts, (list, tuple)) else [opts] * len(ranges)
    worst = [0.0]
    inner = func
    for between, option in zip(ranges, options, strict=True):
        inner = _integral(inner, between, option or {}, worst)
    return inner(*(args or ())), worst[0]


def _integral(inner: Any, between: Any, option: Any, worst: list[Any]) -> Any:
    """A function of the variables behind the one that `inner` is integrated over."""

    def integral(*outer: Any) -> Any:
        low, high = _limit_at(between, *outer)
        value, error = quad(inner, low, high, outer, **_limit_at(option, *outer))
        worst[0] = max(worst[0], error)
        return value

    return integral


def _limit_at(f: Any, *outer: Any) -> Any:
    return f(*outer) if callable(f) else f
