"""Makes the arrays that functions are compared at: dtype, shape, values and memory layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = ((6,), (3, 4), (2, 3, 2), (), (0,), (0, 3), (1,), (3, 1), (2, 0, 3))
LAYOUTS = ("C", "F", "strided", "reversed", "broadcast")
FILLS = ("plain", "special")
#: Ties, both signs, fractions that are exact in every float.
PLAIN = (2.0, -1.5, 0.5, 3.0, 0.0, 1.0, -2.0, 0.5, 2.5, 1.0, -0.25, 4.0, 0.75, -3.0, 1.25, 6.0)
#: Zeros of both signs, NaN and infinities beside ordinary numbers.
SPECIAL = (0.0, -0.0, math.nan, 1.5, -math.inf, -0.0, 0.0, math.inf, -1.0, math.nan, 2.0, -0.0)


@dataclass(frozen=True)
class Sample:
    """The dtype, shape, values and layout of the arrays of one call."""

    dtype: str = "float64"
    shape: tuple[int, ...] = (3, 4)
    fill: str = "plain"
    layout: str = "C"

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)} {self.fill} {self.layout}"

    def with_shape(self, *shape: int) -> Sample:
        return replace(self, shape=shape)

    def array(self, turn: int = 0, dtype: str | None = None) -> Any:
        """An array of the sample's shape; `turn` says where in the values it begins."""
        dtype, size = dtype or self.dtype, math.prod(self.shape)
        flat = _values(dtype, self.fill, size, turn)
        return _laid_out(flat.reshape(self.shape), self.layout)

    def array_of_shape(self, *shape: int, turn: int = 0, dtype: str | None = None) -> Any:
        """An array of another shape."""
        return self.with_shape(*shape).array(turn, dtype)

    def square(self, definite: bool = False) -> Any:
        """A regular matrix; a symmetric positive definite one where asked for."""
        matrix = self.array_of_shape(3, 3)
        if self.dtype == "bool":
            return matrix
        with np.errstate(all="ignore"):
            if definite:
                matrix = matrix + np.conjugate(matrix.T)
                return (matrix + np.asarray(20 * np.eye(3), self.dtype)).astype(self.dtype)
            return (matrix + np.asarray(4 * np.eye(3), self.dtype)).astype(self.dtype)


def _values(dtype: str, fill: str, size: int, turn: int) -> Any:
    kind, source = np.dtype(dtype).kind, SPECIAL if fill == "special" else PLAIN
    if kind in "iu" and fill == "special":
        limits = np.iinfo(dtype)
        picked = [limits.min, limits.max, 0, 1, limits.max - 1, 2, 7]
        return np.array([picked[(turn + k) % len(picked)] for k in range(size)], dtype)
    values = np.array([source[(turn + k) % len(source)] for k in range(size)], float)
    if kind == "c":
        with np.errstate(all="ignore"):
            return _complex(values, np.roll(values[::-1], turn + 1)).astype(dtype)
    if kind == "b":
        return values > 0.5
    return np.abs(values).astype(dtype) if kind == "u" else values.astype(dtype)


def _complex(real: Any, imaginary: Any) -> Any:
    """Part by part, so that zeros keep their signs and NaN stays where it is."""
    numbers = np.empty(real.shape, complex)
    numbers.real, numbers.imag = real, imaginary
    return numbers


def _laid_out(array: Any, layout: str) -> Any:
    """The same elements in memory of another layout."""
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "reversed" and array.ndim:
        return array[..., ::-1].copy()[..., ::-1]
    if layout == "broadcast" and array.ndim:
        return np.broadcast_to(array[:1], array.shape) if array.shape[0] else array
    return array


def copy_value(value: Any) -> Any:
    """A copy with the same memory layout, also of arrays in lists and tuples."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(copy_value, value))
    if not isinstance(value, np.ndarray) or 0 in value.strides:
        return value
    if value.flags.forc:
        return value.copy(order="K")
    backwards = any(step < 0 for step in value.strides)
    return _laid_out(np.ascontiguousarray(value), "reversed" if backwards else "strided")
