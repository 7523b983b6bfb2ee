"""Provides optimizers as triples of pure functions, as in jax.example_libraries.optimizers.

`opt_init(params)` makes a state, `opt_update(step, gradients, state)` the next one, and
`get_params(state)` gives the parameters back. Parameters are trees of arrays, and so are states: a
step can be compiled, differentiated and batched whole.

>>> import numpy as np
>>> from tapeless import grad, optimizers
>>> opt_init, opt_update, get_params = optimizers.momentum(0.05, mass=0.9)
>>> state = opt_init({"x": np.array([3.0, -2.0])})
>>> for step in range(200):
...     gradient = grad(lambda params: np.sum(params["x"] ** 2))(get_params(state))
...     state = opt_update(step, gradient, state)
>>> bool(np.all(np.abs(get_params(state)["x"]) < 1e-3))
True
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.optimizers instead of {__name__}")

from tapeless.optimizers.adaptive import (
    adagrad,
    adam,
    adamax,
    rmsprop,
    rmsprop_momentum,
    sm3,
)
from tapeless.optimizers.norms import clip_grads, l2_norm
from tapeless.optimizers.optimizer_states import (
    JoinPoint,
    Optimizer,
    OptimizerState,
    optimizer,
    pack_optimizer_state,
    unpack_optimizer_state,
)
from tapeless.optimizers.schedules import (
    constant,
    exponential_decay,
    inverse_time_decay,
    make_schedule,
    piecewise_constant,
    polynomial_decay,
)
from tapeless.optimizers.sgd import momentum, nesterov, sgd

__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]
