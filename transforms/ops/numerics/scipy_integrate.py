"""Expresses the trapezoidal rules of scipy.integrate by NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numerics.calculus import NUMPY, areas
from tapeless.transforms.ops.numpy.cumulative import cumsum
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import zeros


def _cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """The running sums of the areas between neighbours, behind `initial`."""
    if initial not in (None, 0):
        raise UnsupportedError(
            "scipy.integrate.cumulative_trapezoid with another initial than 0",
            "put it in front with np.concatenate",
        )
    areas_between, k = areas(y, x, dx, axis)
    running = cumsum(areas_between, axis=k)
    if initial is None:
        return running
    shape = tuple(1 if j == k else n for j, n in enumerate(running.type.shape))
    return concatenate(zeros(shape=shape, dtype=running.type.dtype), running, axis=k)


RULES: dict[Any, Any] = {
    scipy.integrate.trapezoid: NUMPY[np.trapezoid],
    scipy.integrate.cumulative_trapezoid: _cumulative_trapezoid,
}
