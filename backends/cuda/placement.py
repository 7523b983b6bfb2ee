"""Decides on which GPU a program runs, and moves its arguments there: computation follows the data.

f(gpu_array, numpy_array)      runs where the first one is; the second one is transferred
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.backends.cuda import errors
from tapeless.backends.cuda.availability import cupy
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

#: Kinds of numbers that arrays on a GPU have.
DTYPES = frozenset("?bBhHiIlLqQefdFD")


def device_count() -> int:
    """How many GPUs this process may use.

    Raises NoGpuError with the reason if it is none.
    """
    return int(cupy().cuda.runtime.getDeviceCount())


def device_of(leaves: Iterable[Any], device: Any = None, default: Any = None) -> Any:
    """The device that runs a program with these arguments, as a context in which it is current.

    device   one that was asked for, by its `id`; None: that of the arrays among the leaves
    default  where none lie on a GPU; None: the current one

    Raises ValueError for arrays of several GPUs, unless a device is asked for.
    """
    module = cupy()
    if device is not None:
        return module.cuda.Device(device.id)
    places = {int(x.device.id) for x in leaves if on_gpu(x)}
    if len(places) > 1:
        names = ", ".join(f"gpu:{n}" for n in sorted(places))
        raise ArgumentError(
            f"the arguments lie on several devices: {names}",
            "put them on one: tapeless.device_put(x, device), or say jit(f, device=device)",
        )
    if not places and default is not None:
        places = {default.id}
    return module.cuda.Device(*places)


def on_device(x: Any) -> Any:
    """An argument as the current device takes it: arrays of NumPy, and those of other devices, are
    copied there; numbers, and what has no elements, stay what they are.

    Raises ArgumentTypeError for arrays of what a GPU does not have: texts, objects, long doubles.
    """
    if isinstance(x, np.ndarray):
        if x.dtype.char not in DTYPES:
            raise ArgumentTypeError(
                f"an array of {x.dtype} cannot be put on a GPU",
                "which has numbers of up to 64 bits, and complex ones of 128: x.astype(float)",
            )
        return cupy().asarray(x, order="C")
    if on_gpu(x) and x.device.id != cupy().cuda.runtime.getDevice():
        return x.copy()  # by CuPy, to the device that is current
    return x


def number_on_device(x: Any, dtype: Any) -> Any:
    """A number that a kernel reads from memory: it is there, or is put there.

    Raises RuntimeError where launches are recorded: they would read from the host later.
    """
    module = cupy()
    if isinstance(x, module.ndarray):
        return x
    if module.cuda.get_current_stream().is_capturing():
        raise RuntimeError("a number of the host is put on the device")
    return module.asarray(x, dtype)


def refuse_elsewhere(args: Iterable[Any], device: int, name: str) -> None:
    """Refuses arrays of other devices than that which runs a program: kernels cannot read them."""
    for x in args:
        if on_gpu(x) and x.device.id != device:
            raise ArgumentError(
                f"an argument lies on gpu:{x.device.id}, and {name} runs on gpu:{device}",
                f"put it there: tapeless.device_put(x, tapeless.devices('gpu')[{device}])",
            )


def on_host(x: Any) -> Any:
    """An array of CuPy as one of NumPy. It waits for the array, and raises what kernels have noted
    until then."""
    errors.synchronize(int(x.device.id))
    return x.get()


def copy_back(x: Any, out: Any) -> None:
    """Stores what a program left in an array of the device to the array it was copied from."""
    out[...] = on_host(x) if isinstance(out, np.ndarray) else x


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays of the device may share memory, by where they begin and end. Both lie row
    by row in memory."""
    first, second = sorted((x.data.ptr, x.data.ptr + x.nbytes) for x in (a, b))
    return bool(second[0] < first[1])


def device_name(device: int) -> str:
    """What NVIDIA calls a device."""
    name = cupy().cuda.runtime.getDeviceProperties(device)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)
