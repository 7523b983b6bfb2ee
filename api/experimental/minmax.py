"""Defines optimizers as pairs (init, update) with one `get_params` for all: JAX's API before
`optimizers`.

>>> from tapeless import grad
>>> init, update = momentum(0.1, mass=0.9)
>>> state = init({"x": 1.0})
>>> state = update(0, grad(lambda params: params["x"] ** 2)(get_params(state)), state)
>>> float(get_params(state)["x"])
0.8
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless import optimizers, tree
from tapeless.optimizers import (
    OptimizerState,
    clip_grads,
    constant,
    exponential_decay,
    inverse_time_decay,
    l2_norm,
    make_schedule,
    piecewise_constant,
    polynomial_decay,
)

__staged__ = True  # plain NumPy code: a staged run enters it


def get_params(opt_state: OptimizerState) -> Any:
    """The parameters in a state, whichever optimizer made it.

    >>> get_params(adam(0.1)[0]([1.0, 2.0]))
    [1.0, 2.0]
    """
    return tree.unflatten(opt_state.tree_def, [leaves[0] for leaves in opt_state.packed_state])


iterate = get_params


def _pair(maker: Callable[..., optimizers.Optimizer]) -> Callable[..., Any]:
    @functools.wraps(maker)
    def make(*args: Any, **kwargs: Any) -> Any:
        optimizer = maker(*args, **kwargs)
        return optimizer.init_fn, optimizer.update_fn

    return make


adagrad = _pair(optimizers.adagrad)
adam = _pair(optimizers.adam)
adamax = _pair(optimizers.adamax)
momentum = _pair(optimizers.momentum)
nesterov = _pair(optimizers.nesterov)
rmsprop = _pair(optimizers.rmsprop)
rmsprop_momentum = _pair(optimizers.rmsprop_momentum)
sgd = _pair(optimizers.sgd)
sm3 = _pair(optimizers.sm3)

__all__ = [
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "get_params",
    "inverse_time_decay",
    "iterate",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
]
