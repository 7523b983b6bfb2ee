"""Provides jax.nn's activations, softmaxes, attention and initializers for NumPy arrays.

>>> import numpy as np
>>> from tapeless import grad, nn
>>> nn.softmax(np.array([0.0, 0.0, 0.0, 0.0]))
array([0.25, 0.25, 0.25, 0.25])
>>> float(grad(nn.relu)(0.0))
0.0
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.nn instead of {__name__}")

from typing import Any

from numpy import tanh

from tapeless.missing import missing
from tapeless.nn import (
    activations,
    attention,
    initializers,
    one_hot_and_standardize,
    piecewise_activations,
    softmaxes,
)
from tapeless.nn.activations import (
    gelu,
    glu,
    identity,
    log1mexp,
    log_sigmoid,
    mish,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    squareplus,
    swish,
)
from tapeless.nn.attention import dot_product_attention
from tapeless.nn.one_hot_and_standardize import one_hot, standardize
from tapeless.nn.piecewise_activations import (
    celu,
    elu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    leaky_relu,
    relu,
    relu6,
    selu,
    sparse_plus,
    sparse_sigmoid,
)
from tapeless.nn.softmaxes import log_softmax, logmeanexp, logsumexp, softmax
from tapeless.numpy.array_functions import following

globals().update(
    {
        **following(activations, "gelu glu identity log1mexp log_sigmoid mish sigmoid silu"),
        **following(activations, "soft_sign softplus squareplus swish"),
        **following(attention, "dot_product_attention"),
        **following(one_hot_and_standardize, "one_hot standardize"),
        **following(
            piecewise_activations, "celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu"
        ),
        **following(piecewise_activations, "relu relu6 selu sparse_plus sparse_sigmoid"),
        **following(softmaxes, "log_softmax logmeanexp logsumexp softmax"),
    }
)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]
