"""Says where the numbers of an array are in C: memory, an offset, lengths and strides.

x[:, 1], of rows of 3      becomes      Strided("x", lengths (x_0,), strides (3,), offset 1)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import product
from tapeless.transforms.c_text.values import SUM, CValue, constant
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

ZERO = constant(0)
Steps = tuple[CValue, ...]  # how far elements are from each other along each axis of a loop


@dataclass(frozen=True)
class Strided:
    """Where the numbers of an array are. `offset` and `strides` are counted in numbers.

    memory  the name of the memory that it is in
    """

    memory: str
    dtype: Dtype
    lengths: tuple[CValue, ...]
    strides: tuple[CValue, ...]
    offset: CValue = ZERO

    @classmethod
    def row_by_row(cls, memory: str, dtype: Dtype, lengths: Sequence[CValue]) -> Strided:
        """An array that has memory of its own, and whose rows follow each other."""
        return cls(memory, dtype, tuple(lengths), row_strides(lengths))

    @property
    def pointer(self) -> str:
        """Where it begins."""
        return (
            self.memory if self.offset.known == 0 else f"{self.memory} + {self.offset.operand(SUM)}"
        )

    @property
    def is_whole(self) -> bool:
        """Whether it lies row by row."""
        return self.strides == row_strides(self.lengths)

    def element(self, place: CValue) -> str:
        """The number that is so far behind the first one."""
        return f"{self.memory}[{sum_of(self.offset, place).text}]"


def sum_of(a: CValue, b: CValue) -> CValue:
    """a + b, where either may be nothing."""
    if 0 in (a.known, b.known):
        return b if a.known == 0 else a
    return arithmetic.binary(ast.Add(), a, b)


def product_of(a: CValue, b: CValue) -> CValue:
    """a * b, where either may be nothing, or one."""
    for x, other in ((a, b), (b, a)):
        if other.known == 0:
            return other
        if other.known == 1:
            return x
    return arithmetic.binary(ast.Mult(), a, b)


def row_strides(lengths: Sequence[CValue]) -> tuple[CValue, ...]:
    """The strides of an array whose rows follow each other."""
    return tuple(product(lengths[k + 1 :]) for k in range(len(lengths)))
