"""Finds CuPy and the GPUs of this machine, or the reason why they cannot be used, with what to do.

CuPy is imported on first use: without a GPU nothing of a program waits for it.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from tapeless.transforms.errors import NoGpuError

INSTALL = "pip install 'tapeless[cuda13]' (for drivers of CUDA 12: 'tapeless[cuda12]')"
Reason = tuple[str, str]


def cupy() -> Any:
    """The module `cupy`, on a machine with a GPU that it can use.

    Raises NoGpuError with the reason where there is none.
    """
    reason = why_not()
    if reason is not None:
        problem, hint = reason
        raise NoGpuError(f"there is no GPU to run on: {problem}", hint)
    return sys.modules["cupy"]


@functools.cache
def why_not() -> Reason | None:
    """Why no GPU can be used, and what to do about it; None if one can."""
    try:
        module = importlib.import_module("cupy")
    except ModuleNotFoundError as e:
        missing = e.name or "cupy"
        if missing.partition(".")[0] == "cupy":
            return "CuPy is not installed", INSTALL
        return f"CuPy needs {missing}, which is not installed", INSTALL
    except Exception as e:  # noqa: BLE001  # whatever stops the import is the reason
        return f"CuPy cannot be imported: {_first_line(e)}", "install it again: " + INSTALL
    return _without_device(module) or _without_compiler(module)


def _without_device(cupy: Any) -> Reason | None:
    """What CUDA says about this machine."""
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except Exception as e:  # noqa: BLE001  # CuPy has one class for all of CUDA's errors
        return _driver(runtime, _first_line(e))
    if count == 0:
        return "CUDA sees no device", VISIBLE
    return None


VISIBLE = "`nvidia-smi` lists the GPUs; CUDA_VISIBLE_DEVICES may hide them"


def _driver(runtime: Any, said: str) -> Reason:
    """What is wrong with the driver, by its version and that of CUDA which CuPy is made for."""
    try:
        driver, wanted = int(runtime.driverGetVersion()), int(runtime.runtimeGetVersion())
    except Exception:  # noqa: BLE001  # an old driver may not even say that
        driver, wanted = 0, 0
    if driver == 0:
        return (
            "this machine has no driver of NVIDIA",
            "install the driver; `nvidia-smi` shows whether it works",
        )
    if driver // 1000 < wanted // 1000:
        return (
            f"the driver is for CUDA {_version(driver)}, CuPy for CUDA {_version(wanted)}",
            f"install a newer driver, or CuPy for this one: pip install "
            f"'tapeless[cuda{driver // 1000}]' after pip uninstall cupy-cuda{wanted // 1000}x",
        )
    return f"CUDA says {said}", VISIBLE


def _without_compiler(cupy: Any) -> Reason | None:
    """Whether NVRTC, which compiles kernels, is there and new enough for the device."""
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as e:  # noqa: BLE001  # a library that is missing has many errors
        return (
            f"NVRTC, which compiles kernels, cannot be loaded: {_first_line(e)}",
            "it comes with CUDA's toolkit: " + INSTALL,
        )
    return None


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _first_line(e: BaseException) -> str:
    lines = str(e).strip().splitlines()
    return lines[0] if lines else type(e).__name__
