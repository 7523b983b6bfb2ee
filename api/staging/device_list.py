"""Lists the devices: the cores of this machine, its GPUs, and the cores of the other processes of a
job.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.backends.spmd.world import world
from tapeless.lazy_import import lazy_module
from tapeless.staging.pending_arrays import PendingArray
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError

if TYPE_CHECKING:
    from tapeless.backends import cuda
else:
    cuda = lazy_module("tapeless.backends.cuda")

GPU = ("gpu", "cuda")  # two names of one backend


@dataclass(frozen=True)
class Device:
    """A core that shards of `pmap` run on, or a GPU.

    id             its number among all cores of the job; of a GPU, CUDA's number for it
    process_index  the process that it belongs to
    platform       "cpu" or "gpu"

    >>> import tapeless
    >>> print(tapeless.devices()[0])
    cpu:0
    """

    id: int
    process_index: int = 0
    platform: str = "cpu"

    def __str__(self) -> str:
        return f"{self.platform}:{self.id}"

    @property
    def device_kind(self) -> str:
        """What it is: "cpu", or the name that NVIDIA gives the GPU."""
        return cuda.device_name(self.id) if self.platform == "gpu" else self.platform

    @property
    def local_hardware_id(self) -> int:
        """Its number among the devices of its process."""
        own = local_devices(self.process_index, self.platform)
        return own.index(self)

    def memory_stats(self) -> dict[str, int] | None:
        """What the memory of a GPU holds, in bytes, by JAX's names; None for cores.

        >>> devices()[0].memory_stats() is None
        True
        """
        if self.platform != "gpu":
            return None
        now = cuda.usage(self.id)
        return {
            "bytes_in_use": now.arrays,
            "bytes_reserved": now.pool,
            "bytes_limit": now.total,
            "largest_free_block_bytes": now.free,
        }


_default: contextvars.ContextVar[Device | None] = contextvars.ContextVar("device", default=None)
_platform: list[str] = ["cpu"]  # where there is no default device: the setting `platform_name`
GPU_CHOSEN: set[Any] = set()  # why a GPU may be the default, in any context: quick to look at


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def devices(backend: str | None = None) -> list[Device]:
    """The devices of all processes of the job.

    backend  "cpu", which is what None means, or "gpu" (also called "cuda"): the GPUs that this
             process may use

    Raises ValueError for another backend, and NoGpuError, a ValueError and RuntimeError that says
    why, where no GPU can be used.

    >>> devices("cpu")[0]
    Device(id=0, process_index=0, platform='cpu')
    """
    if backend in GPU:
        return [Device(k, world().rank, "gpu") for k in range(cuda.device_count())]
    if backend not in (None, "cpu"):
        raise ArgumentError(
            f"there are no devices of the backend {backend!r}",
            'the cores are devices("cpu"), GPUs devices("gpu")',
        )
    counts = world().devices or (cores(),)
    owners = [process for process, n in enumerate(counts) for _ in range(n)]
    return [Device(k, process) for k, process in enumerate(owners)]


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """The devices of one process; of this one where none is named. `host_id` is its old name.

    >>> local_devices() == devices()
    True
    """
    named = host_id if process_index is None else process_index
    own = world().rank if named is None else named
    return [device for device in devices(backend) if device.process_index == own]


def device_count(backend: str | None = None) -> int:
    """How many devices the job has.

    >>> device_count() == len(devices())
    True
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many devices this process has.

    >>> local_device_count() == device_count()  # in a job of one process
    True
    """
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process in the job; 0 without MPI.

    >>> process_index()
    0
    """
    return world().rank


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes of the job.

    >>> process_indices()
    [0]
    """
    return sorted({device.process_index for device in devices(backend)})


def default_backend() -> str:
    """Where numbers and arrays of NumPy go: "cpu", or "gpu" inside of `default_device(gpu)`.

    >>> default_backend()
    'cpu'
    """
    return "cpu" if default_gpu() is None else "gpu"


def default_gpu() -> Device | None:
    """The GPU that `default_device` names, or the first one where the setting `platform_name` says
    so; None for cores."""
    if not GPU_CHOSEN:
        return None
    device = _default.get()
    if device is None:
        return local_devices(backend="gpu")[0] if _platform[0] in GPU else None
    return device if device.platform == "gpu" else None


def choose_platform(name: str | None) -> None:
    """Says where numbers and arrays of NumPy go outside of `default_device`. Raises NoGpuError."""
    if name in GPU:
        local_devices(backend=name)
        GPU_CHOSEN.add("platform")
    else:
        GPU_CHOSEN.discard("platform")
    _platform[0] = name or "cpu"


def process_count(backend: str | None = None) -> int:
    """How many processes the job has; 1 without MPI.

    >>> process_count()
    1
    """
    return world().size


def device_get(x: Any) -> Any:
    """The value in the memory of this process, as NumPy arrays.

    Arrays of a GPU are waited for; what its kernels have noted until then is raised.

    >>> device_get({"x": 1.0})
    {'x': array(1.)}
    """
    return tree.map(_on_host, x)


def _on_host(x: Any) -> Any:
    return cuda.on_host(x) if on_gpu(x) else np.asarray(x)


def block_until_ready(x: Any) -> Any:
    """The value, once it is computed.

    Raises what the calls raised that compute it. For arrays of a GPU it waits until the current
    stream of their device has done all that it was given, and raises what kernels have noted:
    IndexError, say.

    >>> block_until_ready(2.0)
    2.0
    """
    for leaf in tree.leaves(x):
        if type(leaf) is PendingArray:
            leaf.block_until_ready()
    if "cupy" in sys.modules:
        for place in {int(leaf.device.id) for leaf in tree.leaves(x) if on_gpu(leaf)}:
            cuda.synchronize(place)
    return x


@contextlib.contextmanager
def default_device(device: Device | str | None) -> Iterator[None]:
    """Inside, `pmap` without devices runs on this one alone; if it is a GPU, functions under `jit`
    and derivatives run there, and numbers and arrays of NumPy among their arguments are put there.

    device  a device of this process, or the name of a backend: its first device

    >>> with default_device(devices("cpu")[0]):
    ...     print(len(chosen_devices(None)))
    1
    """
    if isinstance(device, str):
        device = local_devices(backend=device)[0]
    check_device(device, "default_device")
    token = _default.set(device)
    if device is not None and device.platform == "gpu":
        GPU_CHOSEN.add(id(token))
    try:
        yield
    finally:
        GPU_CHOSEN.discard(id(token))
        _default.reset(token)


def check_device(device: Any, what: str) -> None:
    """Refuses what is no device of this process."""
    if device is None:
        return
    if not isinstance(device, Device):
        raise ArgumentTypeError(
            f"{what} needs a device, not {type(device).__name__} {device!r}",
            'tapeless.devices("cpu")[0] is one',
        )
    if device not in (
        local_devices(backend="gpu") if device.platform == "gpu" else local_devices()
    ):
        raise ArgumentError(
            f"{what}: {device} is not a device of this process",
            "tapeless.local_devices() are its devices",
        )


def chosen_devices(devices_given: Any) -> list[Device]:
    """The devices that shards run on: those given, or the default one, or all of this process."""
    if devices_given is not None:
        return list(devices_given)
    default = _default.get()
    refuse_gpu(default_gpu(), "pmap")
    return local_devices() if default is None else [default]


def refuse_gpu(device: Any, what: str) -> None:
    """Refuses a GPU where shards run on devices: the cores would do it in silence."""
    if getattr(device, "platform", None) == "gpu":
        raise UnsupportedError(
            f"{what}: shards do not run on GPUs yet, and {device} is one",
            "pmap and vmap run on one GPU, where their arguments lie; shards run on the cores",
        )


def single_gpu(devices_given: Sequence[Device], what: str) -> Device | None:
    """The one GPU among devices for shards; None if all are cores. Raises UnsupportedError for
    several GPUs, and for a GPU beside cores."""
    gpus = [device for device in devices_given if device.platform == "gpu"]
    if gpus and len(set(devices_given)) > 1:
        raise UnsupportedError(
            f"{what}: an axis does not run on several GPUs yet, or on GPUs and cores",
            "give one of them: devices=tapeless.devices('gpu')[:1]",
        )
    return gpus[0] if gpus else None


def home() -> Device:
    """The device of an array of NumPy that was put nowhere: a core."""
    default = _default.get()
    return local_devices()[0] if default is None or default.platform == "gpu" else default


__all__ = [
    "Device",
    "block_until_ready",
    "default_device",
    "device_count",
    "device_get",
    "devices",
    "local_device_count",
    "local_devices",
    "process_count",
    "process_index",
]
