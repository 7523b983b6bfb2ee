"""Extends arrays beyond their edges, as the filters of scipy.ndimage see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it

#: How SciPy continues an array, and what np.pad calls that.
MODES: dict[str, Any] = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect"}
MODES |= {"nearest": "edge", "wrap": "wrap", "grid-wrap": "wrap"}
MODES |= {"constant": "constant", "grid-constant": "constant"}


def image(input: Any, output: Any) -> Any:
    if output is not None:
        raise UnsupportedError("scipy.ndimage filters with output=", "use what they return")
    return np.asarray(input)


def per_axis(value: Any, n: int) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else [value] * n


def extend_axis(x: Any, n: int, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """The array with as many elements more on both sides as n weights reach over."""
    before = n // 2 + origin
    if not 0 <= before < n:
        raise ValueError("invalid origin")
    widths = [(before, n - 1 - before) if k == axis else (0, 0) for k in range(x.ndim)]
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    if MODES[mode] == "constant":
        return np.pad(x, widths, mode="constant", constant_values=cval)
    return np.pad(x, widths, mode=MODES[mode])
