"""Provides the names of `tapeless.stax`, and `fastvar` of the first releases of JAX."""

from typing import Any

import numpy as np

from tapeless.stax import *  # noqa: F403 (all that it exports)
from tapeless.stax import __all__ as _names

__staged__ = True  # plain NumPy code: a staged run enters it


def fastvar(x: Any, axis: Any, keepdims: bool) -> Any:
    """The variance as the mean of squares less the square of the mean.

    >>> float(fastvar(np.array([1.0, 3.0]), 0, False))
    1.0
    """
    return np.mean(x**2, axis, keepdims=keepdims) - np.mean(x, axis, keepdims=keepdims) ** 2


__all__ = [*_names, "fastvar"]
