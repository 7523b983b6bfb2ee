"""Defines further special functions: elliptic, hypergeometric, distributions, orthogonal
polynomials.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, only_first
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    less,
    less_equal,
    logical_and,
    sign,
)
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    cos,
    cosh,
    exp,
    log,
    log1p,
    maximum,
    minimum,
    power,
    sin,
    sinh,
    sqrt,
)
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.make_elementwise import as_integers
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast, cast_to
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS
from tapeless.transforms.ops.special import special as basic
from tapeless.transforms.ops.special.special import (
    beta_density,
    betainc_by_a,
    betainc_by_b,
    betaln,
    gamma,
    gamma_density,
    gammainc_by_a,
    gammaln,
    hyp1f1,
    hyp2f1,
    kv,
    poch,
    psi,
    refuse_derivative,
    special,
    yv,
)

ROOT_2PI = math.sqrt(2 * math.pi)
DEGREE = math.pi / 180

# -- hypergeometric functions and elliptic integrals of a parameter m

hyp0f1: Op = special("hyp0f1", refuse_derivative, lambda v, x, y: hyp0f1(v + 1, x) / v)
hyperu: Op = special(
    "hyperu", refuse_derivative, refuse_derivative, lambda a, b, x, y: -a * hyperu(a + 1, b + 1, x)
)
ellipk = special("ellipk", lambda m, y: math.pi / 8 * hyp2f1(1.5, 1.5, 2.0, m))
ellipe: Op = special("ellipe", lambda m, y: -math.pi / 8 * hyp2f1(0.5, 1.5, 2.0, m))
ellipkm1 = special("ellipkm1", lambda p, y: (y - ellipe(1 - p) / p) / (2 * (1 - p)))
ellipkinc = special(
    "ellipkinc", lambda phi, m, y: 1 / sqrt(1 - m * sin(phi) ** 2), refuse_derivative
)
ellipeinc = special("ellipeinc", lambda phi, m, y: sqrt(1 - m * sin(phi) ** 2), refuse_derivative)
exprel: Op = special("exprel", lambda x, y: hyp1f1(2.0, 3.0, x) / 2, finite="always")

# -- Bessel functions with a factor

kve: Op = special("kve", refuse_derivative, lambda v, x, y: y - (kve(v - 1, x) + kve(v + 1, x)) / 2)
jve: Op = special("jve", refuse_derivative, lambda v, x, y: (jve(v - 1, x) - jve(v + 1, x)) / 2)
yve: Op = special("yve", refuse_derivative, lambda v, x, y: (yve(v - 1, x) - yve(v + 1, x)) / 2)
k0e = special("k0e", lambda x, y: y - k1e(x), finite="positive")
k1e: Op = special("k1e", lambda x, y: y - (k0e(x) + kve(2.0, x)) / 2, finite="positive")
kn: Op = special("kn", refuse_derivative, lambda n, x, y: -(kv(n - 1, x) + kv(n + 1, x)) / 2)
yn: Op = special("yn", refuse_derivative, lambda n, x, y: (yv(n - 1, x) - yv(n + 1, x)) / 2)

# -- powers, factorials, losses

boxcox = special(
    "boxcox", lambda x, c, y: power(x, c - 1), lambda x, c, y: _boxcox_slope(log(x), c)
)
boxcox1p = special(
    "boxcox1p", lambda x, c, y: power(1 + x, c - 1), lambda x, c, y: _boxcox_slope(log1p(x), c)
)
inv_boxcox = special(
    "inv_boxcox", lambda x, c, y: power(y, 1 - c), lambda x, c, y: y * x * x * _power_slope(c * x)
)
inv_boxcox1p = special(
    "inv_boxcox1p",
    lambda x, c, y: power(1 + y, 1 - c),
    lambda x, c, y: (y + 1) * x * x * _power_slope(c * x),
)
powm1 = special("powm1", lambda x, a, y: a * power(x, a - 1), lambda x, a, y: (y + 1) * log(x))
binom = special(
    "binom",
    lambda n, k, y: y * (psi(n + 1) - psi(n - k + 1)),
    lambda n, k, y: y * (psi(n - k + 1) - psi(k + 1)),
)
gammasgn = special("gammasgn", None)
huber = special(
    "huber",
    lambda d, r, y: maximum(absolute(r) - d, 0.0),
    lambda d, r, y: maximum(minimum(r, d), -d),
    finite="always",
)
pseudo_huber = special(
    "pseudo_huber",
    lambda d, r, y: 2 * y / d - r * r / (d * sqrt(1 + (r / d) ** 2)),
    lambda d, r, y: r / sqrt(1 + (r / d) ** 2),
    finite="always",
)


def _boxcox_slope(t: Atom, c: Atom) -> Any:
    """The slope of (e^(c t) - 1) / c in c."""
    return t * t / 2 * hyp1f1(2.0, 3.0, c * t)


def _power_slope(t: Atom) -> Any:
    """The derivative of log(1 + c x) / c by c, over x^2, at t = c x; near 0 by its series."""
    small = less(absolute(t), 0.02)
    some = select(small, 1.0, t)
    series = 0.0
    for k in range(9, -1, -1):
        series = (-1) ** (k + 1) * (k + 1) / (k + 2) + t * series
    return select(small, series, (some / (1 + some) - log1p(some)) / (some * some))


# -- angles in degrees

sindg: Op = special("sindg", lambda x, y: DEGREE * cosdg(x), finite="always")
cosdg: Op = special("cosdg", lambda x, y: -DEGREE * sindg(x), finite="always")
tandg = special("tandg", lambda x, y: DEGREE * (1 + y * y))
cotdg = special("cotdg", lambda x, y: -DEGREE * (1 + y * y))

# -- distributions and their inverses

ndtri_exp = special("ndtri_exp", lambda x, y: ROOT_2PI * exp(x + y * y / 2))
gammaincinv = special(
    "gammaincinv", lambda a, p, x: _gamma_move(a, x), lambda a, p, x: 1 / gamma_density(a, x)
)
gammainccinv = special(
    "gammainccinv", lambda a, p, x: _gamma_move(a, x), lambda a, p, x: -1 / gamma_density(a, x)
)
betaincc = special(
    "betaincc",
    lambda a, b, x, y: -betainc_by_a(a, b, x),
    lambda a, b, x, y: -betainc_by_b(a, b, x),
    lambda a, b, x, y: -beta_density(a, b, x),
)
betaincinv = special(
    "betaincinv",
    lambda a, b, p, x: -betainc_by_a(a, b, x) / beta_density(a, b, x),
    lambda a, b, p, x: -betainc_by_b(a, b, x) / beta_density(a, b, x),
    lambda a, b, p, x: 1 / beta_density(a, b, x),
)
betainccinv = special(
    "betainccinv",
    lambda a, b, p, x: -betainc_by_a(a, b, x) / beta_density(a, b, x),
    lambda a, b, p, x: -betainc_by_b(a, b, x) / beta_density(a, b, x),
    lambda a, b, p, x: -1 / beta_density(a, b, x),
)
chdtr = special(
    "chdtr",
    lambda v, x, y: gammainc_by_a(v / 2, x / 2) / 2,
    lambda v, x, y: gamma_density(v / 2, x / 2) / 2,
)
chdtrc = special(
    "chdtrc",
    lambda v, x, y: -gammainc_by_a(v / 2, x / 2) / 2,
    lambda v, x, y: -gamma_density(v / 2, x / 2) / 2,
)
pdtr = special("pdtr", refuse_derivative, lambda k, m, y: -exp(k * log(m) - m - gammaln(k + 1)))
pdtrc = special("pdtrc", refuse_derivative, lambda k, m, y: exp(k * log(m) - m - gammaln(k + 1)))
stdtr = special("stdtr", lambda v, t, y: _t_by_freedom(v, t), lambda v, t, y: _t_density(v, t))
stdtrit = special(
    "stdtrit",
    lambda v, p, t: -_t_by_freedom(v, t) / _t_density(v, t),
    lambda v, p, t: 1 / _t_density(v, t),
)


def _gamma_move(a: Atom, x: Atom) -> Any:
    """How a quantile of the gamma distribution moves with its shape."""
    zero = equal(x, 0)  # the quantile of no probability, for any shape
    some = select(zero, 1.0, x)
    return select(zero, 0.0, -gammainc_by_a(a, some) / gamma_density(a, some))


def _t_by_freedom(v: Atom, t: Atom) -> Any:
    """The derivative of stdtr by v: for t < 0 it is betainc(v / 2, 1 / 2, v / (v + t * t)) / 2."""
    square = t * t
    w = v / (v + square)
    moved = absolute(t) * exp((v / 2 - 1) * log(w) - 1.5 * log(v + square) - betaln(v / 2, 0.5))
    return sign(t) * (betainc_by_a(v / 2, 0.5, w) / -4 - moved / 2)


def _t_density(v: Atom, t: Atom) -> Any:
    scale = gammaln((v + 1) / 2) - gammaln(v / 2) - log(math.pi * v) / 2
    return exp(scale - (v + 1) / 2 * log1p(t * t / v))


# -- orthogonal polynomials: their derivatives are others, of one degree less


def polynomial(name: str, *partials: Any) -> Op:
    """A polynomial whose first argument is its degree."""
    return special(name, *partials, operands=as_integers)


def _lower(n: Atom) -> Any:
    """One degree less; 0 stays, where the factor in front is 0."""
    return maximum(n - 1, 0)


eval_jacobi: Op = polynomial(
    "eval_jacobi",
    refuse_derivative,
    refuse_derivative,
    refuse_derivative,
    lambda n, a, b, x, y: select(
        greater(n, 0), (n + a + b + 1) / 2 * eval_jacobi(_lower(n), a + 1, b + 1, x), 0.0
    ),
)
eval_legendre = polynomial(
    "eval_legendre",
    refuse_derivative,
    lambda n, x, y: select(greater(n, 0), (n + 1) / 2 * eval_jacobi(_lower(n), 1.0, 1.0, x), 0.0),
)
eval_gegenbauer: Op = polynomial(
    "eval_gegenbauer",
    refuse_derivative,
    refuse_derivative,
    lambda n, a, x, y: select(greater(n, 0), 2 * a * eval_gegenbauer(_lower(n), a + 1, x), 0.0),
)
eval_chebyu: Op = polynomial(
    "eval_chebyu",
    refuse_derivative,
    lambda n, x, y: select(greater(n, 0), 2 * eval_gegenbauer(_lower(n), 2.0, x), 0.0),
)
eval_chebyt = polynomial(
    "eval_chebyt", refuse_derivative, lambda n, x, y: n * eval_chebyu(_lower(n), x)
)
eval_hermite: Op = polynomial(
    "eval_hermite", refuse_derivative, lambda n, x, y: 2 * n * eval_hermite(_lower(n), x)
)
eval_hermitenorm: Op = polynomial(
    "eval_hermitenorm", refuse_derivative, lambda n, x, y: n * eval_hermitenorm(_lower(n), x)
)
eval_genlaguerre: Op = polynomial(
    "eval_genlaguerre",
    refuse_derivative,
    refuse_derivative,
    lambda n, a, x, y: select(greater(n, 0), -eval_genlaguerre(_lower(n), a + 1, x), 0.0),
)
eval_laguerre = polynomial(
    "eval_laguerre",
    refuse_derivative,
    lambda n, x, y: select(greater(n, 0), -eval_genlaguerre(_lower(n), 1.0, x), 0.0),
)

# -- functions with several results


def several_results(name: str, slopes: Any) -> Op:
    """A function of one real number with several results; `slopes` gives theirs."""
    ufunc = getattr(sc, name)

    def infer(x: Atom) -> tuple[Type, ...]:
        kinds = ufunc.resolve_dtypes((x.type.dtype,) + (None,) * ufunc.nout)[1:]
        return tuple(Type(kind, x.type.shape) for kind in kinds)

    def jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
        if tangents[0] is None:
            return (None,) * len(outs)
        tangents_of_results = (mul(tangents[0], slope) for slope in slopes(primals[0], *outs))
        return tuple(conform(t, out.type) for t, out in zip(tangents_of_results, outs, strict=True))

    def batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched | None:
        return (op(*args), axes * ufunc.nout) if only_first(axes) else None

    return Op(name, infer, f"scipy.special.{name}({{0}})", jvp, costly=True, batch=batch)


def _divide_with_limit(x: Atom, top: Atom, limit: float) -> Any:
    """top / x, and its limit at 0."""
    zero = equal(x, 0)
    return select(zero, limit, truediv(top, select(zero, 1.0, x)))


sici = several_results("sici", lambda x, si, ci: (_divide_with_limit(x, sin(x), 1.0), cos(x) / x))
shichi = several_results(
    "shichi", lambda x, shi, chi: (_divide_with_limit(x, sinh(x), 1.0), cosh(x) / x)
)
fresnel = several_results(
    "fresnel", lambda x, s, c: (sin(math.pi / 2 * x * x), cos(math.pi / 2 * x * x))
)
airy = several_results("airy", lambda x, ai, aip, bi, bip: (aip, x * ai, bip, x * bi))

# The functions of scipy.special ----------------------------------------------------------------

UNARY = (sici, shichi, fresnel, airy)


def _exact(name: str, exact: Any) -> None:
    if exact:
        raise UnsupportedError(f"scipy.special.{name} with exact=True", "leave exact out")


def _factorial(n: Any, exact: Any = False, extend: str = "zero") -> Any:
    _exact("factorial", exact)
    if extend != "zero":
        raise UnsupportedError("scipy.special.factorial with extend='complex'", "use gamma(n + 1)")
    n = as_array(n)
    if n.type.dtype.kind not in "iuf":
        raise ValueError(f"Unsupported data type for `n` in factorial: {n.type.dtype}")
    value = select(less(n, 0), 0.0, gamma(n + 1.0))
    return cast_to(value, np.dtype(float)) if n.type.shape else value


def _comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:  # noqa: N803 (scipy's)
    _exact("comb", exact)
    n, k = _strong(N), _strong(k)
    if repetition:
        none = logical_and(equal(k, 0), less_equal(0, n))
        return select(none, 1.0, binom(n + k - 1, k))
    return select(_can_be_chosen(n, k), binom(n, k), 0.0)


def _perm(N: Any, k: Any, exact: Any = False) -> Any:  # noqa: N803 (scipy's)
    _exact("perm", exact)
    n, k = _strong(N), _strong(k)
    return select(_can_be_chosen(n, k), poch(n - k + 1, k), 0.0)


def _strong(a: Any) -> Any:
    """An array of what may be a number of Python's: SciPy makes arrays of its arguments."""
    a = as_array(a)
    return cast(a, dtype=a.type.dtype) if a.type.weak else a


def _can_be_chosen(n: Atom, k: Atom) -> Any:
    """Whether k things can be taken from n."""
    return logical_and(less_equal(k, n), less_equal(0, k))


def _of_one(op: Op) -> Any:
    return lambda x: op(as_array(x))


KNOWN = {*UNARY, *UFUNCS.values(), *basic.SPECIAL.values()}
SPECIAL: dict[Any, Op] = {
    getattr(sc, op.name): op
    for op in tuple(globals().values())
    if isinstance(op, Op) and op not in KNOWN and isinstance(getattr(sc, op.name, 0), np.ufunc)
}
RULES = {getattr(sc, op.name): _of_one(op) for op in UNARY}
RULES |= {sc.factorial: _factorial, sc.comb: _comb, sc.perm: _perm}
