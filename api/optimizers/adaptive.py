"""Steps by gradients that are scaled for each parameter by the gradients before: Adagrad, RMSProp,
Adam, ...
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.optimizers.optimizer_states import optimizer
from tapeless.optimizers.schedules import make_schedule
from tapeless.optimizers.sgd import first_parameter

__staged__ = True  # plain NumPy code: a staged run enters it


def _two_averages(x: Any) -> Any:
    return x, np.zeros_like(x), np.zeros_like(x)


def _scale_by_root(g: Any, squares: Any) -> Any:
    """g / sqrt(squares), and 0 where these are 0."""
    return np.where(squares > 0, g / np.sqrt(np.where(squares > 0, squares, 1)), 0)


@optimizer
def adagrad(step_size: Any, momentum: Any = 0.9) -> Any:
    """Adagrad: gradients are divided by the root of the sum of their squares.

    step_size  a positive number, or a function of the number of the step that gives one
    momentum   the part of the last step that is kept

    Returns an Optimizer. Source: Duchi, Hazan, Singer, "Adaptive subgradient methods for online
    learning and stochastic optimization", JMLR 12 (2011).

    >>> init, update, get_params = adagrad(0.1, momentum=0.0)
    >>> round(float(get_params(update(0, 5.0, init(1.0)))), 3)
    0.9
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + np.square(g)
        m = (1 - momentum) * _scale_by_root(g, squares) + momentum * m
        return x - step_size(i) * m, squares, m

    return _two_averages, update, first_parameter


@optimizer
def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Any:
    """RMSProp: gradients are divided by the root of a moving average of their squares.

    step_size  a positive number, or a function of the number of the step that gives one
    gamma      how much of the average is kept in a step
    eps        is added to the average, so that the root is not 0

    Returns an Optimizer. Source: G. Hinton, "Neural networks for machine learning", lecture 6e
    (2012).

    >>> init, update, get_params = rmsprop(0.1)
    >>> round(float(get_params(update(0, 5.0, init(1.0)))), 3)
    0.684
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average = state
        average = average * gamma + np.square(g) * (1 - gamma)
        return x - step_size(i) * g / np.sqrt(average + eps), average

    return init, update, first_parameter


@optimizer
def rmsprop_momentum(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9) -> Any:
    """RMSProp with momentum.

    step_size  a positive number, or a function of the number of the step that gives one
    gamma      how much of the average of squared gradients is kept in a step
    eps        is added to the average, so that the root is not 0
    momentum   the part of the last step that is kept

    Returns an Optimizer.

    >>> init, update, get_params = rmsprop_momentum(0.1)
    >>> round(float(get_params(update(0, 5.0, init(1.0)))), 3)
    0.684
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average, last = state
        average = average * gamma + np.square(g) * (1 - gamma)
        last = momentum * last + step_size(i) * g / np.sqrt(average + eps)
        return x - last, average, last

    return _two_averages, update, first_parameter


@optimizer
def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Adam: the average gradient over the root of the average square, both without their bias.

    step_size  a positive number, or a function of the number of the step that gives one
    b1, b2     how much of the averages of the gradient and of its square is kept in a step
    eps        is added to the root, so that it is not 0

    Returns an Optimizer. Source: Kingma, Ba, "Adam: a method for stochastic optimization",
    ICLR 2015.

    >>> init, update, get_params = adam(0.1)
    >>> round(float(get_params(update(0, 5.0, init(1.0)))), 3)
    0.9
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * np.square(g) + b2 * v
        mean = m / (1 - b1 ** (i + 1))
        square = v / (1 - b2 ** (i + 1))
        return x - step_size(i) * mean / (np.sqrt(square) + eps), m, v

    return _two_averages, update, first_parameter


@optimizer
def adamax(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """AdaMax: Adam with the largest gradient in place of the root of the average square.

    step_size  a positive number, or a function of the number of the step that gives one
    b1, b2     how much of the average gradient and of the largest one is kept in a step
    eps        is added to the largest gradient, so that it is not 0

    Returns an Optimizer. Source: Kingma, Ba, "Adam: a method for stochastic optimization",
    ICLR 2015, section 7.

    >>> init, update, get_params = adamax(0.1)
    >>> round(float(get_params(update(0, 5.0, init(1.0)))), 3)
    0.9
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, largest = state
        m = (1 - b1) * g + b1 * m
        largest = np.maximum(b2 * largest, np.abs(g))
        return x - step_size(i) / (1 - b1 ** (i + 1)) * m / (largest + eps), m, largest

    return _two_averages, update, first_parameter


@optimizer
def sm3(step_size: Any, momentum: Any = 0.9) -> Any:
    """SM3: Adagrad with one number for each row, column, ... in place of one for each element.

    step_size  a positive number, or a function of the number of the step that gives one
    momentum   the part of the last step that is kept

    Returns an Optimizer. The state of an array holds an array for each of its axes. Source: Anil,
    Gupta, Koren, Singer, "Memory-efficient adaptive optimization", NeurIPS 2019.

    >>> init, update, get_params = sm3(0.1, momentum=0.0)
    >>> get_params(update(0, np.full((2, 3), 5.0), init(np.ones((2, 3))))).round(3)
    array([[0.9, 0.9, 0.9],
           [0.9, 0.9, 0.9]])
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> Any:
        shape = np.shape(x)
        axes = range(len(shape))
        bounds = [np.max(np.zeros_like(x), axis=_other_axes(shape, k)) for k in axes]
        return x, np.zeros_like(x), bounds or [np.zeros_like(x)]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, bounds = state
        shape = np.shape(g)
        lined_up = [np.expand_dims(b, _other_axes(shape, k)) for k, b in enumerate(bounds)]
        squares = functools.reduce(np.minimum, lined_up) + np.square(g)
        m = (1 - momentum) * _scale_by_root(g, squares) + momentum * m
        bounds = [np.max(squares, axis=_other_axes(shape, k)) for k in range(len(bounds))]
        return x - step_size(i) * m, m, bounds

    return init, update, first_parameter


def _other_axes(shape: Any, axis: int) -> tuple[int, ...]:
    return tuple(k for k in range(len(shape)) if k != axis)
