"""Defines triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.joining import as_array, axes_of, known_integer
from tapeless.transforms.ops.primitives.new_arrays import count_up, eye
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_of_stack,
    broadcast_to,
    cast,
    cast_to,
    column,
    flatten,
    front,
    linear,
    move,
    row,
    sum,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, update


def _triangular(name: str) -> Op:
    def source(args: Atoms, params: Params) -> str:
        return f"np.{name}({{0}}" + (", {k})" if params["k"] else ")")

    op = linear(name, lambda x, *, k: x.type, source, costly=True, moves=True, batch=batch_of_stack)
    op.transpose = lambda ct, args, linear, params: (op(ct, **params),)
    return op


tril, triu = _triangular("tril"), _triangular("triu")


def _triangle(op: Op) -> Any:
    def cut(m: Any, k: Any = 0) -> Any:
        m, k = as_array(m), known_integer(k, "the diagonal must be known")
        if not m.type.shape:
            raise TypeError("tri() missing 1 required positional argument: 'N'")
        if m.type.ndim == 1:
            m = broadcast_to(m, shape=(m.type.shape[0], m.type.shape[0]))
        return op(m, k=k)

    return cut


# -- diagonals


def diagonal_length(n: Size, m: Size, k: int) -> Size:
    """How many elements the k-th diagonal of an n x m matrix has."""
    rows, columns = (n, m - k) if k >= 0 else (n + k, m)
    return current().length(0, smaller_size(rows, columns))


def smaller_size(a: Size, b: Size) -> Size:
    """The smaller of two axis lengths; which one it is becomes a fact of the program."""
    smaller = current().at_least(b, a)
    return dims.minimum(a, b) if smaller is Ternary.UNKNOWN else a if smaller else b


def _diagonal_infer(x: Atom, *, k: int) -> Type:
    *lead, n, m = x.type.shape
    return Type(x.type.dtype, (*lead, diagonal_length(n, m, k)))


def _diagonal_source(args: Atoms, params: Params) -> str:
    k = params["k"]
    if args[0].type.ndim == 2:
        return f"np.diagonal({{0}}{', {k}' if k else ''})"
    return f"np.diagonal({{0}}, {k}, -2, -1)"


def _store_diagonal(op: Op, base: Atom, values: Atom, k: int) -> Any:
    """Values added or stored along the k-th diagonals."""
    along = count_up(values.type.shape[-1])
    key = (*(slice(None),) * (base.type.ndim - 2), Slot(0), Slot(1))
    return op(base, values, along + max(-k, 0), along + max(k, 0), key=key)


diagonal = linear(
    "diagonal",
    _diagonal_infer,
    _diagonal_source,
    accumulate=lambda total, ct, args, params: _store_diagonal(add_at, total, ct, params["k"]),
    put=lambda base, new, rest, params: _store_diagonal(update, base, new, params["k"]),
    view=True,
    batch=batch_of_stack,
)


def _diag_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """Each vector along the diagonal of a matrix of its own, zeros elsewhere."""
    x, k = front(args[0], axes[0]), params["k"]
    x = pad(x, before=(0, 0), after=(0, abs(k))) if k else x
    n = x.type.shape[1]
    on = eye(sides=(n, n), k=k, dtype=np.dtype(bool))
    return select(on, column(x) if k >= 0 else row(x), x.type.dtype.type(0)), 0


diag = linear(
    "diag",
    lambda x, *, k: Type(x.type.dtype, (x.type.shape[0] + abs(k),) * 2),
    lambda args, params: "np.diag({0}" + (", {k})" if params["k"] else ")"),
    lambda ct, args, linear, params: (diagonal(ct, **params),),
    batch=_diag_batch,
)


def _diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    a, k = as_array(a), known_integer(offset, "the offset must be known")
    axes = axes_of((axis1, axis2), a.type.ndim)
    return diagonal(move(a, axes, (a.type.ndim - 2, a.type.ndim - 1)), k=k)


def _diag(v: Any, k: Any = 0) -> Any:
    v, k = as_array(v), known_integer(k, "the diagonal must be known")
    if v.type.ndim not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    return diag(v, k=k) if v.type.ndim == 1 else diagonal(v, k=k)


# -- traces


def _trace_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    t = args[0].type
    return (mul(ct, eye(sides=t.shape, k=params["k"], dtype=ct.type.dtype)),)


trace = linear(
    "trace",
    lambda x, *, k: Type(np.trace(np.zeros((1, 1), x.type.dtype)).dtype),
    lambda args, params: "np.trace({0}" + (", {k})" if params["k"] else ")"),
    _trace_transpose,
    costly=True,
    batch=lambda op, args, axes, params: (
        sum(diagonal(front(args[0], axes[0]), **params), axes=(1,), keepdims=False),
        0,
    ),
)


def _trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    a = as_array(a)
    if a.type.ndim == 2 and axes_of((axis1, axis2), 2) == (0, 1) and dtype is None:
        return trace(a, k=known_integer(offset, "the offset must be known"))
    diagonals = _diagonal(a, offset, axis1, axis2)
    diagonals = diagonals if dtype is None else cast(diagonals, dtype=np.dtype(dtype))
    total = sum(diagonals, axes=(diagonals.type.ndim - 1,), keepdims=False)
    return total if dtype is None else cast_to(total, np.dtype(dtype))


NUMPY = {
    np.tril: _triangle(tril),
    np.triu: _triangle(triu),
    np.diagonal: _diagonal,
    np.diag: _diag,
    np.diagflat: lambda v, k=0: _diag(flatten(as_array(v)), k),
    np.trace: _trace,
    np.linalg.diagonal: lambda x, *, offset=0: _diagonal(x, offset, -2, -1),
    np.linalg.trace: lambda x, *, offset=0, dtype=None: _trace(x, offset, -2, -1, dtype),
}


METHODS = {
    "diagonal": _diagonal,
    "trace": _trace,
}
