"""Makes initializers of weights, functions `init(key, shape, dtype)`, as in jax.nn.

>>> from tapeless import random
>>> init = he_normal()
>>> init(random.key(0), (2, 3)).round(4)
array([[-0.2232, -0.8429,  1.8083],
       [ 0.2037,  0.0877, -0.4029]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import random
from tapeless.random import checked_bits
from tapeless.random.argument_checks import checked_key
from tapeless.random.special_functions import erf_inv
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

Initializer = Callable[..., Any]

# The standard deviations of standard normal numbers cut off at 2, and of complex ones.
TRUNCATED = 0.87962566103423978
TRUNCATED_COMPLEX = 0.95311164380491208


def _dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(float if dtype is None else dtype)


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Zeros. It is an initializer itself; the key is not used.

    >>> zeros(None, (2,))
    array([0., 0.])
    """
    return np.zeros(shape, _dtype(dtype))


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Any:
    """Ones. It is an initializer itself; the key is not used.

    >>> ones(None, (2,))
    array([1., 1.])
    """
    return np.ones(shape, _dtype(dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """An initializer of one value, or of an array that broadcasts to the shape.

    dtype  of the weights, float64 by default

    >>> constant(3)(None, (2,))
    array([3., 3.])
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        return np.full(shape, value, _dtype(dtype))

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of uniform numbers between 0 and `scale`.

    dtype  of the weights, float64 by default

    >>> from tapeless import random
    >>> uniform(10.0)(random.key(0), (2,)).round(4)
    Array([4.1846, 2.163 ], dtype=float64)
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype)
        return random.uniform(key, shape, dtype) * dtype.type(scale)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """An initializer of normal numbers of mean 0.

    stddev  their standard deviation
    dtype   of the weights, float64 by default

    >>> from tapeless import random
    >>> normal(10.0)(random.key(0), (2,)).round(4)
    Array([-2.0584, -7.8477], dtype=float64)
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype)
        return random.normal(key, shape, dtype) * dtype.type(stddev)

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer of normal numbers of mean 0, of which only those between two bounds are kept.

    stddev        their standard deviation before
    dtype         of the weights, float64 by default
    lower, upper  the bounds, as multiples of stddev

    >>> from tapeless import random
    >>> truncated_normal(10.0)(random.key(0), (2,)).round(4)
    array([-1.9635, -7.4147])
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype)
        return _truncated_numbers(key, float(lower), float(upper), shape, dtype) * dtype.type(
            stddev
        )

    return init


def _truncated_numbers(key: Any, lower: float, upper: float, shape: Any, dtype: Any) -> Any:
    """What random.truncated_normal gives for two numbers, without SciPy."""
    root = dtype.type(np.sqrt(2))
    ends = [dtype.type(math.erf(dtype.type(x) / root)) for x in (lower, upper)]
    u = checked_bits.uniform_between(
        checked_key("truncated_normal", key), tuple(shape), dtype, *ends
    )
    inside = [
        np.nextafter(dtype.type(x), dtype.type(y)) for x, y in ((lower, np.inf), (upper, -np.inf))
    ]
    return np.clip(root * erf_inv(u), *inside)


def _fans(shape: Any, in_axis: Any, out_axis: Any, batch_axis: Any) -> tuple[Any, Any]:
    """How many inputs and outputs a weight array has."""
    if len(shape) < 2:
        raise ArgumentError(
            f"an initializer that depends on the numbers of inputs and outputs needs two axes or "
            f"more, not the shape {tuple(shape)}"
        )
    inputs, outputs, batch = [_size(shape, axes) for axes in (in_axis, out_axis, batch_axis)]
    field = math.prod(shape) / inputs / outputs / batch
    return inputs * field, outputs * field


def _size(shape: Any, axes: Any) -> Any:
    return math.prod(shape[k] for k in ((axes,) if isinstance(axes, int) else axes))


FANS: dict[str, Callable[[Any, Any], Any]] = {
    "fan_in": lambda inputs, outputs: inputs,
    "fan_out": lambda inputs, outputs: outputs,
    "fan_avg": lambda inputs, outputs: (inputs + outputs) / 2,
    "fan_geo_avg": lambda inputs, outputs: (inputs * outputs) ** 0.5,
}


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Any = -2,
    out_axis: Any = -1,
    batch_axis: Any = (),
    dtype: Any = None,
) -> Initializer:
    """An initializer of numbers of variance scale / n.

    mode          what n is: 'fan_in', the number of inputs, 'fan_out', that of outputs, 'fan_avg'
                  or 'fan_geo_avg', their arithmetic or geometric mean
    distribution  'normal', 'truncated_normal' (cut off at two standard deviations) or 'uniform'
    in_axis, out_axis, batch_axis  which axes of the weights are inputs, outputs and neither;
                  the others are those of a kernel in space
    dtype         of the weights, float64 by default; it may be complex

    Raises ValueError for another mode or distribution, and for shapes with less than two axes.

    >>> from tapeless import random
    >>> variance_scaling(3.0, "fan_out", "uniform")(random.key(0), (1, 3)).round(4)
    Array([[-0.2825, -0.9828,  1.6119]], dtype=float64)
    """
    if mode not in FANS:
        raise ArgumentError(f"variance_scaling: mode must be one of {', '.join(FANS)}, not {mode}")
    if distribution not in DRAWS:
        raise ArgumentError(
            f"variance_scaling: distribution must be one of {', '.join(DRAWS)}, not {distribution}"
        )

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype = _dtype(dtype)
        n = FANS[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        part = np.finfo(dtype).dtype.type
        return DRAWS[distribution](key, tuple(shape), dtype, part(scale / n))

    return init


def _normal(key: Any, shape: Any, dtype: Any, variance: Any) -> Any:
    return random.normal(key, shape, dtype) * np.sqrt(variance)


def _truncated_normal(key: Any, shape: Any, dtype: Any, variance: Any) -> Any:
    part = np.finfo(dtype).dtype.type
    if dtype.kind == "c":
        radius, direction = _polar(key, shape, part)
        square = -np.log(1 - (1 - part(math.exp(-4))) * radius)
        return np.sqrt(square) * direction * (np.sqrt(variance) / part(TRUNCATED_COMPLEX))
    return _truncated_numbers(key, -2.0, 2.0, shape, dtype) * (np.sqrt(variance) / part(TRUNCATED))


def _uniform(key: Any, shape: Any, dtype: Any, variance: Any) -> Any:
    if dtype.kind == "c":
        radius, direction = _polar(key, shape, np.finfo(dtype).dtype.type)
        return np.sqrt(2 * radius) * direction * np.sqrt(variance)
    return random.uniform(key, shape, dtype, -1) * np.sqrt(3 * variance)


def _polar(key: Any, shape: Any, part: Any) -> tuple[Any, Any]:
    """Uniform numbers, and complex numbers of length 1."""
    radius_key, angle_key = random.split(key)
    angle = part(2 * math.pi) * random.uniform(angle_key, shape, part)
    return random.uniform(radius_key, shape, part), np.exp(1j * angle)


DRAWS = {"normal": _normal, "truncated_normal": _truncated_normal, "uniform": _uniform}


def _named_scaling(
    name: str, source: str, scale: float, mode: str, distribution: str
) -> Initializer:
    """A named case of `variance_scaling`."""

    def make(
        in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = (
        f"An initializer: `variance_scaling({scale}, {mode!r}, {distribution!r})`.\n\n"
        f"Source: {source}.\n\n"
        f">>> from tapeless import random\n"
        f">>> {name}()(random.key(0), (2, 3)).shape\n(2, 3)\n"
    )
    return make


GLOROT = "Glorot, Bengio, AISTATS 2010"
LECUN = "LeCun, Bottou, Orr, Müller, 'Efficient backprop' (1998)"
HE = "He, Zhang, Ren, Sun, 'Delving deep into rectifiers', ICCV 2015"
glorot_uniform = _named_scaling("glorot_uniform", GLOROT, 1.0, "fan_avg", "uniform")
glorot_normal = _named_scaling("glorot_normal", GLOROT, 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _named_scaling("lecun_uniform", LECUN, 1.0, "fan_in", "uniform")
lecun_normal = _named_scaling("lecun_normal", LECUN, 1.0, "fan_in", "truncated_normal")
he_uniform = _named_scaling("he_uniform", HE, 2.0, "fan_in", "uniform")
he_normal = _named_scaling("he_normal", HE, 2.0, "fan_in", "truncated_normal")
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of orthogonal matrices; where they are not square, of orthonormal rows or
    columns, of which there are less.

    scale        by which the matrix is multiplied
    column_axis  the axis of the columns; the others together are the rows
    dtype        of the weights, float64 by default

    Raises ValueError for shapes with less than two axes. Source: Saxe, McClelland, Ganguli, ICLR
    2014.

    >>> from tapeless import random
    >>> q = orthogonal()(random.key(0), (3, 3))
    >>> bool(np.allclose(q @ q.T, np.eye(3)))
    True
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype, shape = _dtype(dtype), tuple(shape)
        if len(shape) < 2:
            raise ArgumentError(f"orthogonal: a matrix has two axes or more, not shape {shape}")
        if 0 in shape:
            return np.zeros(shape, dtype)
        columns = shape[column_axis]
        q = random.orthogonal(key, math.prod(shape) // columns, (), dtype, columns)
        place = column_axis % len(shape)
        rows = tuple(n for k, n in enumerate(shape) if k != place)
        return dtype.type(scale) * np.moveaxis(np.reshape(q, (*rows, columns)), -1, column_axis)

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """An initializer of convolutions that are an orthogonal matrix in the middle, and 0 around it.

    scale, column_axis, dtype  as in `orthogonal`

    The shape has three to five axes: space, inputs, outputs. Raises ValueError for others, and for
    more inputs than outputs. Source: Xiao et al., "Dynamical isometry and a mean field theory of
    CNNs", ICML 2018.

    >>> from tapeless import random
    >>> delta_orthogonal()(random.key(0), (3, 1, 1)).ravel()
    array([ 0., -1.,  0.])
    """

    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        dtype, shape = _dtype(dtype), tuple(shape)
        if len(shape) not in (3, 4, 5):
            raise ArgumentError(f"delta_orthogonal: three to five axes, not the shape {shape}")
        if shape[-1] < shape[-2]:
            raise ArgumentError(f"delta_orthogonal: {shape[-2]} inputs and {shape[-1]} outputs")
        kernel = np.zeros(shape, dtype)
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        kernel[middle] = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        return kernel

    return init
