"""Computes softmaxes and logarithms of sums of exponentials without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transformations.custom_rules import CustomJvp
from tapeless.transformations.public_functions import stop_gradient

__staged__ = True  # plain NumPy code: a staged run enters it


def _top(x: Any, axis: Any) -> Any:
    """The largest element, held constant."""
    x = stop_gradient(np.real(x))
    if np.size(x) == 0:
        return np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return np.max(x, axis=axis, keepdims=True)


def _finite_top(x: Any, axis: Any) -> Any:
    """The same, and 0 where it is infinite."""
    top = _top(x, axis)
    return np.where(np.isfinite(top), top, 0)


def _mask_out(x: Any, where: Any) -> Any:
    return x if where is None else np.where(where, x, -np.inf)


def _softmax(x: Any, axis: Any, masked: bool) -> Any:
    parts = np.exp(x - (_finite_top(x, axis) if masked else _top(x, axis)))
    total = np.sum(parts, axis=axis, keepdims=True)
    return parts / (np.where(total == 0, 1, total) if masked else total)


_softmax_with_rule = CustomJvp(_softmax, (1, 2))


@_softmax_with_rule.defjvp
def _softmax_jvp(axis: Any, masked: bool, primals: Any, tangents: Any) -> Any:
    y = _softmax_with_rule(primals[0], axis, masked)
    scaled = y * tangents[0]
    return y, scaled - y * np.sum(scaled, axis=axis, keepdims=True)


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """exp(x), divided by its sum.

    x      an array
    axis   an axis or a tuple of axes, over which the results add up to 1; None: all
    where  a boolean array: which elements take part; the result is 0 for the others

    >>> softmax(np.array([0.0, 1000.0, 1000.0]))
    array([0. , 0.5, 0.5])
    >>> softmax(np.zeros(3), where=np.array([True, True, False]))
    array([0.5, 0.5, 0. ])
    """
    return _softmax_with_rule(_mask_out(x, where), axis, where is not None)


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """log(softmax(x)).

    x      an array
    axis   an axis or a tuple of axes; None: all
    where  a boolean array: which elements take part; the result is -inf for the others

    >>> log_softmax(np.array([0.0, 0.0])).round(4)
    array([-0.6931, -0.6931])
    """
    if where is None:
        shifted = x - _top(x, axis)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    x = _mask_out(x, where)
    shifted = x - _finite_top(x, axis)
    total = np.sum(np.exp(shifted), axis=axis, keepdims=True)
    return np.where(where, shifted - np.log(np.where(total == 0, 1, total)), -np.inf)


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """log(sum(b * exp(a))).

    a            an array
    axis         an axis or a tuple of axes; None: all
    b            weights, 1 by default
    keepdims     whether the axes stay, with length 1
    return_sign  whether a pair is returned: the logarithm of the absolute value, and the sign;
                 without it, a negative sum gives nan
    where        a boolean array: which elements take part

    >>> float(logsumexp(np.array([1000.0, 1000.0])).round(4))
    1000.6931
    """
    a = _mask_out(a, where)
    if b is not None:
        a = np.where(b == 0, -np.inf, a)  # so that a large element without weight does not count
    top = _finite_top(a, axis)
    parts = np.exp(a - top)
    total = np.sum(parts if b is None else b * parts, axis=axis, keepdims=True)
    sign, size = np.sign(total), np.abs(total) if return_sign else total
    log_total = np.log(np.where(size == 0, 1, size)) + np.where(size == 0, -np.inf, top)
    if not keepdims:
        log_total, sign = np.squeeze(log_total, axis=axis), np.squeeze(sign, axis=axis)
    return (log_total, sign) if return_sign else log_total


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """log(mean(exp(x))).

    x         an array
    axis      an axis or a tuple of axes; None: all
    where     a boolean array: which elements take part
    keepdims  whether the axes stay, with length 1

    >>> float(logmeanexp(np.array([1000.0, 1000.0])))
    1000.0
    """
    counted: Any = np.ones_like(x) if where is None else np.where(where, np.ones_like(x), 0)
    total = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    return total - np.log(counted.sum(axis=axis, keepdims=keepdims))
