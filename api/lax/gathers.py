"""Gathers many parts of an array at once, and scatters to them: `gather`, `scatter`, `scatter_add`,
...
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.dynamic_positions import checked_sizes, is_whole
from tapeless.lax.indexing_numbers import (
    GatherScatterMode,
    checked_indices,
    fill_for,
    layout,
)
from tapeless.lax.operand_checks import checked_array, checked_kind, checked_same_dtype

__staged__ = True  # plain NumPy code: a staged run enters it


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Any,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Parts of an array that start at many places.

    operand            an array
    start_indices      integers, whose last axis holds one start: an entry for each axis that is in
                       start_index_map
    dimension_numbers  GatherDimensionNumbers
    slice_sizes        the length of a part on each axis of the operand
    unique_indices, indices_are_sorted   accepted, and of no effect
    mode               GatherScatterMode or a word: "clip" (the default), "fill" or
                       "promise_in_bounds"
    fill_value         what is read where a part does not fit: NaN, or the greatest or least integer
                       by default

    Raises TypeError for axes and sizes that do not go together.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> lax.gather(np.arange(6).reshape(3, 2), np.array([[2], [0]]), rows, (1, 2))
    array([[4, 5],
           [0, 1]])
    """
    x, numbers = checked_array("gather", operand), dimension_numbers
    indices = checked_indices("gather", start_indices, len(numbers.start_index_map))
    sizes = checked_sizes("gather", slice_sizes, x)
    lies = layout(
        "gather",
        x.ndim,
        numbers.collapsed_slice_dims,
        numbers.start_index_map,
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
        lambda k: is_whole(sizes[k], x.shape[k]),
    )
    how = GatherScatterMode.CLIP if mode is None else GatherScatterMode.from_any(mode)
    starts, fits = _starts(indices, x, sizes, lies)
    parts = np.transpose(x, (*lies.beside, *lies.indexed, *lies.whole))
    if lies.beside or lies.indexed:
        parts = parts[_key(starts, indices, sizes, lies)]
    else:
        parts = np.broadcast_to(parts, (*indices.shape[:-1], *parts.shape))
    if how in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT) and fits is not None:
        inside = np.reshape(fits, (*fits.shape, *(1,) * len(lies.window)))
        fill = np.full((), fill_for(x.dtype, fill_value), x.dtype)
        parts = np.where(inside, parts, fill)
    return np.transpose(parts, _order(numbers.offset_dims, indices.ndim - 1, lies))


def _starts(indices: Any, x: Any, sizes: Any, lies: Any, clip: bool = True) -> Any:
    """Starts for each indexed axis, moved so that parts fit; and which ones fit as they are."""
    starts, fits = [], None
    for axis, entry in zip(lies.indexed, lies.starts, strict=True):
        if entry is None:
            starts.append(0)
            continue
        start, most = indices[..., entry], x.shape[axis] - sizes[axis]
        if clip:
            inside = (start >= 0) & (start <= most)
            fits = inside if fits is None else fits & inside
            start = np.minimum(np.maximum(start, 0), most)
        starts.append(start)
    return starts, fits


def _key(starts: Any, indices: Any, sizes: Any, lies: Any) -> Any:
    """Index arrays whose axes are those of the indices, then those of parts that are indexed."""
    outer = indices.ndim - 1
    inner = [k for k in lies.indexed if k not in lies.single]
    key = []
    for axis in lies.along:
        after = (1,) * (outer - axis - 1 + len(inner))
        key.append(np.reshape(np.arange(indices.shape[axis]), (indices.shape[axis], *after)))
    for axis, start in zip(lies.indexed, starts, strict=True):
        places = start
        if not isinstance(start, int):
            places = np.reshape(start, (*indices.shape[:-1], *(1,) * len(inner)))
        if axis in inner:
            after = (1,) * (len(inner) - 1 - inner.index(axis))
            places = places + np.reshape(np.arange(sizes[axis]), (sizes[axis], *after))
        key.append(places)
    return tuple(key)


def _order(window: Any, outer: int, lies: Any) -> tuple[int, ...]:
    """The permutation from (axes of the indices, indexed ones of parts, whole ones) to an array in
    which the axes of the parts are those in `window`."""
    inner = [k for k in lies.indexed if k not in lies.single]
    place = {k: outer + n for n, k in enumerate([*inner, *lies.whole])}
    parts = iter([place[k] for k in lies.window])
    rest = iter(range(outer))
    return tuple(
        [next(parts) if k in window else next(rest) for k in range(outer + len(lies.window))]
    )


def _scatter(
    name: str,
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    numbers: Any,
    mode: Any,
    store: Any,
) -> Any:
    """The operand after parts of it were changed by `store(array, key, parts)`."""
    x, new = checked_array(name, operand), checked_array(name, updates, "updates")
    checked_same_dtype(name, x, new)
    indices = checked_indices(name, scatter_indices, len(numbers.scatter_dims_to_operand_dims))
    sizes = _window_sizes(x, new, numbers)
    lies = layout(
        name,
        x.ndim,
        numbers.inserted_window_dims,
        numbers.scatter_dims_to_operand_dims,
        numbers.operand_batching_dims,
        numbers.scatter_indices_batching_dims,
        lambda k: is_whole(sizes[k], x.shape[k]),
    )
    how = GatherScatterMode.from_any(mode)
    starts, fits = _starts(indices, x, sizes, lies, how is not GatherScatterMode.PROMISE_IN_BOUNDS)
    order = _order(numbers.update_window_dims, indices.ndim - 1, lies)
    parts = np.transpose(new, [order.index(k) for k in range(len(order))])
    if not (lies.beside or lies.indexed):
        changed = np.copy(x)
        store(changed, ..., parts)
        return changed
    axes = (*lies.beside, *lies.indexed, *lies.whole)
    drops = how in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT) and fits is not None
    first = next((k for k, start in enumerate(starts) if not isinstance(start, int)), 0)
    if not drops:
        changed = np.copy(x)
        store(np.transpose(changed, axes), _key(starts, indices, sizes, lies), parts)
        return changed
    axis = lies.indexed[first]
    changed = _longer(x, axis, sizes[axis])
    starts[first] = np.where(fits, starts[first], x.shape[axis])
    store(np.transpose(changed, axes), _key(starts, indices, sizes, lies), parts)
    return changed[(*(slice(None),) * axis, slice(0, x.shape[axis]))]


def _window_sizes(x: Any, new: Any, numbers: Any) -> list[Any]:
    """The lengths of a part on each axis of the operand."""
    lengths = iter([new.shape[k] for k in numbers.update_window_dims])
    without = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    return checked_sizes(
        "scatter", [1 if k in without else next(lengths) for k in range(x.ndim)], x
    )


def _longer(x: Any, axis: int, more: Any) -> Any:
    """The array with places at the end of an axis, for parts that do not fit."""
    longer = np.zeros((*x.shape[:axis], x.shape[axis] + more, *x.shape[axis + 1 :]), x.dtype)
    longer[(*(slice(None),) * axis, slice(0, x.shape[axis]))] = x
    return longer


def _set(array: Any, key: Any, parts: Any) -> None:
    array[key] = parts


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with parts replaced that start at many places; of equal ones the last one stays.

    operand            an array
    scatter_indices    integers, whose last axis holds one start: an entry for each axis that is in
                       scatter_dims_to_operand_dims
    updates            the parts, of the same dtype
    dimension_numbers  ScatterDimensionNumbers
    mode               GatherScatterMode or a word: "clip", "drop" (the default: parts that do not
                       fit are not stored) or "promise_in_bounds"

    Raises TypeError for axes and sizes that do not go together.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> rows = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    >>> lax.scatter(np.zeros((3, 2)), np.array([[2], [9]]), np.ones((2, 2)), rows)
    array([[0., 0.],
           [0., 0.],
           [1., 1.]])
    """
    return _scatter("scatter", operand, scatter_indices, updates, dimension_numbers, mode, _set)


def _changing(name: str, function: Any, what: str) -> Any:
    def run(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        return _scatter(
            name,
            operand,
            scatter_indices,
            updates,
            dimension_numbers,
            mode,
            lambda array, key, parts: function.at(array, key, parts),
        )

    run.__name__ = run.__qualname__ = name
    run.__doc__ = (
        f"The array with parts that start at many places {what}, also where they meet.\n\n"
        "    The arguments are those of `scatter`."
    )
    return run


scatter_add = _changing("scatter_add", np.add, "added to")
scatter_sub = _changing("scatter_sub", np.subtract, "reduced")
scatter_mul = _changing("scatter_mul", np.multiply, "multiplied")
scatter_min = _changing("scatter_min", np.minimum, "replaced by the lesser of two")
scatter_max = _changing("scatter_max", np.maximum, "replaced by the greater of two")


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Any,
    dimension_numbers: Any,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with a function applied to parts that start at many places, once for each.

    func          array to array of the same shape, element by element
    update_shape  the shape that updates would have

    Other arguments are those of `scatter`.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> each = lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> lax.scatter_apply(np.ones(3), np.array([[1]]), lambda x: x + 1, each, update_shape=(1,))
    array([1., 2., 1.])
    """
    x = checked_kind("scatter_apply", operand, "biufc")
    indices = checked_kind("scatter_apply", scatter_indices, "iu")
    outer = [n for k, n in enumerate(update_shape) if k not in dimension_numbers.update_window_dims]

    def store(array: Any, key: Any, parts: Any) -> None:
        if unique_indices or not outer:
            array[key] = func(array[key])
            return
        count = len(outer)
        places = np.broadcast_arrays(*key) if isinstance(key, tuple) else []
        flat = [np.reshape(k, (-1, *k.shape[count:])) for k in places]
        for n in range(flat[0].shape[0]):
            here = tuple([k[n] for k in flat])
            array[here] = func(array[here])

    blank = np.zeros(tuple(update_shape), x.dtype)
    return _scatter("scatter_apply", x, indices, blank, dimension_numbers, mode, store)
