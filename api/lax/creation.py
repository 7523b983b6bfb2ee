"""Creates arrays, and converts them to other dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.operand_checks import (
    checked_array,
    checked_dtype,
    checked_integer,
    checked_kind,
    checked_shape,
)
from tapeless.transformations.custom_rules import CustomJvp
from tapeless.transformations.public_functions import stop_gradient
from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one value.

    shape       of the result
    fill_value  one number
    dtype       of the result; that of the value by default

    >>> from tapeless import lax
    >>> lax.full((2,), 1.5)
    array([1.5, 1.5])
    """
    return np.full(checked_shape("full", shape), fill_value, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """An array of one value, of the shape and dtype of another one, where none are given.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.full_like(np.ones(2), 3)
    array([3., 3.])
    """
    like = checked_array("full_like", x)
    whole = like.shape if shape is None else checked_shape("full_like", shape)
    return np.full(whole, fill_value, like.dtype if dtype is None else dtype)


def empty(shape: Any, dtype: Any) -> Any:
    """An array of any values, to be filled.

    >>> from tapeless import lax
    >>> lax.empty((2, 3), float).shape
    (2, 3)
    """
    return np.empty(checked_shape("empty", shape), dtype)


def iota(dtype: Any, size: Any) -> Any:
    """The numbers from 0 on.

    dtype  of integers, floats or complex numbers
    size   how many

    >>> from tapeless import lax
    >>> lax.iota(float, 3)
    array([0., 1., 2.])
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """The numbers from 0 on along one axis, the same along the others.

    >>> from tapeless import lax
    >>> lax.broadcasted_iota(int, (2, 3), 1)
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    kind = checked_dtype("iota", dtype)
    if kind.kind not in "iufc":
        raise ArgumentTypeError(f"lax.iota does not count in {kind}")
    sizes = checked_shape("broadcasted_iota", shape)
    axis = checked_integer("broadcasted_iota", "dimension", dimension) % len(sizes)
    count = np.arange(sizes[axis]).astype(kind)
    return np.broadcast_to(np.reshape(count, (-1, *(1,) * (len(sizes) - 1 - axis))), sizes)


def shape_as_value(shape: Any) -> Any:
    """A shape as an array of integers.

    >>> from tapeless import lax
    >>> lax.shape_as_value((2, 3))
    array([2, 3])
    """
    return np.array(list(shape), int)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The array in another dtype; of complex numbers that become real, the real parts.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.convert_element_type(np.array([1.7, -1.7]), int)
    array([ 1, -1])
    """
    x = checked_array("convert_element_type", operand)
    kind = checked_dtype("convert_element_type", new_dtype)
    if x.dtype.kind == "c" and kind.kind not in "cb":
        x = np.real(x)
    return x.astype(kind)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The same bits as elements of another dtype.

    operand    an array
    new_dtype  of the same width; of a smaller width, which makes a new last axis; or of a larger
               one, which takes the last axis, as long as one holds the others

    Its derivative is zero.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.bitcast_convert_type(np.array([1.0], np.float32), np.uint32)
    array([1065353216], dtype=uint32)
    """
    x = stop_gradient(checked_array("bitcast_convert_type", operand))
    kind = checked_dtype("bitcast_convert_type", new_dtype)
    old, new = x.dtype.itemsize, kind.itemsize
    if "b" in (x.dtype.kind, kind.kind) and x.dtype != kind:
        raise ArgumentTypeError(f"lax.bitcast_convert_type from {x.dtype} to {kind}")
    if old == new:
        return x.view(kind)
    if old > new:
        parts = np.reshape(np.ascontiguousarray(x), (*x.shape, 1)).view(kind)
        return np.reshape(parts, (*x.shape, old // new))
    if not x.ndim or int(x.shape[-1]) * old != new:
        raise ArgumentTypeError(
            f"lax.bitcast_convert_type: the last axis of shape {x.shape} must be "
            f"{new // old} long to become {kind}"
        )
    return np.squeeze(np.ascontiguousarray(x).view(kind), -1)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Floats rounded to fewer bits, in their dtype.

    operand        float array
    exponent_bits  of the target; what does not fit becomes infinite or 0
    mantissa_bits  of the target, without the leading 1; a half goes to the even one

    The derivative is that of the identity, rounded in the same way.

    >>> from tapeless import lax
    >>> float(lax.reduce_precision(3.14159, 8, 7))
    3.140625
    """
    x = checked_kind("reduce_precision", operand, "f")
    return _rounded(exponent_bits, mantissa_bits, x)


def _to_bits(exponent_bits: int, mantissa_bits: int, x: Any) -> Any:
    info, size = np.finfo(x.dtype), np.abs(x)
    if mantissa_bits < info.nmant:
        finite = np.where((size > 0) & np.isfinite(x), size, np.ones_like(size))
        power = 2.0 ** np.floor(np.log2(finite))
        unit = np.where(power > finite, power / 2, power) * 2.0**-mantissa_bits
        x = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
    limit = 2 ** (exponent_bits - 1)
    if limit < -info.minexp + 2:
        x = np.where(size < 2.0 ** (2 - limit), 0 * x, x)
        x = np.where(np.abs(x) >= 2.0**limit, np.copysign(np.full_like(x, np.inf), x), x)
    return x


_rounded = CustomJvp(_to_bits, nondiff_argnums=(0, 1))


@_rounded.defjvp
def _rounded_jvp(exponent_bits: int, mantissa_bits: int, primals: Any, tangents: Any) -> Any:
    rounded = _rounded(exponent_bits, mantissa_bits, *primals)
    return rounded, _rounded(exponent_bits, mantissa_bits, *tangents)


def dtype(x: Any) -> Any:
    """The dtype of an array or a number.

    >>> from tapeless import lax
    >>> lax.dtype(1.0)
    dtype('float64')
    """
    return checked_array("dtype", x).dtype


def optimization_barrier(operand: Any, /) -> Any:
    """The operand itself: nothing here reorders what a program does.

    >>> from tapeless import lax
    >>> lax.optimization_barrier(1.0)
    1.0
    """
    return operand


def stage(x: Any, /) -> Any:
    """A number or an array as an array.

    >>> from tapeless import lax
    >>> lax.stage(1.0)
    array(1.)
    """
    return checked_array("stage", x)
