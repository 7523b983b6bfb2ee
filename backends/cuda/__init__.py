"""Emitted loop form as CUDA C on GPUs: compiled by NVRTC, cached on disk, launched through CuPy."""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.backends.cuda instead of {__name__}")

from tapeless.backends.cuda.availability import cupy, is_array, why_not
from tapeless.backends.cuda.errors import synchronize
from tapeless.backends.cuda.load_module import compilations, load, program_of
from tapeless.backends.cuda.placement import device_count, device_of, on_device, on_host

__all__ = [
    "compilations",
    "cupy",
    "device_count",
    "device_of",
    "is_array",
    "load",
    "on_device",
    "on_host",
    "program_of",
    "synchronize",
    "why_not",
]
