"""Expresses the NumPy functions that give arrays another shape, or their axes another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.numpy.argument_words import ORDERS, require_word
from tapeless.transforms.ops.numpy.length_arguments import integers, shape_of
from tapeless.transforms.ops.numpy.run_time_errors import require_other_size
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axes_of,
    axis_of,
    known_integer,
    refuse_truth,
)
from tapeless.transforms.ops.primitives.shapes import copy, flatten, move, reshape, transpose


def _reshape(
    a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Any:
    a = as_array(a)
    sizes = list(shape_of(newshape if shape is None else shape))
    require_word(order, ORDERS, "order")
    if order == "F":
        turned = transpose(a, axes=tuple(reversed(range(a.type.ndim))))
        reshaped = _checked_reshape(turned, _filled_in(turned, sizes[::-1]))
        return transpose(reshaped, axes=tuple(reversed(range(len(sizes)))))
    return _checked_reshape(a, _filled_in(a, sizes))


def _checked_reshape(a: Atom, shape: tuple[Size, ...]) -> Any:
    """The array in another shape. What is written as `reshape(-1)` compares no sizes: a length that
    only the run can compare is that of an array that has one axis already."""
    if len(shape) == 1 and dims.product(a.type.shape) != shape[0]:
        a = flatten(a)
    return reshape(a, shape=shape)


def _filled_in(a: Atom, sizes: list[Size]) -> tuple[Size, ...]:
    """A shape for the elements of a, with -1 replaced by what is left."""
    total = dims.product(a.type.shape)
    if sizes.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in sizes:
        k = sizes.index(-1)
        rest = dims.product(s for j, s in enumerate(sizes) if j != k)
        shape = ",".join("newaxis" if n == -1 else str(n) for n in sizes)
        message = f"cannot reshape array of size {total} into shape ({shape})"
        if rest == 0:
            raise ValueError(message)
        require_other_size(rest, 0, ValueError, message)
        sizes[k] = total // rest
    have = dims.product(sizes)
    if have != total and not current().may_fit(have, total):
        raise ShapeError(
            f"cannot reshape array of size {total} into shape {tuple(sizes)}",
            "the product of the new lengths must be the old size: let one of them be -1",
        )
    return tuple(sizes)


def _ravel(a: Any, order: Any = "C") -> Any:
    """The elements as a line: `order` is "C", "F", or the axes, the slowest first."""
    a = as_array(a)
    axes = tuple(range(a.type.ndim))
    if isinstance(order, str):
        require_word(order, ORDERS, "order")
    return flatten(transpose(a, axes={"C": axes, "F": axes[::-1]}.get(order, order)))


def _transpose(a: Any, axes: Any = None) -> Any:
    a = as_array(a)
    n = a.type.ndim
    if isinstance(axes, (int, np.integer)) or (isinstance(axes, Var) and not axes.type.shape):
        axes = (known_integer(axes, "an axis must be known"),)
    axes = range(n)[::-1] if axes is None else integers(axes)
    if len(axes) != n:
        raise ValueError("axes don't match array")
    for k in axes:
        refuse_truth(k)
    return transpose(a, axes=tuple(axis_of(k, n) for k in axes))


def _swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    a = as_array(a)
    order = list(range(a.type.ndim))
    i, j = axis_of(axis1, a.type.ndim), axis_of(axis2, a.type.ndim)
    order[i], order[j] = j, i
    return transpose(a, axes=tuple(order))


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    a = as_array(a)
    return move(a, axes_of(source, a.type.ndim), axes_of(destination, a.type.ndim))


def _rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    a = as_array(a)
    k, to = axis_of(axis, a.type.ndim), axis_of(start, a.type.ndim + 1)
    return move(a, (k,), (to - (k < to),))


def _expand_dims(a: Any, axis: Any) -> Any:
    a = as_array(a)
    extra = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = axes_of(axis, a.type.ndim + extra)
    sizes = iter(a.type.shape)
    shape = (1 if k in places else next(sizes) for k in range(a.type.ndim + extra))
    return reshape(a, shape=tuple(shape))


def _at_least(n: int) -> Any:
    def at_least(*arys: Any) -> Any:
        raised = tuple(raised_to(as_array(a), n) for a in arys)
        return raised[0] if len(raised) == 1 else raised

    return at_least


def raised_to(a: Atom, n: int) -> Any:
    return reshape(a, shape=raised_shape(a.type.shape, n))


def raised_shape(shape: tuple[Size, ...], n: int) -> tuple[Size, ...]:
    """A shape with at least n axes."""
    lead = 1 if n > 1 and len(shape) < 2 else 0  # np.atleast_3d puts vectors in the middle
    lead = max(n - len(shape), 0) if n < 3 else lead
    shape = (1,) * lead + shape
    return shape + (1,) * (n - len(shape))


# -- methods


def _reshape_method(a: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    return _reshape(a, shape[0] if len(shape) == 1 else shape, order)


def _transpose_method(a: Any, *axes: Any) -> Any:
    many = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return _transpose(a, None if many in ((), []) else many)


NUMPY = {
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: lambda x: _swapaxes(x, -1, -2),
    np.swapaxes: _swapaxes,
    np.moveaxis: _moveaxis,
    np.rollaxis: _rollaxis,
    np.expand_dims: _expand_dims,
    np.atleast_1d: _at_least(1),
    np.atleast_2d: _at_least(2),
    np.atleast_3d: _at_least(3),
    np.linalg.matrix_transpose: lambda x: _swapaxes(x, -1, -2),
}


METHODS = {
    "reshape": _reshape_method,
    "transpose": _transpose_method,
    "ravel": _ravel,
    "flatten": lambda a, order="C": copy(_ravel(a, order)),
    "swapaxes": _swapaxes,
}
