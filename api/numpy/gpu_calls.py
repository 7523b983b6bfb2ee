"""Runs functions of `tapeless.numpy` on arrays of a GPU: each is a program, compiled for its
arguments.

jnp.sin(x)      becomes, where x lies on a GPU,      jit(jnp.sin, backend="gpu")(x)

CuPy's own functions would give other values than NumPy's in silence: for indices beyond the end,
several stores to one element, casts of what does not fit.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.device_list import GPU_CHOSEN, default_gpu
from tapeless.transforms.core.on_gpu import on_gpu

if TYPE_CHECKING:
    from tapeless.staging import gpu_arrays
    from tapeless.transformations.compilation import jit as compiled
else:
    compiled = lazy_module("tapeless.transformations.compilation.jit")
    gpu_arrays = lazy_module("tapeless.staging.gpu_arrays")


def has_gpu_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument lies on a GPU."""
    return "cupy" in sys.modules and any(map(on_gpu, tree.leaves((args, kwargs))))


def call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call of a function, on the GPU where its arguments lie."""
    return _program(function)(*args, **kwargs)


@functools.cache
def _program(function: Callable[..., Any]) -> Callable[..., Any]:
    program: Callable[..., Any] = compiled.jit(function, backend="gpu")
    return program


def by_default(value: Any) -> Any:
    """What a function has made on the host, or its copy on the GPU that is the default device."""
    device = default_gpu() if GPU_CHOSEN else None
    if device is None:
        return value
    return tree.map(lambda x: gpu_arrays.put(x, device) if hasattr(x, "dtype") else x, value)
