"""Checks operands of jax.lax's functions, and converts them to arrays of the types that an
operation takes.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.lax.loop_body_types import at_most, same_size
from tapeless.staging.argument_checks import as_length
from tapeless.staging.subprogram import describe, is_value, leaf_type, shape_text
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy


def checked_array(name: str, x: Any, what: str = "the operand") -> Any:
    """An array; numbers become arrays of shape ()."""
    if isinstance(x, (np.ndarray, np.generic)) or (isinstance(x, Symbol) and not x.type.weak):
        return x
    if not is_value(x):
        raise ArgumentTypeError(f"lax.{name}: {what} must be an array, not {describe(x)}")
    return call_numpy(np.asarray, (x,), {}) if isinstance(x, Symbol) else np.asarray(x)


def checked_same_dtype(name: str, *operands: Any) -> None:
    """Refuses arrays of different dtypes; Python numbers take that of the others."""
    kinds = [leaf_type(x) for x in operands if is_value(x)]
    dtypes = list(dict.fromkeys(k.dtype for k in kinds if not k.weak))
    if len(dtypes) > 1:
        raise ArgumentTypeError(
            f"lax.{name}: the operands must be of one dtype, not {', '.join(map(str, dtypes))}",
            "convert one of them, as in lax.convert_element_type(x, y.dtype)",
        )


def checked_rank(name: str, x: Any, rank: int, what: str = "the operand") -> None:
    if x.ndim != rank:
        raise ArgumentTypeError(
            f"lax.{name}: {what} must have {rank} axes, not shape {shape_text(leaf_type(x).shape)}"
        )


def checked_kind(name: str, x: Any, kinds: str) -> Any:
    """An array of one of these kinds of dtype."""
    x = checked_array(name, x)
    if x.dtype.kind not in kinds:
        words = ", ".join(WORDS[kind] for kind in kinds)
        raise ArgumentTypeError(f"lax.{name} takes {words}, not {x.dtype}")
    return x


def checked_kinds(name: str, kinds: str, *operands: Any) -> list[Any]:
    """Arrays of one dtype of these kinds, of any shapes."""
    checked_same_dtype(name, *operands)
    return [checked_kind(name, x, kinds) for x in operands]


WORDS = {"b": "booleans", "i": "integers", "u": "unsigned integers", "f": "floats", "c": "complex"}


def checked_operands(name: str, kinds: str, *operands: Any) -> list[Any]:
    """Arrays of one dtype of these kinds, and of one shape but for single numbers and axes of
    length 1; Python numbers take the dtype of the others."""
    checked_same_dtype(name, *operands)
    strong = [x for x in operands if is_value(x) and not leaf_type(x).weak]
    dtype = leaf_type(strong[0]).dtype if strong else None
    arrays = [x if _is_array(x) else _with_dtype(name, x, dtype) for x in operands]
    operand_list = [checked_kind(name, x, kinds) for x in arrays]
    shapes = [s for s in (leaf_type(x).shape for x in operand_list) if s]
    if len({len(s) for s in shapes}) > 1 or not all(map(_fits, zip(*shapes, strict=False))):
        raise ArgumentTypeError(
            f"lax.{name}: the shapes {', '.join(map(shape_text, shapes))} do not fit",
            "give all operands the same axes, as in lax.broadcast_in_dim",
        )
    return operand_list


def _is_array(x: Any) -> bool:
    return is_value(x) and not leaf_type(x).weak


def _with_dtype(name: str, x: Any, dtype: Any) -> Any:
    """A Python number as an array of a dtype that holds it."""
    if not is_value(x) or dtype is None:
        return x
    if np.result_type(leaf_type(x).dtype.kind, dtype).kind != np.dtype(dtype).kind:
        raise ArgumentTypeError(f"lax.{name}: {describe(x)} does not fit into {dtype}")
    if isinstance(x, Symbol):
        return call_numpy(np.asarray, (x, dtype), {})
    return np.asarray(x, dtype)


def _fits(sizes: Sequence[Any]) -> bool:
    longer = [n for n in sizes if n != 1]
    return all(same_size(n, longer[0]) for n in longer)


def checked_integer(name: str, what: str, value: Any) -> int:
    """An integer that is known."""
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"lax.{name}: {what} must be an integer, not {value!r}") from None


def rounding(method: Any) -> str:
    """What a half is rounded to: "away" or "even"."""
    number = getattr(method, "value", method)
    if number not in (0, 1):
        raise ArgumentError(f"lax.round: there is no rounding method {method!r}")
    return ("away", "even")[number]


def checked_number(name: str, what: str, x: Any, dtype: Any) -> Any:
    """One number of a dtype."""
    if not is_value(x) or leaf_type(x).shape:
        raise ArgumentTypeError(f"lax.{name}: {what} must be one number, not {describe(x)}")
    kind = leaf_type(x)
    if kind.weak:
        return _with_dtype(name, x, dtype) if isinstance(x, Symbol) else x
    if kind.dtype != dtype:
        raise ArgumentTypeError(f"lax.{name}: {what} must be of dtype {dtype}, not {kind.dtype}")
    return x


def checked_axes(name: str, axes: Any, rank: int) -> tuple[int, ...]:
    """Different axes, counted from the front."""
    try:
        numbers = tuple(operator.index(k) for k in axes)
    except TypeError:
        raise ArgumentTypeError(f"lax.{name}: axes must be integers, not {axes!r}") from None
    if not all(-rank <= k < rank for k in numbers):
        raise ArgumentError(f"lax.{name}: {numbers} are no axes of an array that has {rank}")
    axes_from_front = tuple(k % rank for k in numbers)
    if len(set(axes_from_front)) < len(axes_from_front):
        raise ArgumentError(f"lax.{name}: the axes {numbers} are not all different")
    return axes_from_front


def checked_shape(name: str, shape: Any) -> tuple[Any, ...]:
    """A shape as a tuple of lengths, also such that a staged run computes."""
    if isinstance(shape, (int, np.integer)) or (isinstance(shape, Symbol) and not shape.type.shape):
        shape = (shape,)
    return tuple(_length(name, n, shape) for n in shape)


def _length(name: str, n: Any, shape: Any) -> Any:
    try:
        length = as_length(n)
    except TypeError:
        raise ArgumentTypeError(f"lax.{name}: {shape!r} is no shape") from None
    if not isinstance(length, Symbol) and length < 0:
        raise ArgumentTypeError(f"lax.{name}: the shape {tuple(shape)} has a negative length")
    return length


def checked_dtype(name: str, dtype: Any, kinds: str = "biufc") -> np.dtype[Any]:
    """A dtype of numbers."""
    try:
        checked: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise ArgumentTypeError(f"lax.{name}: {dtype!r} is no dtype") from None
    if checked.kind not in kinds:
        raise ArgumentTypeError(f"lax.{name} does not take the dtype {checked}")
    return checked


def checked_join(name: str, operands: Any) -> list[Any]:
    """Arrays to be joined."""
    if isinstance(operands, (Symbol, np.ndarray)):
        return [operands[k] for k in range(len(operands))]
    arrays = [checked_array(name, x) for x in operands]
    if not arrays:
        raise ArgumentError(f"lax.{name}: there are no arrays")
    checked_same_dtype(name, *arrays)
    return arrays


def checked_shapes(name: str, operands: Any) -> list[Any]:
    """Arrays of one shape."""
    arrays = [checked_array(name, x) for x in operands]
    shapes = [leaf_type(x).shape for x in arrays]
    if not arrays or not all(
        len(s) == len(shapes[0]) and all(map(same_size, s, shapes[0])) for s in shapes
    ):
        raise ArgumentTypeError(
            f"lax.{name}: the arrays must have one shape, not "
            f"{', '.join(map(shape_text, shapes)) or 'none'}"
        )
    return arrays


def checked_pieces(name: str, sizes: Any, x: Any, axis: int) -> list[int]:
    """Where pieces of these lengths begin and end."""
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + checked_integer(name, "a size", size))
    if not same_size(leaf_type(x).shape[axis], ends[-1]):
        raise ArgumentError(
            f"lax.{name}: the sizes {list(sizes)} do not add up to the length of axis {axis} of "
            f"{describe(x)}"
        )
    return ends


def checked_count(name: str, k: Any, x: Any, axis: int) -> int:
    """How many elements of an axis."""
    count = checked_integer(name, "k", k)
    n = leaf_type(x).shape[axis]
    if count < 0 or not at_most(count, n):
        raise ArgumentError(f"lax.{name}: k is {count}, of {describe(x)} along axis {axis}")
    return count
