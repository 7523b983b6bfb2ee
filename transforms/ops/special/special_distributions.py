"""Defines distribution functions of scipy.special and their quantiles.

The derivative by x is the density; that of a quantile is 1 over the density there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from tapeless.transforms.core.language import Atom
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    floor,
    greater,
    less,
    logical_and,
    logical_or,
    trunc,
)
from tapeless.transforms.ops.primitives.elementwise import (
    cos,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    power,
    tan,
)
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.make_elementwise import as_floats, elementwise
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS
from tapeless.transforms.ops.special import special as basic
from tapeless.transforms.ops.special import special_more as more
from tapeless.transforms.ops.special.special import (
    beta_density,
    betainc,
    betainc_by_a,
    betainc_by_b,
    betaln,
    gamma_density,
    gammainc_by_a,
    ndtr,
    psi,
    refuse_derivative,
    special,
    xlog1py,
    xlogy,
)
from tapeless.transforms.ops.special.special_more import betaincinv

ROOT_2PI = math.sqrt(2 * math.pi)


def private(name: str, *partials: Any, operands: Any = as_floats) -> Any:
    """A function that SciPy uses itself, which has no public name; None where its version has it
    not."""
    ufunc = getattr(sc._ufuncs, name, None)
    if ufunc is None:
        return None
    places = ", ".join(f"{{{k}}}" for k in range(ufunc.nin))
    return elementwise(
        ufunc,
        *partials,
        operands=operands,
        name=name.strip("_"),
        costly=True,
        source=f"scipy.special._ufuncs.{name}({places})",
    )


# -- chi-squared, F and gamma distributions


def _chi_density(v: Atom, x: Atom) -> Any:
    return gamma_density(v / 2, x / 2) / 2


def _f_density(n: Atom, d: Atom, x: Atom) -> Any:
    ends = n / 2 * log(n) + d / 2 * log(d) + (n / 2 - 1) * log(x)
    return exp(ends - (n + d) / 2 * log(d + n * x) - betaln(n / 2, d / 2))


def _f_by_first(n: Atom, d: Atom, x: Atom) -> Any:
    """fdtr is betainc(n / 2, d / 2, w) with w = n x / (n x + d)."""
    w = n * x / (n * x + d)
    moved = beta_density(n / 2, d / 2, w) * d * x / (n * x + d) ** 2
    return betainc_by_a(n / 2, d / 2, w) / 2 + moved


def _f_by_second(n: Atom, d: Atom, x: Atom) -> Any:
    w = n * x / (n * x + d)
    moved = beta_density(n / 2, d / 2, w) * n * x / (n * x + d) ** 2
    return betainc_by_b(n / 2, d / 2, w) / 2 - moved


chdtri = special(
    "chdtri",
    lambda v, p, x: -gammainc_by_a(v / 2, x / 2) / 2 / _chi_density(v, x),
    lambda v, p, x: -1 / _chi_density(v, x),
)
fdtr = special(
    "fdtr",
    lambda n, d, x, y: _f_by_first(n, d, x),
    lambda n, d, x, y: _f_by_second(n, d, x),
    lambda n, d, x, y: _f_density(n, d, x),
)
fdtrc = special(
    "fdtrc",
    lambda n, d, x, y: -_f_by_first(n, d, x),
    lambda n, d, x, y: -_f_by_second(n, d, x),
    lambda n, d, x, y: -_f_density(n, d, x),
)
fdtri = special(
    "fdtri",
    lambda n, d, p, x: -_f_by_first(n, d, x) / _f_density(n, d, x),
    lambda n, d, p, x: -_f_by_second(n, d, x) / _f_density(n, d, x),
    lambda n, d, p, x: 1 / _f_density(n, d, x),
)
gdtr = special(
    "gdtr",
    lambda a, b, x, y: x * gamma_density(b, a * x),
    lambda a, b, x, y: gammainc_by_a(b, a * x),
    lambda a, b, x, y: a * gamma_density(b, a * x),
)
gdtrc = special(
    "gdtrc",
    lambda a, b, x, y: -x * gamma_density(b, a * x),
    lambda a, b, x, y: -gammainc_by_a(b, a * x),
    lambda a, b, x, y: -a * gamma_density(b, a * x),
)
gdtrix = special(
    "gdtrix",
    lambda a, b, p, x: -x / a,
    lambda a, b, p, x: -gammainc_by_a(b, a * x) / (a * gamma_density(b, a * x)),
    lambda a, b, p, x: 1 / (a * gamma_density(b, a * x)),
)
pdtri = special("pdtri", refuse_derivative, lambda k, p, m: -1 / gamma_density(floor(k) + 1, m))

# -- distributions of a noncentral square, t and F

ncx2_pdf: Op = private(
    "_ncx2_pdf",
    lambda x, k, c, y: y * ((k / 2 - 1) / x - 0.5) + c / (2 * x) * ncx2_pdf(x, k + 2, c),
    refuse_derivative,
    lambda x, k, c, y: (ncx2_pdf(x, k + 2, c) - y) / 2,
)
chndtr: Op = special(
    "chndtr",
    lambda x, k, c, y: ncx2_pdf(x, k, c),
    refuse_derivative,
    lambda x, k, c, y: (chndtr(x, k + 2, c) - y) / 2,
)
chndtrix = special(
    "chndtrix",
    lambda p, k, c, x: 1 / ncx2_pdf(x, k, c),
    refuse_derivative,
    lambda p, k, c, x: (p - chndtr(x, k + 2, c)) / 2 / ncx2_pdf(x, k, c),
)
ncx2_sf: Op = private(
    "_ncx2_sf",
    lambda x, k, c, y: -ncx2_pdf(x, k, c),
    refuse_derivative,
    lambda x, k, c, y: (ncx2_sf(x, k + 2, c) - y) / 2,
)
ncx2_isf = private(
    "_ncx2_isf",
    lambda q, k, c, x: -1 / ncx2_pdf(x, k, c),
    refuse_derivative,
    lambda q, k, c, x: (ncx2_sf(x, k + 2, c) - q) / 2 / ncx2_pdf(x, k, c),
)
nct_pdf = private("_nct_pdf", refuse_derivative, refuse_derivative, refuse_derivative)
nctdtr = special(
    "nctdtr", refuse_derivative, refuse_derivative, lambda v, c, t, y: nct_pdf(t, v, c)
)
nctdtrit = special(
    "nctdtrit", refuse_derivative, refuse_derivative, lambda v, c, p, t: 1 / nct_pdf(t, v, c)
)
nct_sf = private(
    "_nct_sf", lambda t, v, c, y: -nct_pdf(t, v, c), refuse_derivative, refuse_derivative
)
nct_isf = private(
    "_nct_isf", lambda q, v, c, t: -1 / nct_pdf(t, v, c), refuse_derivative, refuse_derivative
)
ncf_pdf = private(
    "_ncf_pdf", refuse_derivative, refuse_derivative, refuse_derivative, refuse_derivative
)
ncfdtr = special(
    "ncfdtr",
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
    lambda n, d, c, x, y: ncf_pdf(x, n, d, c),
)
ncfdtri = special(
    "ncfdtri",
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
    lambda n, d, c, p, x: 1 / ncf_pdf(x, n, d, c),
)
ncf_sf = private(
    "_ncf_sf",
    lambda x, n, d, c, y: -ncf_pdf(x, n, d, c),
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
)
ncf_isf = private(
    "_ncf_isf",
    lambda q, n, d, c, x: -1 / ncf_pdf(x, n, d, c),
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
)

# -- distributions of counts


def _binom_slope(k: Atom, n: Atom, p: Atom) -> Any:
    """The derivative of the probability of more than k of n by that of each."""
    return exp((k + 1) * log(p) + (n - k - 1) * log1p(-p) - betaln(k + 1, n - k)) / p


binom_pmf = private(
    "_binom_pmf",
    refuse_derivative,
    refuse_derivative,
    lambda k, n, p, y: y * (k / p - (n - k) / (1 - p)),
)
binom_cdf = private(
    "_binom_cdf", refuse_derivative, refuse_derivative, lambda k, n, p, y: -_binom_slope(k, n, p)
)
binom_sf = private(
    "_binom_sf", refuse_derivative, refuse_derivative, lambda k, n, p, y: _binom_slope(k, n, p)
)
binom_ppf = private("_binom_ppf", None, None, None)
binom_isf = private("_binom_isf", None, None, None)
nbinom_pmf = private(
    "_nbinom_pmf",
    refuse_derivative,
    lambda k, n, p, y: y * (psi(k + n) - psi(n) + log(p)),
    lambda k, n, p, y: y * (n / p - k / (1 - p)),
)
nbinom_cdf = private(
    "_nbinom_cdf",
    refuse_derivative,
    lambda k, n, p, y: betainc_by_a(n, k + 1, p),
    lambda k, n, p, y: beta_density(n, k + 1, p),
)
nbinom_sf = private(
    "_nbinom_sf",
    refuse_derivative,
    lambda k, n, p, y: -betainc_by_a(n, k + 1, p),
    lambda k, n, p, y: -beta_density(n, k + 1, p),
)
nbinom_ppf = private("_nbinom_ppf", None, None, None)
nbinom_isf = private("_nbinom_isf", None, None, None)
hypergeom_pmf = private(
    "_hypergeom_pmf", refuse_derivative, refuse_derivative, refuse_derivative, refuse_derivative
)
hypergeom_cdf = private(
    "_hypergeom_cdf", refuse_derivative, refuse_derivative, refuse_derivative, refuse_derivative
)
hypergeom_sf = private(
    "_hypergeom_sf", refuse_derivative, refuse_derivative, refuse_derivative, refuse_derivative
)

pdtrik = special("pdtrik", refuse_derivative, refuse_derivative)
bdtrik = special("bdtrik", refuse_derivative, refuse_derivative, refuse_derivative)
nbdtrik = special("nbdtrik", refuse_derivative, refuse_derivative, refuse_derivative)
scaled_exp1 = private("_scaled_exp1", lambda x, y: y / x + y - 1)

# -- skewed normal, cosine and Landau distribution, Tukey's lambda


def _skew_normal_density(x: Atom, loc: Atom, scale: Atom, a: Atom) -> Any:
    """The density of a skewed normal number."""
    z = (x - loc) / scale
    return 2 / ROOT_2PI * exp(-(z * z) / 2) * ndtr(a * z) / scale


def _skewed_by_shape(x: Atom, loc: Atom, scale: Atom, a: Atom) -> Any:
    """The derivative of -2 T(z, a), with Owen's T."""
    z = (x - loc) / scale
    return -exp(-(z * z) * (1 + a * a) / 2) / (math.pi * (1 + a * a))


skewnorm_cdf = private(
    "_skewnorm_cdf",
    lambda x, m, s, a, y: _skew_normal_density(x, m, s, a),
    lambda x, m, s, a, y: -_skew_normal_density(x, m, s, a),
    lambda x, m, s, a, y: -(x - m) / s * _skew_normal_density(x, m, s, a),
    lambda x, m, s, a, y: _skewed_by_shape(x, m, s, a),
)
skewnorm_ppf = private(
    "_skewnorm_ppf",
    lambda p, m, s, a, x: 1 / _skew_normal_density(x, m, s, a),
    1,
    lambda p, m, s, a, x: (x - m) / s,
    lambda p, m, s, a, x: -_skewed_by_shape(x, m, s, a) / _skew_normal_density(x, m, s, a),
)
skewnorm_isf = private(
    "_skewnorm_isf",
    lambda p, m, s, a, x: -1 / _skew_normal_density(x, m, s, a),
    1,
    lambda p, m, s, a, x: (x - m) / s,
    lambda p, m, s, a, x: -_skewed_by_shape(x, m, s, a) / _skew_normal_density(x, m, s, a),
)
cosine_cdf = private("_cosine_cdf", lambda x, y: (1 + cos(x)) / (2 * math.pi))
cosine_invcdf = private("_cosine_invcdf", lambda p, x: 2 * math.pi / (1 + cos(x)))
landau_pdf = private("_landau_pdf", refuse_derivative, refuse_derivative, refuse_derivative)
landau_cdf = private(
    "_landau_cdf", lambda x, m, s, y: landau_pdf(x, m, s), refuse_derivative, refuse_derivative
)
landau_sf = private(
    "_landau_sf", lambda x, m, s, y: -landau_pdf(x, m, s), refuse_derivative, refuse_derivative
)
landau_ppf = private(
    "_landau_ppf", lambda p, m, s, x: 1 / landau_pdf(x, m, s), refuse_derivative, refuse_derivative
)
landau_isf = private(
    "_landau_isf", lambda p, m, s, x: -1 / landau_pdf(x, m, s), refuse_derivative, refuse_derivative
)


def _tukey_density(p: Atom, shape: Atom) -> Any:
    return 1 / (power(p, shape - 1) + power(1 - p, shape - 1))


def _tukey_by_shape(p: Atom, shape: Atom) -> Any:
    """How the quantile (p^l - (1 - p)^l) / l moves with l."""
    zero = equal(shape, 0)
    some = select(zero, 1.0, shape)
    up, down = log(p), log1p(-p)
    powers = power(p, some) * (some * up - 1) - power(1 - p, some) * (some * down - 1)
    return select(zero, (up * up - down * down) / 2, powers / (some * some))


def _slope_inside(p: Atom, slope: Any) -> Any:
    """A slope where a probability is neither 0 nor 1, else 0."""
    inside = logical_and(less(0, p), less(p, 1))
    return select(inside, slope(select(inside, p, 0.5)), 0.0)


tklmbda = special(
    "tklmbda",
    lambda x, s, p: _slope_inside(p, lambda p: _tukey_density(p, s)),
    lambda x, s, p: _slope_inside(p, lambda p: -_tukey_by_shape(p, s) * _tukey_density(p, s)),
)

# -- inverse Gaussian distribution


def _wald_density(x: Atom, mean: Atom, scale: Atom) -> Any:
    z, mu = x / scale, mean / scale
    return exp(-((z / mu - 1) ** 2) / (2 * z)) / (ROOT_2PI * power(z, 1.5)) / scale


def _wald_by_mean(x: Atom, mean: Atom, scale: Atom) -> Any:
    """The derivative of the distribution function at x by the mean."""
    z, mu = x / scale, mean / scale
    root = power(z, -0.5)
    low, high = root * (z / mu - 1), -root * (z / mu + 1)
    bell = exp(-(low * low) / 2) / ROOT_2PI
    turned = exp(2 / mu - high * high / 2) / ROOT_2PI
    moved = root * z * (turned - bell)
    return (moved - 2 * exp(2 / mu) * ndtr(high)) / (mu * mu) / scale


def _wald_move(x: Atom, mean: Atom, scale: Atom) -> Any:
    """How a quantile moves with the mean."""
    return -_wald_by_mean(x, mean, scale) / _wald_density(x, mean, scale)


invgauss_ppf = private(
    "_invgauss_ppf",
    lambda p, m, s, x: 1 / _wald_density(x, m, s),
    lambda p, m, s, x: _wald_move(x, m, s),
    lambda p, m, s, x: (x - m * _wald_move(x, m, s)) / s,
)
invgauss_isf = private(
    "_invgauss_isf",
    lambda p, m, s, x: -1 / _wald_density(x, m, s),
    lambda p, m, s, x: _wald_move(x, m, s),
    lambda p, m, s, x: (x - m * _wald_move(x, m, s)) / s,
)

# -- Kolmogorov's and Smirnov's distributions

kolmogp = private("_kolmogp", refuse_derivative)
kolmogorov = special("kolmogorov", lambda x, y: kolmogp(x))
kolmogc = private("_kolmogc", lambda x, y: -kolmogp(x))
kolmogi = special("kolmogi", lambda p, x: 1 / kolmogp(x))
kolmogci = private("_kolmogci", lambda p, x: -1 / kolmogp(x))
smirnovp = private("_smirnovp", refuse_derivative, refuse_derivative)
smirnov = special("smirnov", refuse_derivative, lambda n, x, y: smirnovp(n, x))
smirnovc = private("_smirnovc", refuse_derivative, lambda n, x, y: -smirnovp(n, x))
smirnovi = special("smirnovi", refuse_derivative, lambda n, p, x: 1 / smirnovp(n, x))
smirnovci = private("_smirnovci", refuse_derivative, lambda n, p, x: -1 / smirnovp(n, x))


# The functions of scipy.special ------------------------------------------------------------------


def _no_trials(k: Any, n: Any, p: Any) -> Any:
    """Whether there are fewer trials than successes, or p is no probability."""
    return logical_or(less(n, k), logical_or(less(p, 0), less(1, p)))


def _trials(n: Any) -> Any:
    """How many trials there are: SciPy cuts off fractions."""
    n = as_array(n)
    return trunc(n) if n.type.dtype.kind == "f" else n


def _bdtr(k: Any, n: Any, p: Any) -> Any:
    k, n, p = floor(as_array(k)), _trials(n), as_array(p)
    none, all_of_them = less(k, 0), equal(k, n)
    some = select(logical_or(none, all_of_them), 0.0, k)
    inner = betainc(maximum(n - some, 1.0), some + 1.0, 1 - p)
    return select(
        _no_trials(k, n, p), np.nan, select(none, np.nan, select(all_of_them, 1.0, inner))
    )


def _bdtrc(k: Any, n: Any, p: Any) -> Any:
    k, n, p = floor(as_array(k)), _trials(n), as_array(p)
    none, all_of_them = less(k, 0), equal(k, n)
    some = select(logical_or(none, all_of_them), 0.0, k)
    inner = betainc(some + 1.0, maximum(n - some, 1.0), p)
    return select(_no_trials(k, n, p), np.nan, select(none, 1.0, select(all_of_them, 0.0, inner)))


def _beta_pdf(x: Any, a: Any, b: Any) -> Any:
    x, a, b = as_array(x), as_array(a), as_array(b)
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


def _beta_ppf(p: Any, a: Any, b: Any) -> Any:
    return betaincinv(as_array(a), as_array(b), as_array(p))


def _cauchy_ppf(p: Any, loc: Any, scale: Any) -> Any:
    return as_array(loc) - as_array(scale) / tan(math.pi * as_array(p))


def _cauchy_isf(p: Any, loc: Any, scale: Any) -> Any:
    return as_array(loc) + as_array(scale) / tan(math.pi * as_array(p))


KNOWN = {*UFUNCS.values(), *basic.SPECIAL.values(), *more.SPECIAL.values()}
SPECIAL: dict[Any, Op] = {
    op.ufunc: op
    for op in tuple(globals().values())
    if isinstance(op, Op) and op not in KNOWN and op.ufunc is not None
}


def _log1mexp(x: Any) -> Any:
    """log(1 - e^x) of x < 0, with all digits at both ends."""
    x = as_array(x)
    near = greater(x, -math.log(2))
    small = select(near, x, -1.0)
    return select(near, log(-expm1(small)), log1p(-exp(select(near, -1.0, x))))


OTHERS = (_log1mexp, _beta_pdf, _beta_ppf, _cauchy_ppf, _cauchy_isf)
RULES: dict[Any, Any] = {
    ufunc: rule for rule in OTHERS if (ufunc := getattr(sc._ufuncs, rule.__name__, None))
}
RULES |= {sc.bdtr: _bdtr, sc.bdtrc: _bdtrc}
