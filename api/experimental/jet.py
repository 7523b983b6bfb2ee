"""Computes Taylor coefficients of a function along a curve (`jet`), by derivatives of
derivatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import tapeless
from tapeless import tree
from tapeless.transformations.array_form import Unchanged
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[Any, Any]:
    """The derivatives of f(x(t)) at t = 0, where x(t) is given by its own.

    fun               any function of numbers and arrays
    primals           x(0): a number or an array for each argument
    series            x'(0), x''(0), ... for each argument, all equally many
    factorial_scaled  False: Taylor coefficients are taken and given, x''(0) / 2 for the second

    Returns (value, [first, second, ...]); where fun returns a tree, the second is one of lists.
    By forward mode of forward mode: right for whatever has a derivative, and twice as much work
    with each order. Raises ValueError where the lengths differ.

    >>> import numpy as np
    >>> y, (first, second) = jet(np.sin, (0.5,), ((1.0, 0.0),))
    >>> print(round(first, 4), round(second, 4))
    0.8776 -0.4794
    """
    order = len(series[0]) if series else 0
    if len(series) != len(primals) or any(len(terms) != order for terms in series):
        raise ArgumentError("jet: each argument needs as many terms of its series as the others")
    scale = [1 if factorial_scaled else math.factorial(k + 1) for k in range(order)]
    curves = [
        [x, *(term * n for term, n in zip(terms, scale, strict=True))]
        for x, terms in zip(primals, series, strict=True)
    ]
    derivatives = _derivatives(fun, order)(curves)
    columns = [tree.leaves(derivative) for derivative in derivatives]
    lists = [
        [derivative[k] / n for derivative, n in zip(columns[1:], scale, strict=True)]
        for k in range(len(columns[0]))
    ]
    return derivatives[0], tree.unflatten(tree.structure(derivatives[0]), lists)


def _derivatives(fun: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The function of curves that gives the value of fun and its derivatives along them."""
    return _all_orders(fun, order) if active() else _staged_once(fun, order)


@functools.lru_cache(maxsize=64)
def _staged_once(fun: Callable[..., Any], order: int) -> Unchanged:
    """The same, staged once."""
    return Unchanged(_all_orders(fun, order))


def _all_orders(fun: Callable[..., Any], order: int) -> Callable[..., Any]:
    def derivatives(curves: Any) -> Any:
        def along_curve(t: Any) -> Any:
            return (fun(*[_polynomial(terms, t) for terms in curves]),)

        f: Callable[[Any], Any] = along_curve
        for _ in range(order):
            f = _with_next(f)
        return f(0.0)

    return derivatives


def _with_next(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f, with the derivative of the last of its results as one more."""

    def longer(t: Any) -> Any:
        curve, slopes = tapeless.jvp(f, (t,), (1.0,))
        return (*curve, slopes[-1])

    return longer


def _polynomial(terms: Any, t: Any) -> Any:
    return sum((x * (t**k / math.factorial(k)) for k, x in enumerate(terms) if k), start=terms[0])


__all__ = ["jet"]
