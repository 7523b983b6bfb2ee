"""Computes piecewise activations: `relu`, `elu`, `hard_tanh`, ... At a kink the slope is that of
the flat side, as in JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def relu(x: Any) -> Any:
    """max(x, 0), with slope 0 at 0.

    x  a number or an array

    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    return np.where(x <= 0, 0, x)


def relu6(x: Any) -> Any:
    """min(max(x, 0), 6), with slope 0 at 0 and at 6.

    x  a number or an array

    >>> relu6(np.array([-1.0, 2.0, 7.0]))
    array([0., 2., 6.])
    """
    return np.where(x <= 0, 0.0, np.where(x >= 6, 6.0, x))


def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Any:
    """x, and negative_slope * x where x < 0.

    x               a number or an array
    negative_slope  a number or an array

    >>> leaky_relu(np.array([-1.0, 2.0]))
    array([-0.01,  2.  ])
    """
    return np.where(x >= 0, x, negative_slope * x)


def hard_tanh(x: Any) -> Any:
    """x between -1 and 1, and the nearer one of them outside.

    x  a number or an array

    >>> hard_tanh(np.array([-3.0, 0.5, 3.0]))
    array([-1. ,  0.5,  1. ])
    """
    return np.where(x > 1, 1, np.where(x < -1, -1, x))


def hard_sigmoid(x: Any) -> Any:
    """relu6(x + 3) / 6.

    x  a number or an array

    >>> hard_sigmoid(np.array([-3.0, 0.0, 3.0]))
    array([0. , 0.5, 1. ])
    """
    return relu6(x + 3.0) / 6.0


def hard_silu(x: Any) -> Any:
    """x * hard_sigmoid(x). `hard_swish` is the same function.

    x  a number or an array

    >>> hard_silu(np.array([-3.0, 1.0, 3.0])).round(4)
    array([-0.    ,  0.6667,  3.    ])
    """
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """The exponential linear unit: x, and alpha * (exp(x) - 1) where x <= 0.

    x      a number or an array
    alpha  a number or an array

    Source: Clevert, Unterthiner, Hochreiter, "Fast and accurate deep network learning by
    exponential linear units", ICLR 2016.

    >>> elu(np.array([-1.0, 2.0])).round(4)
    array([-0.6321,  2.    ])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """The exponential linear unit with slope 1 at 0 for each alpha: alpha * (exp(x / alpha) - 1)
    where x <= 0.

    x      a number or an array
    alpha  a number or an array

    Source: J. T. Barron, "Continuously differentiable exponential linear units" (2017).

    >>> celu(np.array([-1.0, 2.0]), 2.0).round(4)
    array([-0.7869,  2.    ])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def selu(x: Any) -> Any:
    """The scaled exponential linear unit, which keeps mean 0 and variance 1 of its inputs.

    x  a number or an array

    Source: Klambauer, Unterthiner, Mayr, Hochreiter, "Self-normalizing neural networks",
    NeurIPS 2017.

    >>> selu(np.array([-1.0, 2.0])).round(4)
    array([-1.1113,  2.1014])
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


def sparse_plus(x: Any) -> Any:
    """A softplus with ends that are exact: 0 up to -1, (x + 1)**2 / 4 up to 1, then x.

    x  a number or an array

    >>> sparse_plus(np.array([-2.0, 0.0, 2.0]))
    array([0.  , 0.25, 2.  ])
    """
    return np.where(x <= -1, 0.0, np.where(x >= 1, x, (x + 1) ** 2 / 4))


def sparse_sigmoid(x: Any) -> Any:
    """A sigmoid with ends that are exact: 0 up to -1, (x + 1) / 2 up to 1, then 1. It is the slope
    of `sparse_plus`.

    x  a number or an array

    >>> sparse_sigmoid(np.array([-2.0, 0.0, 2.0]))
    array([0. , 0.5, 1. ])
    """
    return 0.5 * np.clip(x + 1.0, 0.0, 2.0)
