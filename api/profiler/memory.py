"""Profiles the memory of live arrays, for pprof."""

from __future__ import annotations

import linecache
import os
import sysconfig
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.lazy_import import lazy_module
from tapeless.profiler.live_arrays import held_arrays
from tapeless.profiler.pprof import ProfileLine, ProfileSample, encode
from tapeless.staging.device_list import GPU, local_devices
from tapeless.transforms.errors import ArgumentError

if TYPE_CHECKING:
    from tapeless.backends import cuda
else:
    cuda = lazy_module("tapeless.backends.cuda")

KINDS = (("allocations", "count"), ("space", "bytes"))
OURS = (str(Path(__file__).parents[1]), *filter(None, (sysconfig.get_paths().get("purelib"),)))


def device_memory_profile(backend: str | None = None) -> bytes:
    """What `save_device_memory_profile` writes.

    backend  "cpu", which is what None means, or "gpu"

    >>> device_memory_profile()[:2]  # gzip
    b'\\x1f\\x8b'
    """
    if backend in GPU:
        return encode(_on_gpus(), KINDS, "memory of the GPUs, by who holds the arrays")
    if backend not in (None, "cpu"):
        raise ArgumentError(
            f"device_memory_profile: backend is {backend!r}", 'there are "cpu" and "gpu"'
        )
    traced = tracemalloc.is_tracing()
    how = (
        "allocations of NumPy that are alive, by the line that made them"
        if traced
        else "live arrays by who holds them; call tracemalloc.start(10) first for who made them"
    )
    return encode(_samples_by_allocation() if traced else _samples_by_holder(), KINDS, how)


def save_device_memory_profile(
    filename: str | os.PathLike[str], backend: str | None = None
) -> None:
    """Writes the memory of live arrays as a file that pprof reads.

    filename  the file
    backend   "cpu", which is what None means, or "gpu": arrays of CuPy by who holds them, what else
              its pool has, and what other processes have

    While `tracemalloc` traces (start it with `tracemalloc.start(10)`, before the arrays are made)
    each allocation is shown under the lines that led to it, the user's and those of emitted
    modules. Otherwise nothing knows who made an array, and it is shown under who holds it: the
    variable of a function or module that leads to it, with the function and line that gave this its
    value, or the class of the object that it is in. Arrays that only C code holds are left out.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_device_memory_profile(pathlib.Path(folder) / "memory.prof")
    """
    Path(filename).write_bytes(device_memory_profile(backend))


# -- by who made them


def _samples_by_allocation() -> Iterator[ProfileSample]:
    domain: Any = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    snapshot = tracemalloc.take_snapshot().filter_traces([domain])
    for s in snapshot.statistics("traceback"):
        stack = [_place(frame) for frame in reversed(s.traceback) if not _is_ours(frame.filename)]
        places = tuple(stack) or (ProfileLine("tapeless", "", 0),)
        yield ProfileSample(places, (s.count, s.size), "made here")


def _is_ours(file: str) -> bool:
    return file.startswith(OURS)


def _place(frame: Any) -> ProfileLine:
    """A line; nobody noted the function, so its text stands for that."""
    text = linecache.getline(frame.filename, frame.lineno).strip()
    return ProfileLine(text or Path(frame.filename).name, frame.filename, frame.lineno)


# -- by who holds them


def _samples_by_holder() -> Iterator[ProfileSample]:
    for array, stack, kind in held_arrays():
        yield ProfileSample(stack(), (1, array.nbytes), kind)


# -- on GPUs


def _on_gpus() -> Iterator[ProfileSample]:
    for device in local_devices(backend="gpu"):
        now, held = cuda.usage(device.id), 0
        for array, stack, kind in held_arrays(cuda.cupy().ndarray):
            if int(array.device.id) == device.id:
                held += int(array.nbytes)
                yield ProfileSample(
                    (*stack(), ProfileLine(str(device), "", 0)), (1, int(array.nbytes)), kind
                )
        rest = {
            "arrays that nobody was found to hold": max(0, now.arrays - held),
            "free in the pool": now.pool - now.arrays,
            "taken by others": now.total - now.free - now.pool,
        }
        for what, size in rest.items():
            yield ProfileSample(
                (ProfileLine(what, "", 0), ProfileLine(str(device), "", 0)), (1, size), "pool"
            )
