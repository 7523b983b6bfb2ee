"""Lowers products of matrices in what Numba compiles to calls of the BLAS.

The helper `product` of emitted modules calls `numpy.dot`, for which Numba checks types and sizes
and asks SciPy for its BLAS. Here it is a call of a function of addresses, lengths and strides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import populate_array

from tapeless.backends.cpu.llvm.gemm import POINTER, ProductBuilder, StridedMatrix

KINDS = {types.float32: "s", types.float64: "d"}


def product(a: Any, b: Any, out: Any) -> None:
    """out = a @ b, of matrices, added up in any order."""
    np.dot(a, b, out)


@type_callable(product)  # type: ignore[untyped-decorator]
def _type_product(context: Any) -> Callable[..., Any]:
    def infer_type(*kinds: Any) -> Any:
        matrices = all(isinstance(t, types.Array) and t.ndim == 2 for t in kinds)
        if not matrices or len({t.dtype for t in kinds}) > 1 or kinds[0].dtype not in KINDS:
            return None
        return types.none

    return lambda a, b, out: infer_type(a, b, out)


@lower_builtin(product, types.Array, types.Array, types.Array)  # type: ignore[untyped-decorator]
def _lower_product(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    a, b, out = (
        _matrix(context, builder, t, value) for t, value in zip(sig.args, args, strict=True)
    )
    wanted = (out.rows, out.columns, a.columns)
    places = [v for x in (a, b, out) for v in (x.start, x.down, x.along)]
    function = ProductBuilder.function(builder.module, KINDS[sig.args[0].dtype])
    function.linkage = "linkonce_odr"
    builder.call(function, [*wanted, *places])
    return context.get_dummy_value()


def matrix(a: Any, rows: Any, columns: Any) -> Any:
    """The numbers of an array as a matrix."""
    return a.reshape((rows, columns))


@type_callable(matrix)  # type: ignore[untyped-decorator]
def _type_matrix(context: Any) -> Callable[..., Any]:
    def infer_type(a: Any, rows: Any, columns: Any) -> Any:
        whole = isinstance(a, types.Array) and a.layout == "C"
        return types.Array(a.dtype, 2, "C") if whole else None

    return infer_type


@lower_builtin(matrix, types.Array, types.Integer, types.Integer)  # type: ignore[untyped-decorator]
def _lower_matrix(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    vector = context.make_array(sig.args[0])(context, builder, args[0])
    lengths = [
        context.cast(builder, n, kind, types.intp)
        for n, kind in zip(args[1:], sig.args[1:], strict=True)
    ]
    size = vector.itemsize
    matrix = context.make_array(sig.return_type)(context, builder)
    steps = (builder.mul(lengths[1], size), size)
    populate_array(matrix, vector.data, lengths, steps, size, meminfo=None)
    return matrix._getvalue()


def _matrix(context: Any, builder: Any, kind: Any, value: Any) -> StridedMatrix:
    array = context.make_array(kind)(context, builder, value)
    lengths = cgutils.unpack_tuple(builder, array.shape, 2)
    strides = cgutils.unpack_tuple(builder, array.strides, 2)
    return StridedMatrix(builder.bitcast(array.data, POINTER), *strides, *lengths)
