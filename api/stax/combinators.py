"""Combines layers to layers: one after another, side by side, by the shape of their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import random
from tapeless.stax.layers import Layer
from tapeless.stax.seeded import seedable

__staged__ = True  # plain NumPy code: a staged run enters it


def serial(*layers: Layer) -> Layer:
    """One layer after another.

    layers  pairs (init_fun, apply_fun)

    Parameters are the list of theirs. A key that `apply_fun` gets as `rng` is split among them.

    >>> from tapeless import random, stax
    >>> init, apply = serial(stax.Dense(2), stax.Relu)
    >>> shape, params = init(random.key(0), (-1, 3))
    >>> apply(params, np.zeros((1, 3))).shape
    (1, 2)
    """
    inits, applies = [layer[0] for layer in layers], [layer[1] for layer in layers]

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        params = []
        for init in inits:
            rng, layer_rng = random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        rngs = _keys(rng, len(applies))
        for apply, param, key in zip(applies, params, rngs, strict=True):
            inputs = apply(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Layers side by side: of a list of inputs each gets one. Used with `FanOut` and `FanInSum`.

    layers  pairs (init_fun, apply_fun)

    Shapes and parameters are tuples, outputs lists.

    >>> from tapeless import random, stax
    >>> init, apply = serial(FanOut(2), parallel(stax.Dense(2), stax.Dense(2)), FanInSum)
    >>> shape, params = init(random.key(0), (-1, 3))
    >>> shape, apply(params, np.zeros((1, 3))).shape
    ((-1, 2), (1, 2))
    """
    inits, applies = [layer[0] for layer in layers], [layer[1] for layer in layers]

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        rngs = random.split(rng, len(inits))
        initialised = [init(r, s) for init, r, s in zip(inits, rngs, input_shape, strict=True)]
        return tuple(shape for shape, _ in initialised), tuple(params for _, params in initialised)

    def apply_fun(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        rngs = _keys(rng, len(applies))
        each = zip(applies, params, inputs, rngs, strict=True)
        return [apply(param, x, rng=key, **kwargs) for apply, param, x, key in each]

    return init_fun, apply_fun


def _keys(rng: Any, n: int) -> Any:
    return [None] * n if rng is None else random.split(rng, n)


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that is made when the shape of its inputs is known.

    make_layer  a function of the shape that returns a layer

    >>> from tapeless import random, stax
    >>> init, apply = shape_dependent(lambda shape: stax.Dense(2 * shape[-1]))
    >>> init(random.key(0), (-1, 3))[0]
    (-1, 6)
    """

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun


def FanOut(num: int) -> Layer:  # noqa: N802
    """A layer that gives its input `num` times, as a list.

    >>> FanOut(2)[1]((), 3.0)
    [3.0, 3.0]
    """

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return [input_shape] * num, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return [inputs] * num

    return init_fun, apply_fun


def _fan_in_sum() -> Layer:
    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape[0], ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return sum(inputs)

    return init_fun, apply_fun


#: A layer that adds up a list of inputs.
FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:  # noqa: N802
    """A layer that joins a list of inputs along an axis.

    >>> FanInConcat()[1]((), [np.ones((1, 2)), np.zeros((1, 1))])
    array([[1., 1., 0.]])
    """

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        place = axis % len(input_shape[0])
        joined = sum(shape[place] for shape in input_shape)
        return (*input_shape[0][:place], joined, *input_shape[0][place + 1 :]), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return np.concatenate(inputs, axis)

    return init_fun, apply_fun
