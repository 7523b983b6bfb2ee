"""Differentiates a gamma number by its shape parameter, at a fixed quantile."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.scipy.scipy_import import scipy_special

__staged__ = True  # plain NumPy code: a staged run enters it

LONGEST = 2000  # passes of the continued fraction


def gamma_slope(a: Any, x: Any) -> Any:
    """-(dP/da) / (dP/dx) of the regularised incomplete gamma function P(a, x).

    By the derivative of the power series of P, and for large x by that of the continued fraction
    of 1 - P (the Cephes library's `igam` and `igamc`, differentiated term by term).
    """
    special = scipy_special("random.gamma")
    eps = np.finfo(x.dtype).eps
    far = (x > 1) & (x > a)
    ones = np.ones_like(x)
    near_x, near_a = np.where(far, ones, x), np.where(far, ones, a)
    far_x, far_a = np.where(far, x, 2 * ones), np.where(far, a, ones)
    safe = np.where(near_x > 0, near_x, ones)
    total, slope = _series(near_a, near_x, eps)
    near = -(slope + total * (np.log(safe) - special.psi(near_a + 1))) * near_x / near_a
    total, slope = _fraction(far_a, far_x, eps)
    slope_at = np.where(far, (slope + total * (np.log(far_x) - special.psi(far_a))) * far_x, near)
    return np.where(x == 0, np.zeros_like(x), slope_at)


def _series(a: Any, x: Any, eps: Any) -> tuple[Any, Any]:
    """The sum of x**n / ((a + 1) ... (a + n)), and its derivative by a."""
    r, term, total = a, np.ones_like(a), np.ones_like(a)
    term_slope, slope = np.zeros_like(a), np.zeros_like(a)
    todo = x > 0
    while np.any(todo):
        r = r + 1
        term_slope = np.where(todo, term_slope * (x / r) - term * x / (r * r), term_slope)
        slope = np.where(todo, slope + term_slope, slope)
        term = np.where(todo, term * (x / r), term)
        total = np.where(todo, total + term, total)
        todo = todo & (np.abs(term_slope) > eps * np.abs(slope))
    return total, slope


def _fraction(a: Any, x: Any, eps: Any) -> tuple[Any, Any]:
    """The continued fraction of Gamma(a, x) / (x**a exp(-x)), and its derivative by a."""
    ones, zero = np.ones_like(x), np.zeros_like(x)
    y = 1 - a
    z = x + y + 1
    p2, q2, p1, q1 = ones, x, x + 1, z * x
    dp2, dq2, dp1, dq1 = zero, zero, zero, -x
    value = p1 / q1
    slope = (dp1 - value * dq1) / q1
    todo = x > 0
    count = 0
    while np.any(todo) and count < LONGEST:
        count += 1
        y, z = y + 1, z + 2
        yc = y * count
        p, q = p1 * z - p2 * yc, q1 * z - q2 * yc
        dp = dp1 * z - p1 - dp2 * yc + p2 * count
        dq = dq1 * z - q1 - dq2 * yc + q2 * count
        fits = q != 0
        safe = np.where(fits, q, ones)
        new = np.where(fits, p / safe, value)
        new_slope = np.where(fits, (dp - new * dq) / safe, slope)
        change = np.where(fits, np.abs(new_slope - slope), ones)
        value, slope = np.where(todo, new, value), np.where(todo, new_slope, slope)
        scale = np.where(np.abs(p) * eps > 1, eps, ones)
        p2, p1, q2, q1 = p1 * scale, p * scale, q1 * scale, q * scale
        dp2, dp1, dq2, dq1 = dp1 * scale, dp * scale, dq1 * scale, dq * scale
        todo = todo & (change > eps)
    return value, slope
