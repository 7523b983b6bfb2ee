"""Finds arguments that lie on a GPU: the function runs there, then, and where that is the default.

x = device_put(x, devices("gpu")[0]); grad(loss)(x)      runs kernels of the GPU, `jit` or not
"""

from __future__ import annotations

import sys
from typing import Any

from tapeless import tree
from tapeless.staging.device_list import default_gpu
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import UnsupportedError


def has_gpu_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument lies on a GPU, or all go there by default: without CuPy none does, and
    nothing is imported for it."""
    if "cupy" not in sys.modules:
        return False
    return default_gpu() is not None or any(map(on_gpu, tree.leaves((args, kwargs))))


def refuse_profile(what: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses a profile by lines of what runs on a GPU."""
    if has_gpu_arrays(args, kwargs):
        raise UnsupportedError(
            f"profile: {what} runs on a GPU, whose kernels have no lines of Python",
            "NVIDIA's `nsys profile --stats=true` tells the time of each kernel, explain() its "
            "lines; with arrays of NumPy the profile is that of the CPU",
        )
