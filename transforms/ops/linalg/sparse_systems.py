"""Defines the operation that solves systems of equations whose matrix is given by its entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import join
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.primitives.arithmetic import mul, sub
from tapeless.transforms.ops.primitives.index_keys import Slot
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.lapack_types import lapack_dtype
from tapeless.transforms.ops.primitives.new_arrays import zero
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, column
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at
from tapeless.transforms.prelude.sparse.systems import solve_entries

SOURCE = '''
def solve_entries(data, rows, cols, b):
    """The solution of A x = b, where A is the sum of data[k] at rows[k], cols[k]. The factors of
    the last matrix are kept for more systems with it, or with its transpose."""
    for entries, factors in vars(solve_entries).get("last", ()):
        for trans, places in (("N", (rows, cols)), ("T", (cols, rows))):
            if all(map(np.array_equal, entries, (data, *places))):
                return factors.solve(b, trans)
    matrix = scipy.sparse.csc_matrix((data, (rows, cols)), shape=(len(b), len(b)))
    try:
        factors = scipy.sparse.linalg.splu(matrix)
    except RuntimeError:  # it is singular, as spsolve warns
        return scipy.sparse.linalg.spsolve(matrix, b)
    solve_entries.last = [((data.copy(), rows.copy(), cols.copy()), factors)]
    return factors.solve(b)
'''


def _infer(data: Atom, rows: Atom, cols: Atom, b: Atom) -> Type:
    return Type(np.result_type(lapack_dtype(data), b.type.dtype), b.type.shape)


def _product(data: Atom, rows: Atom, cols: Atom, x: Atom) -> Any:
    """The matrix of these entries times x, subtracted from zero."""
    entries = get(x, (cols,))
    moved = mul(column(data) if x.type.ndim == 2 else data, entries)
    key = (Slot(0), slice(None)) if x.type.ndim == 2 else (Slot(0),)
    return add_at(zero(Type(moved.type.dtype, x.type.shape)), moved, rows, key=key)


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    data, rows, cols, _ = primals
    right = tangents[3]
    if tangents[0] is not None:
        moved = _product(tangents[0], rows, cols, outs[0])
        right = sub(zero(moved.type) if right is None else right, moved)
    return (None if right is None else solve(data, rows, cols, right),)


def _transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    data, rows, cols, _ = args
    return (None, None, None, solve(data, cols, rows, ct))


solve: Op = Op(
    "solve_entries",
    _infer,
    lambda args, params: ("solve_entries({0}, {1}, {2}, {3})", SOURCE),
    _jvp,
    _transpose,
    costly=True,
)


def _solve(data: Any, rows: Any, cols: Any, b: Any) -> Any:
    data, rows, cols, b = map(as_array, (data, rows, cols, b))
    if b.type.ndim not in (1, 2):
        raise ArgumentError("the right-hand side of a sparse system has one axis or two")
    for other in (rows, cols):
        join(data.type.shape[0], other.type.shape[0])
    dtype = np.result_type(lapack_dtype(data), b.type.dtype)
    return solve(cast_to(data, dtype), rows, cols, cast_to(b, dtype))


NUMPY: dict[Any, Any] = {solve_entries: _solve}
