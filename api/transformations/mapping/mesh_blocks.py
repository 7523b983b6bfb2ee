"""Cuts arrays into blocks that lie along the axes of a mesh, and joins them: plain NumPy code."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True


def cut(x: Any, counts: tuple[tuple[int, ...], ...], order: tuple[int, ...]) -> Any:
    """The blocks of an array, along new axes in front.

    counts  for each axis of the array into how many blocks it is cut, name by name
    order   the new axes, as they come out of the cut array, in the order of the mesh

    >>> cut(np.arange(6), ((2,),), (0,))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    x = np.asarray(x)
    shape: list[Any] = []
    local = []
    for k in range(x.ndim):
        inside = x.shape[k]
        for n in counts[k] if k < len(counts) else ():
            shape.append(n)
            inside = inside // n
        local.append(len(shape))
        shape.append(inside)
    return np.transpose(np.reshape(x, tuple(shape)), (*order, *local))


def join_blocks(x: Any, lead: int, places: tuple[tuple[int, ...], ...]) -> Any:
    """The array of blocks that lie along its first `lead` axes.

    places  for each axis of the result which of those axes its blocks lie along, in order

    >>> join_blocks(np.array([[0, 1], [2, 3]]), 1, ((0,),))
    array([0, 1, 2, 3])
    """
    order: list[int] = []
    shape: list[Any] = []
    for k in range(x.ndim - lead):
        own = places[k] if k < len(places) else ()
        total = x.shape[lead + k]
        for axis in own:
            total = total * x.shape[axis]
        shape.append(total)
        order.extend((*own, lead + k))
    return np.reshape(np.transpose(x, tuple(order)), tuple(shape))
