"""Differentiates the incomplete gamma and beta functions by their shape parameters.

An emitted module that needs one has it as a function of its own (`written_once.py`).
"""

from __future__ import annotations

from typing import Any

import scipy.special as sc

from tapeless.transforms.core.builder import broadcast
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.dtypes import conform, result_dtype

GAMMA = '''
def gammainc_by_shape(a, x):
    """The derivative of scipy.special.gammainc by a: of its power series, and for large x of the
    continued fraction of 1 - gammainc (Cephes, igam and igamc, differentiated term by term)."""
    a, x = np.broadcast_arrays(np.float64(a), np.float64(x))
    inside = (a > 0) & (x > 0) & (x < np.inf)
    a, x = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    far = (x > 1) & (x > a)
    density = np.exp((a - 1) * np.log(x) - x - scipy.special.gammaln(a))
    slope = np.where(
        far,
        -_gamma_fraction(np.where(far, a, 1.0), np.where(far, x, 2.0)) * x,
        _gamma_series(np.where(far, 1.0, a), np.where(far, 1.0, x)) * x / a,
    )
    return np.where(inside, density * slope, 0.0)[()]


def _gamma_series(a, x):
    """(x / a) * sum of x**n / ((a + 1) ... (a + n)) is gammainc over its density."""
    r, term, total = a, np.ones_like(a), np.ones_like(a)
    term_slope, slope = np.zeros_like(a), np.zeros_like(a)
    todo = x > 0
    while np.any(todo):
        r = r + 1
        term_slope = np.where(todo, (term_slope - term / r) * (x / r), 0.0)
        term = np.where(todo, term * (x / r), 0.0)
        slope, total = slope + term_slope, total + term
        todo = (np.abs(term_slope) > 1e-17 * np.abs(slope)) | (term > 1e-17 * total)
    return slope + total * (np.log(x) - scipy.special.psi(a + 1))


def _gamma_fraction(a, x):
    """The continued fraction of (1 - gammainc) / (x * density), with its derivative by a."""
    one, zero = np.ones_like(x), np.zeros_like(x)
    y, z = 1 - a, x + 2 - a
    p2, q2, p1, q1 = one, x, x + 1, z * x
    dp2, dq2, dp1, dq1 = zero, zero, zero, -x
    value = p1 / q1
    slope = (dp1 - value * dq1) / q1
    todo, count = x > 0, 0
    while np.any(todo) and count < 2000:
        count += 1
        y, z = y + 1, z + 2
        yc = y * count
        p, q = p1 * z - p2 * yc, q1 * z - q2 * yc
        dp = dp1 * z - p1 - dp2 * yc + p2 * count
        dq = dq1 * z - q1 - dq2 * yc + q2 * count
        safe = np.where(q == 0, 1.0, q)
        new = np.where(q == 0, value, p / safe)
        new_slope = np.where(q == 0, slope, (dp - new * dq) / safe)
        change = np.where(q == 0, 1.0, np.abs(new_slope - slope))
        value, slope = np.where(todo, new, value), np.where(todo, new_slope, slope)
        scale = np.where(np.abs(p) > 1e16, 1e-16, 1.0)
        p2, p1, q2, q1 = p1 * scale, p * scale, q1 * scale, q * scale
        dp2, dp1, dq2, dq1 = dp1 * scale, dp * scale, dq1 * scale, dq * scale
        todo = todo & (change > 2e-16 * np.abs(slope))
    return slope + value * (np.log(x) - scipy.special.psi(a))
'''

BETA = '''
def betainc_by_shapes(a, b, x):
    """The derivatives of scipy.special.betainc by a and b: of its hypergeometric series, all of
    whose terms are positive (NIST, Digital Library of Mathematical Functions, 8.17.8)."""
    a, b, x = np.broadcast_arrays(np.float64(a), np.float64(b), np.float64(x))
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    a, b, x = (np.where(inside, v, 0.5) for v in (a, b, x))
    low = x <= (a + 1) / (a + b + 2)  # else as 1 - betainc(b, a, 1 - x)
    p, q, z = np.where(low, a, b), np.where(low, b, a), np.where(low, x, 1 - x)
    logs = np.log(x), np.log1p(-x)
    log_z, log_rest = np.where(low, *logs), np.where(low, *logs[::-1])
    term, total = np.ones_like(z), np.ones_like(z)
    rate_p, rate_q, sum_p, sum_q = (np.zeros_like(z) for _ in range(4))
    todo, k = inside, 0
    while np.any(todo) and k < 100_000:
        k += 1
        step = z * (p + q + k - 1) / (p + k)
        term = np.where(todo, term * step, 0.0)
        rate_q = rate_q + 1 / (p + q + k - 1)
        rate_p = rate_p + (1 - q) / ((p + q + k - 1) * (p + k))
        total, sum_p, sum_q = total + term, sum_p + term * rate_p, sum_q + term * rate_q
        todo = todo & (term * (1 + rate_q) > 1e-17 * total * (1 - np.maximum(step, z)))
    front = np.exp(p * log_z + q * log_rest - scipy.special.betaln(p, q)) / p
    front = np.where(inside, front, 0.0)
    both = scipy.special.psi(p + q)
    by_p = front * (total * (log_z - 1 / p - scipy.special.psi(p) + both) + sum_p)
    by_q = front * (total * (log_rest - scipy.special.psi(q) + both) + sum_q)
    by_a, by_b = np.where(low, by_p, -by_q), np.where(low, by_q, -by_p)
    return by_a[()], by_b[()]
'''


def _dtype(args: Any) -> Any:
    ufunc: Any = sc.gammainc if len(args) == 2 else sc.betainc
    return result_dtype(ufunc, tuple(a.type for a in args))


def _infer(*args: Atom) -> Type:
    return Type(_dtype(args), broadcast(*[a.type.shape for a in args]))


def _by_shape(name: str, call: str, text: str, by_x: Any) -> Op:
    """An operation whose derivative by its last argument is known, and by others is not."""

    def jvp(primals: Any, tangents: Any, outs: Any, params: Any) -> Any:
        if any(t is not None for t in tangents[:-1]):
            raise NotDifferentiableError(
                f"{name.partition('_')[0]} has its first derivative by a shape parameter here, and "
                "no second one",
                "give it with custom_jvp",
            )
        return (conform(mul(tangents[-1], by_x(*primals)), outs[0].type),)

    def source(args: Any, params: Any) -> tuple[str, str]:
        single = _dtype(args).itemsize < 8
        return f"np.float32({call})" if single else call, text

    return Op(name, _infer, source, jvp, costly=True, elementwise=True)


def gamma_by_shape(by_x: Any) -> Op:
    """The derivative of gammainc(a, x) by a; `by_x` gives that of it by x."""
    return _by_shape("gammainc_by_shape", "gammainc_by_shape({0}, {1})", GAMMA, by_x)


def beta_by_shape(k: int, by_x: Any) -> Op:
    """The derivative of betainc(a, b, x) by a (k = 0) or b (k = 1)."""
    call = f"betainc_by_shapes({{0}}, {{1}}, {{2}})[{k}]"
    return _by_shape(f"betainc_by_{'ab'[k]}", call, BETA, by_x)
