"""Makes layers without windows: dense, normalisation, dropout, and functions of each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import nn, random
from tapeless.nn.initializers import glorot_normal, normal, ones, zeros
from tapeless.stax.seeded import seedable
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:  # noqa: N802, N803
    """A layer `inputs @ W + b`, over the last axis.

    out_dim         how many features the output has
    W_init, b_init  initializers; `glorot_normal()` and `normal()` by default

    Parameters are (W, b), of shapes (features, out_dim) and (out_dim,).

    >>> from tapeless import random
    >>> shape, (w, b) = Dense(3)[0](random.key(0), (-1, 4))
    >>> shape, w.shape, b.shape
    ((-1, 3), (4, 3), (3,))
    """
    w_init, b_init = W_init or glorot_normal(), b_init or normal()

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        k1, k2 = random.split(rng)
        params = w_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return np.dot(inputs, w) + b

    return init_fun, apply_fun


def BatchNorm(  # noqa: N802
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """A layer that brings its inputs to mean 0 and variance 1 over some axes, then scales them.

    axis        an axis or a tuple of axes, over which mean and variance are taken
    epsilon     is added to the variance
    center      whether beta is added
    scale       whether gamma is multiplied with
    beta_init, gamma_init  their initializers

    Parameters are (beta, gamma), of the shape of the other axes; () for what is left out. Source:
    Ioffe, Szegedy, "Batch normalization", ICML 2015.

    >>> from tapeless import random
    >>> BatchNorm()[0](random.key(0), (-1, 8, 8, 2))
    ((-1, 8, 8, 2), (array([0., 0.]), array([1., 1.])))
    """
    axes = tuple(axis) if np.iterable(axis) else (axis,)

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        shape = _remaining_axes(axes, input_shape)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        gamma = gamma_init(k2, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        standardised = nn.standardize(x, axes, epsilon=epsilon)
        if scale:
            standardised = standardised * np.expand_dims(gamma, axes)
        return standardised + np.expand_dims(beta, axes) if center else standardised

    return init_fun, apply_fun


def _remaining_axes(axes: Any, shape: Any) -> tuple[Any, ...]:
    rank = len(shape)
    if not all(-rank <= axis < rank for axis in axes):
        raise ArgumentError(
            f"stax.BatchNorm: inputs of shape {tuple(shape)} do not have the axes {axes}",
            "pass the axes of the batch and of space, axis=0 for rows of features",
        )
    return tuple(n for k, n in enumerate(shape) if k not in axes and k - rank not in axes)


def Dropout(rate: float, mode: str = "train") -> Layer:  # noqa: N802
    """A layer that keeps each element with probability `rate`, and puts 0 in place of the others.

    rate  the probability that an element is kept
    mode  'train'; with any other word the layer does nothing

    What is kept is divided by `rate`. `apply_fun` needs `rng=key`, and raises ValueError without.

    >>> from tapeless import random
    >>> Dropout(0.5)[1]((), np.ones(4), rng=random.key(0))
    array([2., 2., 0., 0.])
    """

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        if rng is None:
            raise ArgumentError(
                "stax.Dropout draws random numbers, and apply_fun is called without a key",
                "call it as apply_fun(params, inputs, rng=key)",
            )
        if mode != "train":
            return inputs
        return np.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return init_fun, apply_fun


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer `fun(inputs, **fun_kwargs)`, without parameters.

    fun  a function that keeps the shape of an array

    >>> init, apply = elementwise(np.clip, min=0)
    >>> apply((), np.array([-1.0, 1.0]))
    array([0., 1.])
    """

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return init_fun, apply_fun


def _flatten() -> Layer:
    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return np.reshape(inputs, (inputs.shape[0], math.prod(inputs.shape[1:])))

    return init_fun, apply_fun


Flatten = _flatten()
Identity = elementwise(nn.identity)
Tanh = elementwise(np.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(np.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
