"""Says where the matrices are that kernels multiply: whole arrays, parts of them, transposed ones.

product(a, x[:, 3:6].T, out)      becomes      product_f64(n, 9, 3, a, 3, 1, x + 3, 1, 9, out)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tapeless.transforms.c.strided import ZERO, product_of, row_strides, sum_of
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import ExpressionPrinter
from tapeless.transforms.c_text.values import SUM, CArray, CValue, NotPrintedError
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype


@dataclass(frozen=True)
class KernelMatrix:
    """`lengths` are those of rows and columns, `strides` how far they are from each other."""

    pointer: str
    dtype: Dtype
    lengths: tuple[CValue, ...]
    strides: tuple[CValue, ...]

    @property
    def transpose(self) -> KernelMatrix:
        return replace(self, lengths=self.lengths[::-1], strides=self.strides[::-1])

    @property
    def texts(self) -> list[str]:
        """Where it is, as functions of C are told."""
        return [self.pointer, *(n.text for n in self.strides)]


def matrix_of(writer: ExpressionPrinter, e: ast.expr) -> KernelMatrix:
    """The matrix that an expression of a kernel means."""
    match e:
        case ast.Attribute(value=inner, attr="T"):
            return matrix_of(writer, inner).transpose
        case ast.Subscript(value=owner, slice=ast.Tuple(elts=axes)):
            matrix = _part(writer, owner, axes)
        case ast.Subscript(value=owner, slice=axis):
            matrix = _part(writer, owner, [axis])
        case _:
            matrix = _part(writer, e, [])
    if len(matrix.lengths) != 2:
        raise NotPrintedError(ast.unparse(e))
    return matrix


def _part(writer: ExpressionPrinter, owner: ast.expr, axes: list[ast.expr]) -> KernelMatrix:
    """A part of an array, by an index or a slice for each axis; others are whole."""
    x = writer.value(owner)
    if not isinstance(x, CArray) or x.where in ("interleaved", "growing"):
        raise NotPrintedError(ast.unparse(owner))
    whole = [ast.Slice()] * (len(x.lengths) - len(axes))
    offset, lengths, strides = ZERO, [], []
    for k, (axis, stride) in enumerate(zip([*axes, *whole], row_strides(x.lengths), strict=True)):
        if isinstance(axis, ast.Slice):
            start = ZERO if axis.lower is None else writer.number(axis.lower)
            stop = x.lengths[k] if axis.upper is None else writer.number(axis.upper)
            if axis.step is not None or (isinstance(start.known, int) and start.known < 0):
                raise NotPrintedError(f"an index of {x.name}")
            lengths.append(_difference(stop, start))
            strides.append(stride)
        else:
            start = writer.place(x, k, axis)
        offset = sum_of(offset, product_of(start, stride))
    pointer = x.pointer if offset.known == 0 else f"{x.pointer} + {offset.operand(SUM)}"
    return KernelMatrix(pointer, x.dtype, tuple(lengths), tuple(strides))


def _difference(stop: CValue, start: CValue) -> CValue:
    return stop if start.known == 0 else arithmetic.binary(ast.Sub(), stop, start)
