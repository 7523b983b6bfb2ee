"""Calls of functions that work element by element."""

import math

import numpy as np

from tests.api.lax.tables import B, C, Case, I, J, P, U, X, Y, named


def each(f):
    """A function of numbers for arrays."""
    return np.vectorize(f, otypes=[float])


UNARY = {
    "abs": (X, np.abs),
    "acos": (U, np.arccos),
    "acosh": (1 + P, np.arccosh),
    "asin": (U, np.arcsin),
    "asinh": (X, np.arcsinh),
    "atan": (X, np.arctan),
    "atanh": (U, np.arctanh),
    "cbrt": (P, np.cbrt),
    "cos": (X, np.cos),
    "cosh": (X, np.cosh),
    "digamma": (P, None),
    "erf": (X, each(math.erf)),
    "erf_inv": (U, None),
    "erfc": (X, each(math.erfc)),
    "exp": (X, np.exp),
    "exp2": (X, np.exp2),
    "expm1": (X, np.expm1),
    "lgamma": (P, each(math.lgamma)),
    "log": (P, np.log),
    "log1p": (P, np.log1p),
    "logistic": (X, lambda x: 1 / (1 + np.exp(-x))),
    "neg": (X, lambda x: -x),
    "reciprocal": (P, lambda x: 1 / x),
    "rsqrt": (P, lambda x: x**-0.5),
    "sin": (X, np.sin),
    "sinh": (X, np.sinh),
    "sqrt": (P, np.sqrt),
    "square": (X, lambda x: x * x),
    "tan": (U, np.tan),
    "tanh": (X, np.tanh),
    "bessel_i0e": (X, lambda x: np.i0(x) * np.exp(-np.abs(x))),
    "bessel_i1e": (X, None),
}
STEPS = {
    "bitwise_not": (I, lambda x: -x - 1),
    "ceil": (X, np.ceil),
    "conj": (X, lambda x: x.astype(complex)),
    "floor": (X, np.floor),
    "imag": (C, lambda x: x.imag),
    "is_finite": (np.array([1.0, np.inf, np.nan]), np.isfinite),
    "real": (C, lambda x: x.real),
    "sign": (I, np.sign),
    "clz": (I.astype(np.int16), lambda x: np.array([[_clz(v, 16) for v in r] for r in x], "i2")),
    "population_count": (
        I.astype(np.int8),
        lambda x: np.array([[bin(int(v) & 255).count("1") for v in r] for r in x], np.int8),
    ),
}


def _clz(value, width):
    return width - (int(value) & (2**width - 1)).bit_length()


def _trunc_div(x, y):
    return np.trunc(x / y).astype(x.dtype)


BINARY = {
    "add": (X, Y, np.add),
    "atan2": (X, Y, np.arctan2),
    "div": (X, P, np.divide),
    "max": (X, Y, np.maximum),
    "min": (X, Y, np.minimum),
    "mul": (X, Y, np.multiply),
    "pow": (P, Y, np.power),
    "rem": (X, P, lambda x, y: x - y * np.trunc(x / y)),
    "sub": (X, Y, np.subtract),
    "igamma": (P, P[::-1], None),
    "igammac": (P, P[::-1], None),
}
PAIRS = {
    "bitwise_and": (I, J, np.bitwise_and),
    "bitwise_or": (I, J, np.bitwise_or),
    "bitwise_xor": (B, X > 0.5, np.logical_xor),
    "complex": (X, Y, lambda x, y: x + 1j * y),
    "eq": (I, J, np.equal),
    "ge": (I, J, np.greater_equal),
    "gt": (I, J, np.greater),
    "le": (I, J, np.less_equal),
    "lt": (X, Y, np.less),
    "ne": (C, C[::-1], np.not_equal),
    "nextafter": (X, Y, np.nextafter),
    "shift_left": (I, J, lambda x, y: x * 2**y),
    "shift_right_arithmetic": (I, J, lambda x, y: np.floor(x / 2.0**y).astype(int)),
    "shift_right_logical": (
        I.astype(np.int8),
        J.astype(np.int8),
        lambda x, y: np.where(y < 8, (x.astype(int) & 255) // 2 ** y.astype(int), 0).astype("i1"),
    ),
    "mulhi": (
        (I * 2**27).astype(np.int32),
        (J * 2**20).astype(np.int32),
        lambda x, y: ((x.astype(int) * y.astype(int)) >> 32).astype(np.int32),
    ),
    "igamma_grad_a": (P, P[::-1], None),
    "random_gamma_grad": (P, P[::-1], None),
    "zeta": (1 + P, P[::-1], None),
}
LOOSE = {"igamma_grad_a", "random_gamma_grad", "bessel_i1e", "igamma", "igammac", "erf_inv", "zeta"}


def _tolerance(name):
    return 1e-9 if name in LOOSE else 1e-12


ELEMENTWISE = {
    **{k: named(k, x, want=f, smooth=1, rtol=_tolerance(k)) for k, (x, f) in UNARY.items()},
    **{k: named(k, x, want=f) for k, (x, f) in STEPS.items()},
    **{k: named(k, x, y, want=f, smooth=2, rtol=_tolerance(k)) for k, (x, y, f) in BINARY.items()},
    **{k: named(k, x, y, want=f, rtol=_tolerance(k)) for k, (x, y, f) in PAIRS.items()},
    "div of integers": named("div", I, J, want=_trunc_div),
    "rem of integers": named("rem", I, J, want=lambda x, y: x - y * _trunc_div(x, y)),
    "sin of complex numbers": named("sin", C, want=np.sin),
    "logistic far out": named(
        "logistic", np.array([-1000.0, 1000.0]), want=lambda x: np.array([0.0, 1.0])
    ),
    "single numbers": named("add", X, np.float64(2.0), want=np.add, smooth=1),
    "axes of length 1": named("mul", X[:, :1], Y, want=np.multiply, smooth=2),
    "round": named(
        "round",
        np.array([0.5, 1.5, -0.5, 0.49999999999999994]),
        want=lambda x: np.array([1, 2, -1, 0.0]),
    ),
    "round to even": Case(
        lambda lax, x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        (np.array([0.5, 1.5, -0.7]),),
        lambda x: np.array([0.0, 2, -1]),
    ),
    "integer_pow": Case(lambda lax, x: lax.integer_pow(x, 3), (X,), lambda x: x**3, 1),
    "integer_pow below 0": Case(lambda lax, x: lax.integer_pow(x, -2), (P,), lambda x: x**-2.0, 1),
    "pow by integers": named("pow", P, J, want=lambda x, y: x ** y.astype(float), smooth=1),
    "clamp": Case(
        lambda lax, x: lax.clamp(-0.5, x, 0.5),
        (X,),
        lambda x: np.minimum(np.maximum(x, -0.5), 0.5),
        1,
    ),
    "clamp between arrays": named(
        "clamp", -P, X, P / 2, want=lambda a, x, b: np.minimum(np.maximum(x, a), b), smooth=3
    ),
    "select": Case(
        lambda lax, x, y, b: lax.select(b, x, y), (X, Y, B), lambda x, y, b: np.where(b, x, y), 2
    ),
    "select_n by booleans": Case(
        lambda lax, x, y, b: lax.select_n(b, x, y), (X, Y, B), lambda x, y, b: np.where(b, y, x), 2
    ),
    "select_n by integers": Case(
        lambda lax, x, y, z, k: lax.select_n(k, x, y, z),
        (X, Y, P, J % 3),
        lambda x, y, z, k: np.choose(k, [x, y, z]),
        3,
    ),
    "polygamma": Case(lambda lax, x: lax.polygamma(2.0, x), (P,), None, 1, rtol=1e-9),
    "betainc": Case(
        lambda lax, x: lax.betainc(2.0, 3.0, x), (P / 4,), lambda x: _betainc23(x), 1, jax=False
    ),
}


def _betainc23(x):
    """By the binomial distribution: at least 2 of 4."""
    return sum(math.comb(4, k) * x**k * (1 - x) ** (4 - k) for k in range(2, 5))
