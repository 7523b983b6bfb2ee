"""Defines relatives of Bessel's functions, their integrals, and functions of other bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from tapeless.transforms.core.builder import static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.dtypes import conform, result_dtype
from tapeless.transforms.ops.primitives.elementwise import exp, imag, maximum, real, sin, sqrt
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.make_elementwise import as_integers
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_size,
    broadcast_to,
    cast_to,
    repeat_batch,
)
from tapeless.transforms.ops.primitives.ufuncs import UFUNCS
from tapeless.transforms.ops.special import special as basic
from tapeless.transforms.ops.special import special_more as more
from tapeless.transforms.ops.special.special import (
    i0,
    iv,
    j0,
    jv,
    k0,
    kv,
    refuse_derivative,
    special,
    wofz,
    y0,
    yv,
)
from tapeless.transforms.ops.special.special_distributions import private
from tapeless.transforms.ops.special.special_inverses import struve
from tapeless.transforms.ops.special.special_more import (
    airy,
    binom,
    eval_chebyt,
    eval_chebyu,
    eval_jacobi,
    eval_legendre,
    several_results,
)

# -- Hankel's functions, and those of Struve of an imaginary argument

hankel1: Op = special(
    "hankel1", refuse_derivative, lambda v, z, y: (hankel1(v - 1, z) - hankel1(v + 1, z)) / 2
)
hankel2: Op = special(
    "hankel2", refuse_derivative, lambda v, z, y: (hankel2(v - 1, z) - hankel2(v + 1, z)) / 2
)
hankel1e: Op = special(
    "hankel1e",
    refuse_derivative,
    lambda v, z, y: (hankel1e(v - 1, z) - hankel1e(v + 1, z)) / 2 - 1j * y,
)
hankel2e: Op = special(
    "hankel2e",
    refuse_derivative,
    lambda v, z, y: (hankel2e(v - 1, z) - hankel2e(v + 1, z)) / 2 + 1j * y,
)
modstruve: Op = special(
    "modstruve", refuse_derivative, lambda v, x, y: modstruve(v - 1, x) - v / x * y
)

# -- Kelvin's functions: their second derivatives are given by their differential equation

ber: Op = special("ber", lambda x, y: berp(x))
bei: Op = special("bei", lambda x, y: beip(x))
berp: Op = special("berp", lambda x, y: -bei(x) - y / x)
beip: Op = special("beip", lambda x, y: ber(x) - y / x)
ker: Op = special("ker", lambda x, y: kerp(x))
kei: Op = special("kei", lambda x, y: keip(x))
kerp: Op = special("kerp", lambda x, y: -kei(x) - y / x)
keip: Op = special("keip", lambda x, y: ker(x) - y / x)

# -- spherical Bessel functions, whose derivatives SciPy has as functions, too


def _second_derivative(n: Atom, x: Atom, value: Atom, slope: Atom, sign: int) -> Any:
    """The second derivative, by the differential equation."""
    return -2 / x * slope - (sign - n * (n + 1) / (x * x)) * value


def _spherical(letter: str, sign: int) -> tuple[Any, Any]:
    pair: list[Any] = []
    value = private(
        f"_spherical_{letter}n",
        refuse_derivative,
        lambda n, x, y: pair[1](n, x),
        operands=as_integers,
    )
    pair += [
        value,
        private(
            f"_spherical_{letter}n_d",
            refuse_derivative,
            lambda n, x, y: _second_derivative(n, x, value(n, x), y, sign),
            operands=as_integers,
        ),
    ]
    return pair[0], pair[1]


SPHERICAL = {
    "spherical_jn": _spherical("j", 1),
    "spherical_yn": _spherical("y", 1),
    "spherical_in": _spherical("i", -1),
    "spherical_kn": _spherical("k", -1),
}

# -- elliptic integrals of Carlson, the mean of Gauss

elliprd = special("elliprd", refuse_derivative, refuse_derivative, refuse_derivative)
elliprf: Op = special(
    "elliprf",
    lambda x, y, z, f: -elliprd(y, z, x) / 6,
    lambda x, y, z, f: -elliprd(z, x, y) / 6,
    lambda x, y, z, f: -elliprd(x, y, z) / 6,
)
elliprc = special(
    "elliprc",
    lambda x, y, f: -elliprd(y, y, x) / 6,
    lambda x, y, f: -elliprd(x, y, y) / 3,
)
elliprg = special(
    "elliprg",
    lambda x, y, z, f: (elliprf(x, y, z) - x * elliprd(y, z, x) / 3) / 4,
    lambda x, y, z, f: (elliprf(x, y, z) - y * elliprd(z, x, y) / 3) / 4,
    lambda x, y, z, f: (elliprf(x, y, z) - z * elliprd(x, y, z) / 3) / 4,
)
agm = special(
    "agm",
    lambda a, b, m: 2 * a * m * m / (3 * math.pi) * elliprd(0.0, b * b, a * a),
    lambda a, b, m: 2 * b * m * m / (3 * math.pi) * elliprd(0.0, a * a, b * b),
)

# -- functions of other equations

wright_bessel: Op = special(
    "wright_bessel",
    refuse_derivative,
    refuse_derivative,
    lambda a, b, x, y: wright_bessel(a, a + b, x),
)
log_wright_bessel: Op = special(
    "log_wright_bessel",
    refuse_derivative,
    refuse_derivative,
    lambda a, b, x, y: exp(log_wright_bessel(a, a + b, x) - y),
)
lpmv: Op = special(
    "lpmv",
    refuse_derivative,
    refuse_derivative,
    lambda m, v, x, y: (v * x * y - (v + m) * lpmv(m, v - 1, x)) / (x * x - 1),
)


def _voigt(x: Atom, sigma: Atom, gamma: Atom) -> tuple[Any, Any, Any]:
    """z = (x + i gamma) / (sigma sqrt(2)), the slope of Faddeeva's function there, and a scale."""
    width = sigma * math.sqrt(2)
    z = (x + 1j * gamma) / width
    return z, 2j / math.sqrt(math.pi) - 2 * z * wofz(z), width * sigma * math.sqrt(2 * math.pi)


def _voigt_by_x(x: Atom, sigma: Atom, gamma: Atom) -> Any:
    _, slope, scale = _voigt(x, sigma, gamma)
    return real(slope) / scale


def _voigt_by_sigma(x: Atom, sigma: Atom, gamma: Atom, y: Atom) -> Any:
    z, slope, scale = _voigt(x, sigma, gamma)
    return -y / sigma - real(slope * z) * math.sqrt(2) / scale


def _voigt_by_gamma(x: Atom, sigma: Atom, gamma: Atom) -> Any:
    _, slope, scale = _voigt(x, sigma, gamma)
    return -imag(slope) / scale


voigt_profile = special(
    "voigt_profile",
    lambda x, s, g, y: _voigt_by_x(x, s, g),
    lambda x, s, g, y: _voigt_by_sigma(x, s, g, y),
    lambda x, s, g, y: _voigt_by_gamma(x, s, g),
)

# -- integrals, with several results


def _divide_at_zero(x: Atom, top: Atom) -> Any:
    """top / x where top is 0 at 0, as its derivative there is."""
    zero = equal(x, 0)
    return select(zero, 0.0, top / select(zero, 1.0, x))


itj0y0 = several_results("itj0y0", lambda x, j, y: (j0(x), y0(x)))
iti0k0 = several_results("iti0k0", lambda x, i, k: (i0(x), k0(x)))
it2j0y0 = several_results("it2j0y0", lambda x, j, y: (_divide_at_zero(x, 1 - j0(x)), -y0(x) / x))
it2i0k0 = several_results("it2i0k0", lambda x, i, k: (_divide_at_zero(x, i0(x) - 1), -k0(x) / x))
itstruve0 = special("itstruve0", lambda x, y: struve(0.0, x))
it2struve0 = special("it2struve0", lambda x, y: -struve(0.0, x) / x)
itmodstruve0 = special("itmodstruve0", lambda x, y: modstruve(0.0, x))
itairy = several_results("itairy", lambda x, *outs: _airy_pairs(x))
airye = several_results("airye", lambda x, *outs: _scaled_airy(x, *outs))


def _airy_pairs(x: Atom) -> tuple[Any, ...]:
    ai, _, bi, _ = airy(x)
    back_ai, _, back_bi, _ = airy(-x)
    return ai, bi, back_ai, back_bi


def _scaled_airy(x: Atom, ai: Atom, aip: Atom, bi: Atom, bip: Atom) -> tuple[Any, ...]:
    """Of real numbers: the factor of ai is exp(2/3 x sqrt(x)), that of bi the inverse of it."""
    root = sqrt(maximum(x, 0.0))
    return aip + root * ai, x * ai + root * aip, bip - root * bi, x * bi - root * bip


# -- functions of an order and a number with two results: a function and its derivative


def _with_slope(name: str, curvature: Any) -> Op:
    """A function of a and x that gives a solution y of y'' = curvature(a, x) y, and y'."""
    ufunc = getattr(sc, name)

    def infer(a: Atom, x: Atom) -> tuple[Type, ...]:
        return (
            Type(ufunc.resolve_dtypes((a.type.dtype, x.type.dtype, None, None))[2], x.type.shape),
        ) * 2

    def jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
        if tangents[0] is not None:
            refuse_derivative()
        if tangents[1] is None:
            return None, None
        slopes = outs[1], curvature(*primals) * outs[0]
        changes = (mul(tangents[1], slope) for slope in slopes)
        return tuple(conform(t, out.type) for t, out in zip(changes, outs, strict=True))

    def batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
        size = batch_size(args, axes)
        return op(*(repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))), (0, 0)

    return Op(name, infer, f"scipy.special.{name}({{0}}, {{1}})", jvp, costly=True, batch=batch)


pbdv = _with_slope("pbdv", lambda v, x: x * x / 4 - v - 0.5)
pbvv = _with_slope("pbvv", lambda v, x: x * x / 4 - v - 0.5)
pbwa = _with_slope("pbwa", lambda a, x: a - x * x / 4)
TWO = (pbdv, pbvv, pbwa)

# The functions of scipy.special ------------------------------------------------------------------


def _of_order(op: Op) -> Any:
    def rule(v: Any, x: Any) -> Any:
        v, x = as_array(v), as_array(x)
        dtype = result_dtype(getattr(sc, op.name), (v.type, x.type))
        v, x = cast_to(v, dtype), cast_to(x, dtype)
        shape = UFUNCS[np.add](v, x).type.shape
        return op(broadcast_to(v, shape=shape), broadcast_to(x, shape=shape))

    return rule


def _float(a: Any) -> Any:
    return cast_to(as_array(a), np.dtype(float))


def _spherical_rule(value: Op, slope: Op) -> Any:
    def rule(n: Any, z: Any, derivative: Any = False) -> Any:
        op = slope if static(derivative, "the option derivative must be known") else value
        return op(as_array(n), as_array(z))

    return rule


def _of_differences(f: Op, sign: int, whole: int) -> Any:
    """The n-th derivative of a function f with f' = (f_(v-1) + sign f_(v+1)) / 2, by
    f_v^(n) = (whole / 2)^n sum_k sign^k binom(n, k) f_(v - n + 2 k): DLMF 10.6.7, 10.29.5."""

    def rule(v: Any, z: Any, n: Any = 1) -> Any:
        order = int(static(n, "the order of the derivative must be known"))
        if order < 0:
            raise UnsupportedError("a derivative of negative order", "give n >= 0")
        v, z = as_array(v), as_array(z)
        terms = [
            float(sign**k * math.comb(order, k)) * f(v - order + 2 * k, z) for k in range(order + 1)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total * (whole / 2) ** order

    return rule


def _shift_polynomial(f: Any, *leading: Any) -> Any:
    """A polynomial on 0 to 1."""
    return lambda n, x: f(as_array(n), 2 * as_array(x) - 1)


def _sh_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    n, p, q, x = map(as_array, (n, p, q, x))
    return eval_jacobi(n, p - q, q - 1, 2 * x - 1) / binom(2 * n + p - 1, n)


def _diric(x: Any, n: Any) -> Any:
    """sin(n x / 2) / (n sin(x / 2)), at multiples of 2 pi its limit."""
    n = int(static(n, "the number n of diric must be known"))
    x = _float(x)
    whole = equal(sin(x / 2), 0)
    safe = select(whole, 1.0, x)
    turns = UFUNCS[np.rint](x / (2 * math.pi)) * (n - 1)
    limit = 1.0 - 2.0 * UFUNCS[np.remainder](turns, 2.0)
    return select(whole, limit, sin(n * safe / 2) / (n * sin(safe / 2)))


KNOWN = {*UFUNCS.values(), *basic.SPECIAL.values(), *more.SPECIAL.values(), *more.UNARY}
SEVERAL = (itj0y0, iti0k0, it2j0y0, it2i0k0, itairy, airye)
SPECIAL: dict[Any, Op] = {
    op.ufunc: op
    for op in (*tuple(globals().values()), *(op for pair in SPHERICAL.values() for op in pair))
    if isinstance(op, Op) and op not in KNOWN and op.ufunc is not None and op is not struve
}
RULES: dict[Any, Any] = {getattr(sc, op.name): more._of_one(op) for op in SEVERAL}
RULES |= {getattr(sc, op.name): _of_order(op) for op in TWO}
RULES |= {getattr(sc, name): _spherical_rule(*pair) for name, pair in SPHERICAL.items()}
RULES |= {
    sc.jvp: _of_differences(jv, -1, 1),
    sc.yvp: _of_differences(yv, -1, 1),
    sc.h1vp: _of_differences(hankel1, -1, 1),
    sc.h2vp: _of_differences(hankel2, -1, 1),
    sc.ivp: _of_differences(iv, 1, 1),
    sc.kvp: _of_differences(kv, 1, -1),
    sc.eval_sh_legendre: _shift_polynomial(eval_legendre),
    sc.eval_sh_chebyt: _shift_polynomial(eval_chebyt),
    sc.eval_sh_chebyu: _shift_polynomial(eval_chebyu),
    sc.eval_chebyc: lambda n, x: 2 * eval_chebyt(as_array(n), as_array(x) / 2),
    sc.eval_chebys: lambda n, x: eval_chebyu(as_array(n), as_array(x) / 2),
    sc.eval_sh_jacobi: _sh_jacobi,
    sc.diric: _diric,
    sc.softplus: lambda x: UFUNCS[np.logaddexp](0.0, as_array(x)),
}
