"""Expresses the NumPy functions that broadcast arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size, broadcast, stretch
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import broadcast_to, flatten, reshape
from tapeless.transforms.ops.primitives.shapes import copy as copied


def _broadcast_shapes(*args: Any) -> tuple[Any, ...]:
    return tuple(atom_of_size(n) for n in broadcast(*map(shape_of, args)))


def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    a, target = as_array(array), shape_of(shape)
    for size in target:
        message = "all elements of broadcast shape must be non-negative"
        require_at_least(size, 0, ValueError, message)
    stretch(a.type.shape, target)
    return broadcast_to(a, shape=target)


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [as_array(a) for a in args]
    shape = broadcast(*(a.type.shape for a in arrays))
    return tuple(broadcast_to(a, shape=shape) for a in arrays)


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    lines = [flatten(as_array(x)) for x in xi]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = 1, 0
    sizes = tuple(lines[order.index(k)].type.shape[0] for k in range(len(lines)))
    grids = []
    for line, place in zip(lines, order, strict=True):
        shape = tuple(s if k == place else 1 for k, s in enumerate(sizes))
        grid = reshape(line, shape=shape)
        grid = grid if sparse else broadcast_to(grid, shape=sizes)
        grids.append(copied(grid) if copy else grid)
    return tuple(grids)


NUMPY = {
    np.broadcast_to: _broadcast_to,
    np.broadcast_arrays: _broadcast_arrays,
    np.meshgrid: _meshgrid,
    np.broadcast_shapes: _broadcast_shapes,
}
