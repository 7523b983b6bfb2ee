"""Steps along the gradient, with and without momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.optimizers.optimizer_states import optimizer
from tapeless.optimizers.schedules import make_schedule

__staged__ = True  # plain NumPy code: a staged run enters it


def first_parameter(state: Any) -> Any:
    """The parameter in a state that is a tuple which begins with it."""
    return state[0]


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent: x - step_size * g.

    step_size  a positive number, or a function of the number of the step that gives one

    Returns an Optimizer.

    >>> init, update, get_params = sgd(0.1)
    >>> get_params(update(0, 2.0, init(1.0)))
    0.8
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x

    def update(i: Any, g: Any, x: Any) -> Any:
        return x - step_size(i) * g

    def get_params(x: Any) -> Any:
        return x

    return init, update, get_params


@optimizer
def momentum(step_size: Any, mass: Any) -> Any:
    """Gradient descent with momentum: the velocity is mass * velocity + g.

    step_size  a positive number, or a function of the number of the step that gives one
    mass       the part of the velocity that is kept

    Returns an Optimizer. Source: B. T. Polyak, "Some methods of speeding up the convergence of
    iteration methods" (1964).

    >>> init, update, get_params = momentum(0.1, mass=0.9)
    >>> state = update(0, 1.0, init(1.0))
    >>> round(float(get_params(update(1, 1.0, state))), 3)
    0.71
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * velocity, velocity

    return init, update, first_parameter


@optimizer
def nesterov(step_size: Any, mass: Any) -> Any:
    """Gradient descent with Nesterov's momentum, which looks one step ahead.

    step_size  a positive number, or a function of the number of the step that gives one
    mass       the part of the velocity that is kept

    Returns an Optimizer. Source: Y. Nesterov, "A method of solving a convex programming problem
    with convergence rate O(1/k^2)" (1983), as in Sutskever et al. (2013).

    >>> init, update, get_params = nesterov(0.1, mass=0.9)
    >>> round(float(get_params(update(0, 1.0, init(1.0)))), 3)
    0.81
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * (mass * velocity + g), velocity

    return init, update, first_parameter
