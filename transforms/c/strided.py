"""Says where the numbers of an array are in C: a pointer, lengths and strides.

x[:, 1], of rows of 3      becomes      Strided("x + 1", lengths (x_0,), strides (3,))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.values import Value
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype


@dataclass(frozen=True)
class Strided:
    """Where the numbers of an array are: `strides` are counted in numbers."""

    pointer: str
    dtype: Dtype
    lengths: tuple[Value, ...]
    strides: tuple[Value, ...]

    @classmethod
    def row_by_row(cls, pointer: str, dtype: Dtype, lengths: Sequence[Value]) -> Strided:
        """An array whose rows follow each other."""
        return cls(pointer, dtype, tuple(lengths), row_strides(lengths))

    @property
    def is_whole(self) -> bool:
        """Whether it lies row by row."""
        return self.strides == row_strides(self.lengths)

    @property
    def root(self) -> str:
        """The name of the memory that it is a part of."""
        return self.pointer.partition(" ")[0]


def row_strides(lengths: Sequence[Value]) -> tuple[Value, ...]:
    """The strides of an array whose rows follow each other."""
    return tuple(product(lengths[k + 1 :]) for k in range(len(lengths)))
