"""Tells arrays that lie on a GPU from others, without importing what would make them."""

from __future__ import annotations

import sys
from typing import Any


def on_gpu(value: Any) -> bool:
    """Whether a value is an array of CuPy. Where CuPy was not imported there is none.

    >>> on_gpu(1.0)
    False
    """
    module = sys.modules.get("cupy")
    return module is not None and isinstance(value, getattr(module, "ndarray", ()))
