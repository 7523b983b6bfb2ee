"""Stages np.ndindex and np.ndenumerate as one loop over all positions of an array.

for i, j in np.ndindex(x.shape): ...      becomes      for k in range(n * m): i, j = k // m, k % m
"""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms
from tapeless.transforms.frontend.control_flow.loop_ranges import indexed_sequence
from tapeless.transforms.frontend.values.structure import has_symbols


def ndindex(hooks: Any, *shape: Any) -> Any:
    """np.ndindex"""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        (shape,) = shape
    if not has_symbols(shape):
        return np.ndindex(*shape)
    count = dims.product(tuple(size_of(atoms(n)) for n in shape))
    return indexed_sequence(count, lambda k: place(k, shape))


def ndenumerate(hooks: Any, x: Any) -> Any:
    """np.ndenumerate"""
    if not isinstance(x, Symbol):
        return np.ndenumerate(x)

    def item(k: Any) -> Any:
        at = place(k, x.shape)
        return at, x[at]

    return indexed_sequence(dims.product(x.type.shape), item)


def place(k: Any, shape: Several[Any]) -> tuple[Any, ...]:
    """The indices of element k, in the order of C."""
    indices = []
    for n in reversed(shape[1:]):
        indices.append(k % n)
        k = k // n
    return (k, *reversed(indices)) if shape else ()
