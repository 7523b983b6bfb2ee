"""Reshapes, transposes, broadcasts, joins and splits arrays, with the names of jax.lax."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np

from tapeless.lax.loop_body_types import checked_axis
from tapeless.lax.operand_checks import (
    checked_array,
    checked_axes,
    checked_join,
    checked_pieces,
    checked_shape,
)
from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def reshape(operand: Any, new_sizes: Any, dimensions: Any = None) -> Any:
    """The elements in another shape.

    operand     an array
    new_sizes   the new shape, as many elements as before
    dimensions  the order of axes in which elements are taken; that of the array by default

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.reshape(np.arange(4), (2, 2))
    array([[0, 1],
           [2, 3]])
    """
    x = checked_array("reshape", operand)
    shape = checked_shape("reshape", new_sizes)
    if dimensions is not None:
        x = np.transpose(x, tuple(dimensions))
    return np.reshape(x, shape)


def transpose(operand: Any, permutation: Any) -> Any:
    """The axes in another order.

    operand      an array
    permutation  for each new axis the number of the old one

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.transpose(np.ones((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    x = checked_array("transpose", operand)
    order = tuple([operator.index(k) for k in permutation])
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentTypeError(
            f"lax.transpose: {order} is no permutation of the numbers of {x.ndim} axes"
        )
    return np.transpose(x, order)


def squeeze(array: Any, dimensions: Any) -> Any:
    """The array without some axes of length 1.

    array       an array
    dimensions  the axes; ValueError where one is longer

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.squeeze(np.ones((1, 3)), (0,)).shape
    (3,)
    """
    x = checked_array("squeeze", array)
    return np.squeeze(x, checked_axes("squeeze", dimensions, x.ndim))


def expand_dims(array: Any, dimensions: Any) -> Any:
    """The array with new axes of length 1.

    array       an array
    dimensions  the places of the new axes in the new shape

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.expand_dims(np.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    x = checked_array("expand_dims", array)
    axes = tuple(dimensions)
    return np.expand_dims(x, checked_axes("expand_dims", axes, x.ndim + len(axes)))


def collapse(operand: Any, start_dimension: int, stop_dimension: Any = None) -> Any:
    """The axes start:stop as one.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.collapse(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = checked_array("collapse", operand)
    first, last, _ = slice(start_dimension, stop_dimension).indices(x.ndim)
    if first >= last:
        raise ArgumentTypeError(f"lax.collapse: {first}:{last} are no axes of {x.ndim}")
    return np.reshape(x, (*x.shape[:first], math.prod(x.shape[first:last]), *x.shape[last:]))


def broadcast(operand: Any, sizes: Any) -> Any:
    """The array repeated along new axes in front.

    operand  an array
    sizes    the lengths of the new axes

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.broadcast(np.array([1, 2]), (2,))
    array([[1, 2],
           [1, 2]])
    """
    x = checked_array("broadcast", operand)
    return np.broadcast_to(x, (*checked_shape("broadcast", sizes), *x.shape))


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Any) -> Any:
    """The array repeated to a shape.

    operand               an array
    shape                 the new shape
    broadcast_dimensions  for each axis of the array the new axis that it becomes, in growing order;
                          it keeps its length, or has length 1

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    x = checked_array("broadcast_in_dim", operand)
    shape = checked_shape("broadcast_in_dim", shape)
    places = tuple([operator.index(k) for k in broadcast_dimensions])
    if len(places) != x.ndim or list(places) != sorted(set(places)):
        raise ArgumentTypeError(
            f"lax.broadcast_in_dim: takes a growing number for each of {x.ndim} axes, not {places}"
        )
    new = checked_axes("broadcast_in_dim", places, len(shape))
    return np.broadcast_to(
        np.expand_dims(x, tuple([k for k in range(len(shape)) if k not in new])), shape
    )


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """The array repeated to the shape of another one, by NumPy's rules.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.broadcast_like(np.ones(3), np.zeros((2, 3))).shape
    (2, 3)
    """
    return np.broadcast_to(arr, np.shape(like_arr))


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """The array with axes of length 1 in front, so that it has so many in all.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.broadcast_to_rank(np.ones(3), 3).shape
    (1, 1, 3)
    """
    x = checked_array("broadcast_to_rank", x)
    return np.reshape(x, (*(1,) * (rank - x.ndim), *x.shape))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together; ValueError where there is none.

    >>> from tapeless import lax
    >>> lax.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return np.broadcast_shapes(*shapes)


def rev(operand: Any, dimensions: Any) -> Any:
    """The elements in the other order along some axes.

    operand     an array
    dimensions  the axes

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.rev(np.array([1, 2, 3]), (0,))
    array([3, 2, 1])
    """
    x = checked_array("rev", operand)
    return np.flip(x, checked_axes("rev", dimensions, x.ndim))


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays one after the other along an axis.

    operands   a sequence of arrays of one dtype, whose other axes are as long
    dimension  the axis

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.concatenate([np.ones(2), np.zeros(1)], 0)
    array([1., 1., 0.])
    """
    arrays = checked_join("concatenate", operands)
    return np.concatenate(arrays, checked_axis("concatenate", dimension, arrays))


def stack(operands: Any, axis: int = 0) -> Any:
    """Arrays of one shape and dtype along a new axis.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.stack([np.ones(2), np.zeros(2)]).shape
    (2, 2)
    """
    return np.stack(checked_join("stack", operands), axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The parts of an array along an axis, as a tuple; its length becomes part of the signature.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.unstack(np.array([1.0, 2.0]))
    (np.float64(1.0), np.float64(2.0))
    """
    x = checked_array("unstack", x)
    axis = checked_axis("unstack", axis, [x])
    return tuple([x[(slice(None),) * axis + (k,)] for k in range(int(x.shape[axis]))])


def split(operand: Any, sizes: Any, axis: int = 0) -> list[Any]:
    """The array in pieces along an axis.

    operand  an array
    sizes    the lengths of the pieces, which add up to that of the axis

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.split(np.arange(3), (1, 2))
    [array([0]), array([1, 2])]
    """
    x = checked_array("split", operand)
    axis = checked_axis("split", axis, [x])
    ends = checked_pieces("split", sizes, x, axis)
    here = (slice(None),) * axis
    return [x[(*here, slice(a, b))] for a, b in itertools.pairwise(ends)]


def tile(operand: Any, reps: Any) -> Any:
    """The array repeated along its axes.

    reps  how often, for each axis

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.tile(np.array([1, 2]), (2,))
    array([1, 2, 1, 2])
    """
    x = checked_array("tile", operand)
    times = checked_shape("tile", reps)
    if len(times) != x.ndim:
        raise ArgumentTypeError(f"lax.tile: {len(times)} numbers for {x.ndim} axes")
    return np.tile(x, times)
