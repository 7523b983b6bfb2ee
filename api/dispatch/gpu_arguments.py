"""Finds arguments that lie on a GPU: the function runs there, then.

x = device_put(x, devices("gpu")[0]); grad(loss)(x)      runs kernels of the GPU, `jit` or not
"""

from __future__ import annotations

import sys
from typing import Any

from tapeless import tree


def has_gpu_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument lies on a GPU: without CuPy none does, and nothing is imported for it."""
    cupy = sys.modules.get("cupy")
    if cupy is None or not hasattr(cupy, "ndarray"):
        return False
    return any(isinstance(x, cupy.ndarray) for x in tree.leaves((args, kwargs)))
