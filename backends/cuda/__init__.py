"""Compiles emitted CUDA C by NVRTC, caches it on disk and launches it through CuPy."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cuda instead of {__name__}")

from tapeless.backends.cuda.availability import cupy, why_not
from tapeless.backends.cuda.errors import synchronize
from tapeless.backends.cuda.graphs import with_graphs
from tapeless.backends.cuda.launch import ARRAYS
from tapeless.backends.cuda.load_module import compilations, load, prepare, program_of
from tapeless.backends.cuda.memory import explaining, usage
from tapeless.backends.cuda.placement import (
    copy_back,
    device_count,
    device_name,
    device_of,
    on_device,
    on_host,
    overlap,
)
from tapeless.transforms.core.on_gpu import on_gpu as is_array

__all__ = [
    "ARRAYS",
    "compilations",
    "copy_back",
    "cupy",
    "device_count",
    "device_name",
    "device_of",
    "explaining",
    "is_array",
    "load",
    "on_device",
    "on_host",
    "overlap",
    "prepare",
    "program_of",
    "synchronize",
    "usage",
    "why_not",
    "with_graphs",
]
