"""Simplifies operations that change shapes only, alone and around arithmetic.

a = np.broadcast_to(1.0, x.shape); b = a * x becomes      b = x
"""

from __future__ import annotations

from operator import ne
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import broadcast, defining_statement
from tapeless.transforms.core.language import Let, Literal
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.optimize.algebra.facts import Uses, is_float, is_read_once, same_shape


def spread_twice(s: Let, uses: Uses) -> Any:
    let = defining_statement(s.args[0], shapes.broadcast_to)
    return None if let is None else shapes.broadcast_to(let.args[0], **s.params)


def spread_scalar(s: Let, uses: Uses) -> Any:
    """A scalar that was spread is as good in any shape."""
    let = defining_statement(s.args[0], shapes.broadcast_to)
    if let is None or let.args[0].type.shape:
        return None
    return shapes.broadcast_to(let.args[0], shape=s.outs[0].type.shape)


def reshaped_twice(s: Let, uses: Uses) -> Any:
    let = defining_statement(s.args[0], shapes.reshape)
    if let is None or (_compares(s) and let.args[0].type.ndim > 1):
        return None
    return shapes.reshape(let.args[0], **s.params)


def _compares(s: Let) -> bool:
    """Whether NumPy compares a length that only the run knows with that of a line of elements;
    of an array of several axes, `reshape(-1)` compares nothing."""
    (x,), shape = s.args, s.params["shape"]
    return len(shape) == 1 == x.type.ndim and bool(x.type.shape != shape)


def reshaped_element(s: Let, uses: Uses) -> Any:
    """x[-1:] without the axis of its one element is x[-1]."""
    let = defining_statement(s.args[0], index)
    if let is None or len(let.args) > 1 or not is_read_once(s.args[0], uses):
        return None
    key, shape = let.params["key"], s.args[0].type.shape
    for k, e in enumerate(key):
        if not isinstance(e, slice):
            return None
        start = 0 if e.start is None else e.start
        rest = (*shape[:k], *shape[k + 1 :])
        if shape[k] == 1 and rest == s.outs[0].type.shape and isinstance(start, int):
            return index(let.args[0], key=(*key[:k], start, *key[k + 1 :]))
    return None


def reshaped_sum(s: Let, uses: Uses) -> Any:
    """sum(x, axis=0, keepdims=True) without that axis is sum(x, axis=0)."""
    let = defining_statement(s.args[0], shapes.sum)
    if let is None or not let.params["keepdims"] or not is_read_once(s.args[0], uses):
        return None
    axes, shape = let.params["axes"], s.outs[0].type.shape
    kept_shape = tuple(n for k, n in enumerate(let.args[0].type.shape) if k not in axes)
    # as many elements: one size may have another name
    alike = same_shape(kept_shape, shape) and [*map(ne, kept_shape, shape)].count(True) < 2
    return shapes.sum(let.args[0], axes=axes, keepdims=False) if alike and kept_shape else None


def transposed_product(s: Let, uses: Uses) -> Any:
    """(a.T @ b).T is b.T @ a, for matrices."""
    let = defining_statement(s.args[0], matmul)
    if let is None or not is_read_once(s.args[0], uses) or s.params["axes"] != (1, 0):
        return None
    x, y = let.args
    if (
        x.type.ndim != 2
        or y.type.ndim != 2
        or not (defining_statement(x, shapes.transpose) or defining_statement(y, shapes.transpose))
    ):
        return None
    return matmul(shapes.transpose(y, axes=(1, 0)), shapes.transpose(x, axes=(1, 0)))


def transposed_twice(s: Let, uses: Uses) -> Any:
    let = defining_statement(s.args[0], shapes.transpose)
    if let is None:
        return None
    inner = let.params["axes"]
    return shapes.transpose(let.args[0], axes=tuple(inner[k] for k in s.params["axes"]))


def needless_spreading(s: Let, uses: Uses) -> Any:
    """broadcast_to(a) * b needs no broadcast_to if b has the full shape already; if b is a scalar,
    the product is spread."""
    shape = s.outs[0].type.shape
    if not shape:
        return None
    inner = [defining_statement(a, shapes.broadcast_to) for a in s.args]
    spread = [k for k, let in enumerate(inner) if let is not None]
    if not spread:
        return None
    small = [a if let is None else let.args[0] for a, let in zip(s.args, inner, strict=True)]
    if same_shape(broadcast(*(a.type.shape for a in small)), shape):
        return s.op(*small)
    if any(a.type.shape for k, a in enumerate(s.args) if k not in spread):
        return None
    return shapes.broadcast_to(s.op(*small), shape=shape)


def _is_finite(factor: Literal, op: Op) -> bool:
    value = factor.value
    return not factor.type.shape and bool(np.isfinite(value)) and (op is mul or bool(value))


def constant_before_sum(s: Let, uses: Uses) -> Any:
    """sum(c x) is c sum(x) for a scalar c."""
    (x,) = s.args
    let = defining_statement(x, mul, truediv)
    if let is None or not is_read_once(x, uses) or not is_float(x, *let.args):
        return None
    a, b = let.args
    if any(e.type.shape and e.type.dtype != x.type.dtype for e in (a, b)):
        return None  # the sum would be less precise
    if x.type.dtype.itemsize == 2:
        return None  # sums of float16 leave its range soon
    some = all(dims.at_least(x.type.shape[k], 1) for k in s.params["axes"])
    if not some and not any(isinstance(e, Literal) and _is_finite(e, let.op) for e in (a, b)):
        return None  # the sum of nothing is 0, whatever the scalar is
    if b.type.shape == () and a.type.shape:
        return let.op(shapes.sum(a, **s.params), b)
    if let.op is mul and a.type.shape == () and b.type.shape:
        return mul(a, shapes.sum(b, **s.params))
    return None
