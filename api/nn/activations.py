"""Computes smooth activations: `sigmoid`, `softplus`, `silu`, `gelu`, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.scipy.scipy_import import scipy_special
from tapeless.transformations.custom_rules import CustomJvp
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def _logistic(x: Any) -> Any:
    tail = np.exp(-np.abs(x))  # of the smaller side, so that nothing overflows
    return np.where(x >= 0, 1, tail) / (1 + tail)


_sigmoid = CustomJvp(_logistic)


@_sigmoid.defjvp
def _sigmoid_jvp(primals: Any, tangents: Any) -> Any:
    y = _sigmoid(primals[0])
    return y, y * (1 - y) * tangents[0]


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    x  a number or an array

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    return 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else _sigmoid(x)


@CustomJvp
def _softplus(x: Any) -> Any:
    return np.logaddexp(x, 0)


@_softplus.defjvp
def _softplus_jvp(primals: Any, tangents: Any) -> Any:
    return _softplus(primals[0]), _sigmoid(primals[0]) * tangents[0]  # also at infinity


def softplus(x: Any) -> Any:
    """log(1 + exp(x)).

    x  a number or an array

    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).round(4)
    array([0.000e+00, 6.931e-01, 1.000e+03])
    """
    return _complex_softplus(x) if np.iscomplexobj(x) else _softplus(x)


def _complex_softplus(x: Any) -> Any:
    """log(1 + exp(x)), its imaginary part between -pi and pi."""
    larger = np.where(np.real(x) > 0, x, 0)
    total = larger + np.log1p(np.exp(x - 2 * larger))
    return np.real(total) + 1j * (np.mod(np.imag(total) + np.pi, 2 * np.pi) - np.pi)


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)).

    x  a number or an array

    >>> log_sigmoid(np.array([-1000.0, 1000.0])).round(4)
    array([-1000.,    -0.])
    """
    return -softplus(-x)


def silu(x: Any) -> Any:
    """x * sigmoid(x). `swish` is the same function.

    x  a number or an array

    Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units" (2017).

    >>> silu(np.array([-1.0, 1.0])).round(4)
    array([-0.2689,  0.7311])
    """
    return x * sigmoid(x)


swish = silu


def mish(x: Any) -> Any:
    """x * tanh(softplus(x)).

    x  a number or an array

    Source: D. Misra, "Mish: a self regularized non-monotonic activation function" (2019).

    >>> mish(np.array([-1.0, 1.0])).round(4)
    array([-0.3034,  0.8651])
    """
    return x * np.tanh(softplus(x))


def soft_sign(x: Any) -> Any:
    """x / (abs(x) + 1).

    x  a number or an array

    >>> soft_sign(np.array([-3.0, 1.0]))
    array([-0.75,  0.5 ])
    """
    return x / (np.abs(x) + 1)


def squareplus(x: Any, b: Any = 4) -> Any:
    """(x + sqrt(x**2 + b)) / 2.

    x  a number or an array
    b  how smooth it is: a positive number or an array

    Source: J. T. Barron, "Squareplus: a softplus-like algebraic rectifier" (2021).

    >>> squareplus(np.array([-1.5, 0.0, 1.5]))
    array([0.5, 1. , 2. ])
    """
    return (x + np.sqrt(np.square(x) + b)) / 2


def gelu(x: Any, approximate: bool = True) -> Any:
    """x times the probability that a standard normal number is below x.

    x            a number or an array
    approximate  whether the probability is taken from a formula with tanh; without it, it is
                 exact, and needs SciPy

    Source: Hendrycks, Gimpel, "Gaussian error linear units" (2016).

    >>> gelu(np.array([-1.0, 1.0])).round(4)
    array([-0.1588,  0.8412])
    >>> gelu(np.array([-1.0, 1.0]), approximate=False).round(4)
    array([-0.1587,  0.8413])
    """
    if not approximate:
        below = scipy_special("nn.gelu(approximate=False)").ndtr(x)
        return x * np.asarray(below, np.result_type(x, 0.5))[()]  # SciPy knows no float16
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x * (0.5 + 0.5 * np.tanh(inner))


def glu(x: Any, axis: int = -1) -> Any:
    """The gated linear unit: the first half of an axis times the sigmoid of the second.

    x     an array
    axis  of even length

    Raises ValueError for an odd length. Source: Dauphin et al., "Language modeling with gated
    convolutional networks", ICML 2017.

    >>> glu(np.array([2.0, 4.0, 0.0, 0.0]))
    array([1., 2.])
    """
    length = x.shape[axis]
    if length % 2:
        raise ArgumentError(f"glu: axis {axis} has length {length}, which is odd")
    value, gate = np.split(x, 2, axis=axis)
    return value * sigmoid(gate)


def log1mexp(x: Any) -> Any:
    """log(1 - exp(-x)) of x > 0, with all digits for small and for large x.

    x  a positive number or an array of them

    Source: M. Mächler, "Accurately computing log(1 - exp(-|a|))" (2012).

    >>> log1mexp(np.array([1e-20, 1.0, 50.0])).round(4)
    array([-46.0517,  -0.4587,  -0.    ])
    """
    near = x < math.log(2)
    small, large = np.where(near, x, 1), np.where(near, 1, x)
    return np.where(near, np.log(-np.expm1(-small)), np.log1p(-np.exp(-large)))


def identity(x: Any) -> Any:
    """x itself.

    >>> identity(3.0)
    3.0
    """
    return x
