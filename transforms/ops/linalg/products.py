"""Defines products of matrices and vectors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import broadcast, current, defining_statement, join, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.numpy.run_time_errors import require_size
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.dtypes import result_dtype
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.joining import as_array, axes_of, axis_of, stack
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    axis_to_end,
    batch_first,
    cast_to,
    column,
    flatten,
    front,
    reshape,
    row,
    sum,
    sum_to,
    swap,
    transpose,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import index

Shape = tuple[Size, ...]


def _matmul_infer(a: Atom, b: Atom) -> Type:
    s, t = a.type.shape, b.type.shape
    if not s or not t:
        raise ShapeError("matmul: an operand is a scalar", "use * instead")
    _check_summed("matmul", s, t, (s[-1], t[-2] if len(t) > 1 else t[0]))
    lead = broadcast(s[:-2], t[:-2])
    shape = (*lead, *s[-2:-1], *t[-1:]) if len(t) > 1 else (*lead, *s[-2:-1])
    return Type(result_dtype(np.matmul, (a.type, b.type)), shape)


def _check_summed(name: str, s: Shape, t: Shape, summed: tuple[Size, Size]) -> None:
    """The two lengths of the axis that a product sums over are equal: none is stretched."""
    left, right = summed
    if left != right and not current().same_size(left, right):
        raise ShapeError(
            f"{name}: shapes {_show(s)} and {_show(t)} do not fit: {left} and {right} differ",
            "transpose or reshape one of them",
        )


def _show(shape: Shape) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _matmul_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    (a, b), (a_dot, b_dot) = primals, tangents
    left = None if a_dot is None else matmul(a_dot, b)
    right = None if b_dot is None else matmul(a, b_dot)
    return (left if right is None else right if left is None else add(left, right),)


def _matmul_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    a, b = args
    return (_left_bar(ct, a, b) if linear[0] else None, _right_bar(ct, a, b) if linear[1] else None)


def _left_bar(ct: Atom, a: Atom, b: Atom) -> Any:
    if b.type.ndim == 1:
        return mul(column(ct), b) if a.type.ndim > 1 else mul(ct, b)
    if a.type.ndim == 1:
        if b.type.ndim == 2:
            return matmul(b, ct)
        return sum_to(_vector(matmul(b, column(ct))), a.type)
    return sum_to(matmul(ct, swap(b)), a.type)


def _right_bar(ct: Atom, a: Atom, b: Atom) -> Any:
    if a.type.ndim == 1:
        if b.type.ndim == 1:
            return mul(ct, a)
        return mul(column(a), ct if b.type.ndim == 2 else row(ct))
    if b.type.ndim == 1:
        if a.type.ndim == 2:
            return matmul(swap(a), ct)
        return sum_to(_vector(matmul(swap(a), column(ct))), b.type)
    if b.type.ndim == 2 and a.type.ndim > 2:  # the rows of all matrices are those of one
        rows = dims.product(a.type.shape[:-1])
        left, right = (reshape(x, shape=(rows, x.type.shape[-1])) for x in (a, ct))
        return matmul(swap(left), right)
    return sum_to(matmul(swap(a), ct), b.type)


def _vector(x: Atom) -> Any:
    return reshape(x, shape=x.type.shape[:-1])


def _matmul_simplify(args: Atoms, params: Params) -> Any:
    """A sign goes in front of the product."""
    for k, a in enumerate(args):
        let = defining_statement(a)
        if let is not None and let.op is neg and args[0].type.dtype == args[1].type.dtype:
            return neg(matmul(*args[:k], let.args[0], *args[k + 1 :]))
    return None


def _matmul_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """One product of matrices wherever an operand is the same for all elements."""
    (a, b), (i, j) = args, axes
    m, n = a.type.ndim - (i is not None), b.type.ndim - (j is not None)
    if j is None and n <= 2 and (i < m or m == 2):
        return _shared_right(a, i, m, b)
    if i is None and m <= 2 and n == 1:
        return _shared_left(a, b, j)
    if i is not None and j is not None and 1 in (m, n) and m + n <= 3:
        letters = ("bk" if m == 1 else "bik", "bk" if n == 1 else "bkj")
        out = "b" + "i" * (m == 2) + "j" * (n == 2)
        subscripts = f"{letters[0]},{letters[1]}->{out}"
        return einsum(front(a, i), front(b, j), subscripts=subscripts, optimize=False), 0
    return _stacked_product(a, i, m, b, j, n), 0


def _shared_right(a: Atom, i: int, m: int, b: Atom) -> Batched:
    """The rows of a batch are the rows of one matrix."""
    if i == m:
        a, i = front(a, i), 0
    return matmul(a, b), i


def _shared_left(a: Atom, b: Atom, j: int) -> Batched:
    """A batch of vectors is a matrix, of which they are the rows or the columns."""
    if a.type.ndim == 1:
        return (matmul(b, a) if j == 0 else matmul(a, b)), 0
    return (matmul(b, transpose(a, axes=(1, 0))), 0) if j == 0 else (matmul(a, b), 1)


def _stacked_product(a: Atom, i: Any, m: int, b: Atom, j: Any, n: int) -> Any:
    """Products of stacks of matrices, which broadcast; vectors are matrices for the time being."""
    wide_a = row(a) if m == 1 and i is None else front(a, i)
    wide_b = front(b, j)
    if m == 1 and i is not None:
        wide_a = row(wide_a)
    if n == 1:
        wide_b = column(wide_b)
    ndim = max(m, n, 2)
    left = batch_first(wide_a, None if i is None else 0, ndim)
    right = batch_first(wide_b, None if j is None else 0, ndim)
    products = matmul(left, right)
    lead = products.type.shape[:-2]
    inner = (*products.type.shape[-2:-1] * (m > 1), *products.type.shape[-1:] * (n > 1))
    return products if m > 1 and n > 1 else reshape(products, shape=(*lead, *inner))


matmul: Op = Op(
    "matmul",
    _matmul_infer,
    "{0} @ {1}",
    _matmul_jvp,
    _matmul_transpose,
    costly=True,
    simplify=_matmul_simplify,
    batch=_matmul_batch,
    word="product",
)


# The NumPy functions ---------------------------------------------------------------------------


def _matmul(x1: Any, x2: Any) -> Any:
    return matmul(as_array(x1), as_array(x2))


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = as_array(a), as_array(b)
    if not a.type.shape or not b.type.shape:
        return _multiply_by_number(a, b)
    if b.type.ndim <= 2:
        return matmul(a, b)
    return contract(a, b, (a.type.ndim - 1,), (b.type.ndim - 2,))


def _multiply_by_number(a: Atom, b: Atom) -> Any:
    """The product with a number, which is an array to these functions, and so is not weak."""
    dtype = np.result_type(a.type.dtype, b.type.dtype)
    return mul(cast_to(a, dtype), cast_to(b, dtype))


def contract(a: Atom, b: Atom, left: tuple[int, ...], right: tuple[int, ...]) -> Any:
    """The sum of products over pairs of axes: one product of matrices."""
    keep_a = tuple(k for k in range(a.type.ndim) if k not in left)
    keep_b = tuple(k for k in range(b.type.ndim) if k not in right)
    shape_a = tuple(a.type.shape[k] for k in keep_a)
    shape_b = tuple(b.type.shape[k] for k in keep_b)
    if not left:
        return reshape(mul(column(flatten(a)), flatten(b)), shape=(*shape_a, *shape_b))
    size = dims.product(a.type.shape[k] for k in left)
    for i, j in zip(left, right, strict=True):
        join(a.type.shape[i], b.type.shape[j])
    a = reshape(transpose(a, axes=(*keep_a, *left)), shape=(*_merge_axes(shape_a), size))
    b = reshape(transpose(b, axes=(*right, *keep_b)), shape=(size, *_merge_axes(shape_b)))
    return reshape(matmul(a, b), shape=(*shape_a, *shape_b))


def _merge_axes(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """The axes that are not contracted, as one; none if there are none."""
    return (dims.product(shape),) if shape else ()


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = as_array(a), as_array(b)
    if not isinstance(axes, (tuple, list)):
        n = int(static(axes, "the number of axes must be known"))
        return contract(a, b, tuple(range(a.type.ndim - n, a.type.ndim)), tuple(range(n)))
    return contract(a, b, axes_of(axes[0], a.type.ndim), axes_of(axes[1], b.type.ndim))


def _inner(a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    if not a.type.shape or not b.type.shape:
        return _multiply_by_number(a, b)
    if b.type.ndim == 1:
        return matmul(a, b)
    if b.type.ndim == 2:
        return matmul(a, swap(b))
    return contract(a, b, (a.type.ndim - 1,), (b.type.ndim - 1,))


def conjugate_if_complex(a: Atom) -> Any:
    return conjugate(a) if a.type.dtype.kind == "c" else a


def adjoint(a: Atom) -> Any:
    """The conjugate transpose of each matrix."""
    return conjugate_if_complex(swap(a))


def _vdot(a: Any, b: Any) -> Any:
    return matmul(conjugate_if_complex(flatten(as_array(a))), flatten(as_array(b)))


def _vecdot(x1: Any, x2: Any, axis: Any = -1) -> Any:
    a, b = as_array(x1), as_array(x2)
    a, b = (axis_to_end(x, axis_of(axis, x.type.ndim)) for x in (a, b))
    _check_summed("vecdot", a.type.shape, b.type.shape, (a.type.shape[-1], b.type.shape[-1]))
    products = mul(conjugate_if_complex(a), b)
    total = sum(products, axes=(products.type.ndim - 1,), keepdims=False)
    return cast_to(total, products.type.dtype)  # sums of small integers are wide, products are not


def _matvec(x1: Any, x2: Any) -> Any:
    return _vector(matmul(as_array(x1), column(as_array(x2))))


def _vecmat(x1: Any, x2: Any) -> Any:
    row_product = matmul(row(conjugate_if_complex(as_array(x1))), as_array(x2))
    return reshape(row_product, shape=(*row_product.type.shape[:-2], row_product.type.shape[-1]))


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    return mul(column(flatten(as_array(a))), flatten(as_array(b)))


def _kron(a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    n = max(a.type.ndim, b.type.ndim)
    s, t = ((1,) * (n - x.type.ndim) + x.type.shape for x in (a, b))
    wide_a = tuple(size for k in range(n) for size in (s[k], 1))
    wide_b = tuple(size for k in range(n) for size in (1, t[k]))
    product = mul(reshape(a, shape=wide_a), reshape(b, shape=wide_b))
    return reshape(product, shape=tuple(x * y for x, y in zip(s, t, strict=True)))


def _cross(
    a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array(a), as_array(b)
    a, b = axis_to_end(a, axis_of(axisa, a.type.ndim)), axis_to_end(b, axis_of(axisb, b.type.ndim))
    (a0, a1, a2), (b0, b1, b2) = _components(a), _components(b)
    normal = a0 * b1 - a1 * b0
    if a2 is None and b2 is None:
        return normal
    pieces = [_area(a1, b2, a2, b1), _area(a2, b0, a0, b2), normal]
    return stack(pieces, axis_of(axisc, pieces[0].type.ndim + 1))


def _cross_of_space(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    a, b = as_array(x1), as_array(x2)
    message = "Both input arrays must be (arrays of) 3-dimensional vectors"
    for x in (a, b):
        require_size(x.type.shape[axis_of(axis, x.type.ndim)], 3, ValueError, message)
    return _cross(a, b, axis=axis)


def _components(x: Any) -> list[Any]:
    """The parts of vectors along the last axis, of which the third may be missing."""
    length = x.type.shape[-1]
    if length in (0, 1) or (isinstance(length, int) and length not in (2, 3)):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    n = 3 if current().may_fit(length, 3) or length == 3 else 2
    join(length, n)
    parts = [index(x, key=(*(slice(None),) * (x.type.ndim - 1), k)) for k in range(n)]
    return parts if n == 3 else [*parts, None]


def _area(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a b - c d, where None is zero."""
    if a is None or b is None:
        return -(c * d)
    return a * b if c is None or d is None else a * b - c * d


def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    return functools.reduce(matmul, map(as_array, arrays))


NUMPY = {
    np.matmul: _matmul,
    np.dot: _dot,
    np.outer: _outer,
    np.tensordot: _tensordot,
    np.inner: _inner,
    np.vdot: _vdot,
    np.vecdot: _vecdot,
    np.matvec: _matvec,
    np.vecmat: _vecmat,
    np.kron: _kron,
    np.cross: _cross,
    np.linalg.multi_dot: _multi_dot,
    np.linalg.matmul: _matmul,
    np.linalg.outer: _outer,
    np.linalg.tensordot: _tensordot,
    np.linalg.cross: _cross_of_space,
    np.linalg.vecdot: lambda x1, x2, *, axis=-1: _vecdot(x1, x2, axis),
}
METHODS = {"dot": _dot}
