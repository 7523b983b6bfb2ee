"""Computes cumulative sums, products, extrema and log-sum-exps along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.lax.associative import associative_scan
from tapeless.lax.loop_body_types import checked_axis
from tapeless.lax.operand_checks import checked_kind

__staged__ = True  # plain NumPy code: a staged run enters it


def _cumulative(name: str, function: Any, kinds: str, what: str) -> Callable[..., Any]:
    def run(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        x = checked_kind(name, operand, kinds)
        axis = checked_axis(name, axis, [x])
        if reverse:
            return np.flip(function(np.flip(x, axis), axis), axis)
        return function(x, axis)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = (
        f"{what} of all elements up to each one along an axis.\n\n    operand  an array\n"
        "    axis     its number\n    reverse  from each one to the last instead\n\n"
        "    Raises TypeError for other dtypes, ValueError for an axis that is not there."
    )
    return run


def _complex_logaddexp(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)), with an imaginary part from -pi to pi."""
    greater = np.where(np.real(a) > np.real(b), a, b)
    gap = np.where(np.real(a) > np.real(b), b, a) - greater
    total = np.where(np.isnan(gap), a + b, greater + np.log(1 + np.exp(gap)))
    return np.real(total) + 1j * ((np.imag(total) + np.pi) % (2 * np.pi) - np.pi)


cumsum = _cumulative(
    "cumsum", lambda x, axis: np.cumsum(x, axis=axis, dtype=x.dtype), "iufc", "The sum"
)
cumprod = _cumulative(
    "cumprod", lambda x, axis: np.cumprod(x, axis=axis, dtype=x.dtype), "iufc", "The product"
)
cummax = _cumulative(
    "cummax", lambda x, axis: np.maximum.accumulate(x, axis=axis), "iufc", "The greatest"
)
cummin = _cumulative(
    "cummin", lambda x, axis: np.minimum.accumulate(x, axis=axis), "iufc", "The least"
)
cumlogsumexp = _cumulative(
    "cumlogsumexp",
    lambda x, axis: associative_scan(
        np.logaddexp if x.dtype.kind == "f" else _complex_logaddexp, x, axis=axis
    ),
    "fc",
    "The logarithm of the sum of the exponentials",
)
