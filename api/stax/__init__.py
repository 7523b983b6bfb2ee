"""Builds small neural networks from pairs of pure functions, as in jax.example_libraries.stax.

A layer is a pair (init_fun, apply_fun): `init_fun(key, input_shape)` gives the shape of the output
and the parameters, `apply_fun(params, inputs, rng=key)` the output. -1 stands for a length in
shapes that is not known yet, that of the batch, say. `init_fun(input_shape)` without a key, as in
2018, takes one that `np.random.seed` decides.

>>> import numpy as np
>>> from tapeless import random, stax
>>> init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(3), stax.LogSoftmax)
>>> output_shape, params = init(random.key(0), (-1, 4))
>>> output_shape, apply(params, np.ones((5, 4))).shape
((-1, 3), (5, 3))
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.stax instead of {__name__}")

from tapeless.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from tapeless.nn.initializers import glorot_normal, normal, ones, zeros
from tapeless.stax.combinators import (
    FanInConcat,
    FanInSum,
    FanOut,
    parallel,
    serial,
    shape_dependent,
)
from tapeless.stax.convolutions import (
    Conv,
    Conv1DTranspose,
    ConvTranspose,
    GeneralConv,
    GeneralConvTranspose,
)
from tapeless.stax.layers import (
    BatchNorm,
    Dense,
    Dropout,
    Elu,
    Exp,
    Flatten,
    Gelu,
    Identity,
    LeakyRelu,
    LogSoftmax,
    Relu,
    Selu,
    Sigmoid,
    Softmax,
    Softplus,
    Tanh,
    elementwise,
)
from tapeless.stax.pooling import AvgPool, MaxPool, SumPool

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax

__all__ = [
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Conv1DTranspose",
    "ConvTranspose",
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "GeneralConv",
    "GeneralConvTranspose",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "MaxPool",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SumPool",
    "Tanh",
    "elementwise",
    "elu",
    "gelu",
    "glorot",
    "glorot_normal",
    "leaky_relu",
    "log_softmax",
    "logsoftmax",
    "normal",
    "ones",
    "parallel",
    "randn",
    "relu",
    "selu",
    "serial",
    "shape_dependent",
    "sigmoid",
    "softmax",
    "softplus",
    "standardize",
    "zeros",
]
