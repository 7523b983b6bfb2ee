"""Elementwise functions on scalars and arrays, by NumPy, math and scipy.special."""

import math

import numpy as np
from scipy import special

from tests.corpus import normal, program, uniform


@program(uniform(4))
def powers_and_roots(x):
    return (
        np.sqrt(x) * x**2.5 + np.square(x) / np.cbrt(x) + np.power(x, 3) - 2**x + np.reciprocal(x)
    )


@program(uniform(4), uniform(4, seed=1), wrt=(0, 1))
def variable_exponents(x, y):
    return x**y + np.power(y, x) * np.hypot(x, y) + np.arctan2(y, x)


@program(uniform(4))
def logarithms(x):
    return np.log(x) * np.log2(x) + np.log10(x) + np.log1p(x) * np.expm1(x) + np.exp2(x)


@program(uniform(4, low=0.2, high=0.8))
def trigonometry(x):
    return np.sin(x) * np.cos(x) + np.tan(x) + np.arcsin(x) * np.arccos(x) + np.arctan(x)


@program(uniform(4, low=0.2, high=0.8))
def hyperbolic(x):
    return np.sinh(x) * np.cosh(x) + np.tanh(x) * np.arcsinh(x) + np.arccosh(1 + x) + np.arctanh(x)


@program(normal(5))
def signs_and_absolute_values(x):
    return np.abs(x) * np.sign(x) ** 2 + np.fabs(x) * abs(x) - np.negative(x) + np.copysign(x, -1.0)


@program(normal(5), normal(5, seed=1), wrt=(0, 1))
def maxima_and_minima(x, y):
    return np.maximum(x, y) * np.minimum(x, 0.1) + np.fmax(x, y) ** 2


@program(normal(5), -0.5, 0.8, wrt=(0, 1, 2))
def clips(x, low, high):
    return np.clip(x, low, high) ** 2 + x.clip(-0.3, 0.3) * np.clip(x, None, high)


@program(normal(5), normal(5, seed=1), wrt=(0, 1))
def selections(x, y):
    fixed = [True, False, True, False, True]
    return np.where(x > y, x * y, x - y) + np.where(x > 0, 1.0, y) * np.where(fixed, x, 2)


@program(uniform(4, high=3.3))
def rounding_is_constant(x):
    return (
        x * np.floor(x)
        + np.ceil(x) * x**2
        - np.trunc(x)
        + x * np.round(x)
        + x % 1.1
        + np.mod(x, 0.7)
    )


@program(0.6)
def scalar_math(x):
    y = math.sin(x) * math.exp(-x) + math.log(x + 2) ** 2
    y += math.atan2(x, 2.0) * math.tanh(x)
    return y * math.sqrt(x) + math.pow(x, 3) + math.pi * math.hypot(x, 1.0)


@program(uniform(4))
def special_functions(x):
    return special.expit(x) * special.erf(x) + special.gammaln(x + 1) - special.logsumexp(x)


@program(normal(3, 4))
def special_with_axes(a):
    return special.logsumexp(a, axis=1) * special.expit(a[:, 0]) + special.logsumexp(a, axis=(0, 1))


@program(normal(4))
def stable_softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))) + np.logaddexp(x, 0.5)


@program(normal(4))
def untaken_side_has_no_value(x):
    with np.errstate(all="ignore"):
        logarithm = np.where(x > 0, np.log(x), 0.0)
        return logarithm + np.where(x > 0, np.sqrt(x) / x, x**2)


@program(uniform(4), uniform(3, 4, seed=1), wrt=(0, 1))
def operators(x, a):
    return -x + +a * x - a / x + a // 0.37 * x + (a > 1) * x + a**2 % 0.71 - 3 / a + abs(a - 3) ** x


@program(normal(4))
def comparisons_as_weights(x):
    positive = x > 0
    middle = (x > -0.5) & (x < 0.5) | ~positive
    return positive * x**2 + middle * np.sin(x) + np.logical_and(positive, middle) * 0.5
