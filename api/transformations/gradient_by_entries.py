"""Computes a gradient entry by entry from a function of directions: for rules that loop until their
own result is exact enough, so that the number of passes depends on the direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def by_entries(slope: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    """What `slope` says of the direction of each entry of an array, as an array of this shape.

    >>> by_entries(lambda direction: 3.0 * direction[0, 1], (1, 2))
    array([[0., 3.]])
    """
    size = 1
    for n in shape:
        size *= n
    bars = np.zeros(size)
    for k in range(size):
        direction = np.zeros(size)
        direction[k] = 1.0
        bars[k] = slope(direction.reshape(shape))
    return bars.reshape(shape)
