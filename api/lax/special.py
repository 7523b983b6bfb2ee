"""Provides special functions of jax.lax, element by element; most of them need SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_kind, checked_operands
from tapeless.random.gamma_derivative import gamma_slope
from tapeless.scipy.scipy_import import scipy_special

__staged__ = True  # plain NumPy code: a staged run enters it


def _special(name: str, function: str, parameters: str, what: str) -> Callable[..., Any]:
    """A function of scipy.special of float arrays."""
    names = parameters.split()
    count = len(names)

    def run(*operands: Any, **named: Any) -> Any:
        operands = (*operands, *(named.pop(n) for n in names[len(operands) :] if n in named))
        if len(operands) != count or named:
            raise TypeError(f"{name}() takes the arguments {', '.join(names)}")
        of = getattr(scipy_special(f"lax.{name}"), function)
        if count == 1:
            return of(checked_kind(name, operands[0], "f"))
        return of(*checked_operands(name, "f", *operands))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = (
        f"{what}, element by element.\n\n    Takes {count} float arrays of one dtype and shape. "
        "Needs SciPy."
    )
    return run


erf = _special("erf", "erf", "x", "The error function")
erfc = _special("erfc", "erfc", "x", "1 - erf(x), exact for large x")
erf_inv = _special("erf_inv", "erfinv", "x", "The inverse of the error function")
lgamma = _special("lgamma", "gammaln", "x", "The logarithm of the absolute gamma function")
digamma = _special("digamma", "psi", "x", "The derivative of the logarithm of the gamma function")
bessel_i0e = _special("bessel_i0e", "i0e", "x", "exp(-abs(x)) I0(x), a modified Bessel function")
bessel_i1e = _special("bessel_i1e", "i1e", "x", "exp(-abs(x)) I1(x), a modified Bessel function")
betainc = _special(
    "betainc", "betainc", "a b x", "The regularised incomplete beta function of a, b, x"
)
zeta = _special("zeta", "zeta", "x q", "The Hurwitz zeta function of x and q")


def polygamma(m: Any, x: Any) -> Any:
    """The derivative of order m of the digamma function at x, element by element.

    m  numbers from 0 on; one that is known, or a float array of orders from 1 on
    x  float array

    Of an array of orders by the Hurwitz zeta function (NIST, Digital Library of Mathematical
    Functions, 25.11.12). Needs SciPy.

    >>> from tapeless import lax
    >>> round(float(lax.polygamma(1, 1.0)), 6)
    1.644934
    """
    of = scipy_special("lax.polygamma")
    if isinstance(m, (int, float, np.number)):
        return of.polygamma(int(m), checked_kind("polygamma", x, "f"))
    m, x = checked_operands("polygamma", "f", m, x)
    return np.where(m % 2 == 0, -1, 1) * np.exp(of.gammaln(m + 1)) * of.zeta(m + 1, x)


def _density(a: Any, x: Any) -> Any:
    """The derivative of igamma by x: that of the gamma distribution."""
    return np.exp((a - 1) * np.log(x) - x - scipy_special("lax.igamma").gammaln(a))


def _by_a(a: Any, x: Any) -> Any:
    return -gamma_slope(a, x) * _density(a, x)


def igamma(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function, element by element.

    a, x  positive float arrays

    Differentiable in both. Needs SciPy.

    >>> from tapeless import lax
    >>> round(float(lax.igamma(1.0, 2.0)), 6)
    0.864665
    """
    return scipy_special("lax.igamma").gammainc(*checked_operands("igamma", "f", a, x))


def igammac(a: Any, x: Any) -> Any:
    """1 - igamma(a, x), exact for large x.

    a, x  positive float arrays

    Differentiable in both. Needs SciPy.

    >>> from tapeless import lax
    >>> round(float(lax.igammac(1.0, 2.0)), 6)
    0.135335
    """
    return scipy_special("lax.igammac").gammaincc(*checked_operands("igammac", "f", a, x))


def igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of igamma(a, x) by a, element by element.

    a, x  positive float arrays

    >>> from tapeless import lax
    >>> round(float(lax.igamma_grad_a(1.0, 2.0)), 6)
    -0.220825
    """
    return _by_a(*checked_operands("igamma_grad_a", "f", a, x))


def random_gamma_grad(a: Any, x: Any) -> Any:
    """How a gamma number x moves with its shape parameter a while its quantile stays.

    a, x  positive float arrays

    >>> from tapeless import lax
    >>> round(float(lax.random_gamma_grad(1.0, 2.0)), 6)
    1.631691
    """
    return gamma_slope(*checked_operands("random_gamma_grad", "f", a, x))
