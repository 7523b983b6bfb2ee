"""Provides special functions, by SciPy where transformations know its function.

>>> import numpy as np
>>> from tapeless import grad
>>> from tapeless.scipy import special
>>> float(grad(special.gammaln)(2.0).round(4))
0.4228
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import (
    bernoulli,
    beta,
    betainc,
    betaln,
    dawsn,
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    exp1,
    expi,
    expit,
    expn,
    gamma,
    gammainc,
    gammaincc,
    gammaln,
    hyp1f1,
    hyp2f1,
    i0,
    i0e,
    i1,
    i1e,
    jv,
    kl_div,
    loggamma,
    logit,
    ndtr,
    ndtri,
    owens_t,
    poch,
    rel_entr,
    spence,
    wofz,
    xlog1py,
    xlogy,
)
from scipy.special import log_ndtr as _log_ndtr
from scipy.special import log_softmax as _log_softmax
from scipy.special import multigammaln as _multigammaln
from scipy.special import polygamma as _polygamma
from scipy.special import softmax as _softmax

from tapeless.missing import missing
from tapeless.nn.softmaxes import logsumexp as _logsumexp
from tapeless.numpy.array_functions import Following, follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

# B_2, B_4, ... B_26, divided by (2 k)!: of the formula of Euler and Maclaurin.
BERNOULLI = [
    float(b / math.factorial(2 * k)) for k, b in enumerate(bernoulli(26)[2::2].tolist(), 1)
]
FIRST_TERMS = 10

log_softmax, softmax, logsumexp = map(follow_arguments, (_log_softmax, _softmax, _logsumexp))
multigammaln, polygamma = follow_arguments(_multigammaln), follow_arguments(_polygamma)


@follow_arguments
def zeta(x: Any, q: Any = 1.0) -> Any:
    """Hurwitz's zeta function: the sum of (k + q)**-x over k = 0, 1, ...; of q = 1 Riemann's.

    x  a number above 1, or an array of them
    q  a positive number or an array

    Differentiable in both. By the formula of Euler and Maclaurin (DLMF 25.11.5).

    >>> float(np.round(zeta(2.0) * 6, 4)), float(np.round(np.pi**2, 4))
    (9.8696, 9.8696)
    """
    total = q**-x
    for k in range(1, FIRST_TERMS):
        total = total + (q + k) ** -x
    end = q + FIRST_TERMS
    total = total + end ** (1 - x) / (x - 1) + end**-x / 2
    rising, power = x, end ** (-x - 1)
    for k, b in enumerate(BERNOULLI):
        total = total + b * rising * power
        rising = rising * (x + 2 * k + 1) * (x + 2 * k + 2)
        power = power / (end * end)
    return total


@follow_arguments
def log_ndtr(x: Any, series_order: int = 3) -> Any:
    """The logarithm of the probability that a standard normal number is below x.

    x  a number or an array

    series_order is what JAX takes; all digits are right with any.

    >>> float(np.round(log_ndtr(-40.0), 3))
    -804.608
    """
    return _log_ndtr(x)


@follow_arguments
def boxcox(x: Any, lmbda: Any) -> Any:
    """(x**lmbda - 1) / lmbda, and log(x) where lmbda is 0.

    x      a positive number or an array
    lmbda  a number or an array

    >>> float(boxcox(3.0, 2.0).round(12)), float(boxcox(1.0, 0.0))
    (4.0, 0.0)
    """
    return _power_less_one(np.log(x), lmbda)


@follow_arguments
def boxcox1p(x: Any, lmbda: Any) -> Any:
    """boxcox(1 + x, lmbda), with all digits for small x.

    >>> float(boxcox1p(2.0, 2.0).round(12))
    4.0
    """
    return _power_less_one(np.log1p(x), lmbda)


def _power_less_one(logarithm: Any, exponent: Any) -> Any:
    """(exp(l * e) - 1) / e; also differentiable in e at 0."""
    small = np.abs(exponent * logarithm) < 1e-5
    divisor = np.where(small, 1.0, exponent)
    t = np.where(small, exponent * logarithm, 0.0)
    series = logarithm * (1 + t / 2 + t * t / 6)
    return np.where(small, series, np.expm1(divisor * logarithm) / divisor)


@follow_arguments
def comb(N: Any, k: Any, *, repetition: bool = False) -> Any:  # noqa: N803 (SciPy's)
    """In how many ways k of N things are chosen, as a float; 0 unless 0 <= k <= N.

    N, k        numbers or arrays
    repetition  whether a thing may be chosen several times

    >>> float(np.round(comb(5, 2), 9)), float(np.round(comb(5, 2, repetition=True), 9))
    (10.0, 15.0)
    """
    n = np.where(k == 0, N, N + k - 1) if repetition else N
    fits = (k >= 0) & (k <= n) & (n >= 0)
    n, k = np.where(fits, 1.0 * n, 0.0), np.where(fits, 1.0 * k, 0.0)
    return np.where(fits, np.exp(-np.log1p(n) - betaln(n - k + 1, k + 1)), 0.0)


@follow_arguments
def factorial(n: Any, exact: bool = False) -> Any:
    """gamma(n + 1), and 0 where n is negative.

    n      a number or an array
    exact  must be False

    >>> factorial(np.array([3.0, 0.0, -1.0]))
    array([6., 1., 0.])
    """
    if exact:
        raise ArgumentError("factorial: exact=True makes Python integers", "use math.factorial")
    return np.where(n < 0, 0.0, gamma(np.where(n < 0, 0.0, 1.0 * n) + 1))


@follow_arguments
def gammasgn(x: Any) -> Any:
    """The sign of gamma(x): 1 or -1; nan at negative integers.

    >>> gammasgn(np.array([2.5, -0.5, -1.5]))
    array([ 1., -1.,  1.])
    """
    below = np.floor(x)
    sign = np.where((x > 0) | (below % 2 == 0), 1.0, -1.0)
    sign = np.where(x == 0, np.copysign(1.0, x), sign)
    return np.where((x < 0) & (below == x), np.nan, sign)


@follow_arguments
def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """Bessel functions of the first kind, of the orders 0 to v.

    z  a number or an array

    n_iter is what JAX takes; it is not needed. Returns an array of shape (v + 1, *shape of z).

    >>> bessel_jn(np.array(1.0), v=1).round(4)
    array([0.7652, 0.4401])
    """
    return np.stack([jv(float(k), z) for k in range(v + 1)])


@follow_arguments
def fresnel(x: Any) -> Any:
    """Fresnel's integrals of sin(pi t**2 / 2) and cos(pi t**2 / 2) from 0 to x: a pair.

    x  a real number or an array

    >>> s, c = fresnel(np.array(1.0))
    >>> float(s.round(4)), float(c.round(4))
    (0.4383, 0.7799)
    """
    integral = (0.5 + 0.5j) * erf(math.sqrt(math.pi) / 2 * (1 - 1j) * x)
    return np.imag(integral), np.real(integral)


@follow_arguments
def sici(x: Any) -> Any:
    """The integrals of sin(t) / t from 0 to x, and of cos(t) / t from infinity to x: a pair.

    x  a real number or an array; of a negative x the second is that of -x

    >>> si, ci = sici(np.array(1.0))
    >>> float(si.round(4)), float(ci.round(4))
    (0.9461, 0.3374)
    """
    size = np.abs(x)
    integral = exp1(1j * np.where(size == 0, 1.0, size))
    sine = np.where(size == 0, x * 1.0, np.sign(x) * (np.imag(integral) + math.pi / 2))
    return sine, np.where(size == 0, -np.inf, -np.real(integral))


@follow_arguments
def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Any:
    """Spherical harmonics: complex numbers, with the phase of Condon and Shortley.

    n           degrees: integers from 0 on, or an array of them
    m           orders: integers; the value is 0 where one is greater than n
    theta, phi  angles, the first from the pole, the second around it

    diff_n and n_max are what JAX takes. The arguments broadcast; differentiable in the angles. By
    the recursion in n, with the factors that keep all numbers small (DLMF 14.10.3, 14.30.1).

    >>> sph_harm_y(np.array([0, 1, 1]), np.array([0, 0, -1]), 0.0, 0.0).real.round(4)
    array([0.2821, 0.4886, 0.    ])
    """
    n, m, theta = np.asarray(n), np.asarray(m), np.asarray(theta)
    a, x = np.abs(m), np.cos(theta)
    ratio = np.log(a + 0.5) + gammaln(a + 0.5) - gammaln(a + 1.0)
    phase = np.where(a % 2 == 0, 1.0, -1.0)
    now = phase * np.exp((ratio - math.log(2 * math.pi**1.5)) / 2) * np.sin(theta) ** a
    legendre = np.where(n == a, now, 0.0)
    before = np.zeros_like(legendre)
    for step in range(1, np.max(n) + 1):
        k = a + step
        grown = np.sqrt((4.0 * k * k - 1) / (k * k - a * a))
        last = np.where(k - 1 > a, ((k - 1.0) ** 2 - a * a) / (4.0 * (k - 1) ** 2 - 1), 0.0)
        before, now = now, grown * (x * now - np.sqrt(last) * before)
        legendre = np.where(n == k, now, legendre)
    turned = legendre * np.exp(1j * (a * phi))
    return np.where(m < 0, phase * np.conj(turned), turned)


#: What JAX calls the arguments of functions of SciPy that have no names there.
_PARAMETERS = {
    **dict.fromkeys(
        [
            *("dawsn", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp1", "expi"),
            *("expit", "gamma", "gammaln", "i0", "i0e", "i1", "i1e", "loggamma", "logit"),
            *("ndtr", "spence"),
        ],
        "x",
    ),
    **dict.fromkeys(["beta", "betaln"], "a b"),
    "betainc": "a b x",
    "expn": "n x",
    **dict.fromkeys(["gammainc", "gammaincc"], "a x"),
    "hyp1f1": "a b x",
    "hyp2f1": "a b c x",
    **dict.fromkeys(["kl_div", "rel_entr"], "p q"),
    "ndtri": "p",
    "owens_t": "h a",
    "poch": "z m",
    "wofz": "z",
    **dict.fromkeys(["xlog1py", "xlogy"], "x y"),
}
globals().update(
    {
        name: Following(globals()[name], name, frozenset(), __name__, f"{parameters} /")
        for name, parameters in _PARAMETERS.items()
    }
)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]
