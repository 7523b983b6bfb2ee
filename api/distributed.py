"""Connects processes that run the same program, on one machine or on many, by MPI (mpi4py)."""

from __future__ import annotations

import faulthandler
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tapeless.backends.spmd import world
from tapeless.staging.device_list import cores, process_count, process_index
from tapeless.transforms.errors import ArgumentError


def initialize(
    local_device_count: int | None = None,
    mesh: Mapping[Any, int] | None = None,
    initialization_timeout: float = 300.0,
) -> None:
    """Joins the processes that `mpiexec` started: afterwards `pmap` spreads axes over them.

    local_device_count  how many devices this process has; its cores, shared evenly with the other
                        processes on its machine, where it is left out
    mesh                names of axes and how many processes each has: an axis of that name goes
                        over the processes along it, an axis of another name stays in a process.
                        Without a mesh, axes go over all processes
    initialization_timeout  seconds after which a process ends that waits for the others, as one
                        may have failed before its own call

    Call it once, at the start, in each process. An error that a process does not catch ends all of
    them from then on. Without mpiexec there is one process, and nothing changes.

    Raises ImportError where mpi4py is not installed, ValueError for a mesh of more or fewer
    processes than there are.
    """
    # of the interpreter itself: MPI waits without letting other Python threads run
    with _ended_after(initialization_timeout):
        from tapeless.backends.spmd import mpi  # noqa: PLC0415 (mpi4py is optional)

        joined = mpi.join()
    joined.count_devices(local_device_count, cores())
    if mesh is not None:
        if math.prod(mesh.values()) != joined.size:
            raise ArgumentError(
                f"the mesh {dict(mesh)} has {math.prod(mesh.values())} processes, and there are "
                f"{joined.size}"
            )
        joined.arrange(mesh)
    world.enter(joined)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Shows where the process is and ends it, if that takes longer."""
    if not seconds > 0:
        raise ArgumentError(f"initialization_timeout is {seconds}, and must be above 0 seconds")
    if sys.__stderr__ is None:  # nothing to show it on
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def mesh_position() -> dict[Any, int]:
    """Where this process is on each axis of the mesh; empty without one."""
    return dict(world.world().position)


def is_initialized() -> bool:
    """Whether `initialize` was called, and `shutdown` was not since."""
    return world.world() is not world.ALONE


def shutdown() -> None:
    """Leaves the other processes: `pmap` stays in this one from then on."""
    world.enter(world.ALONE)


__all__ = [
    "initialize",
    "is_initialized",
    "mesh_position",
    "process_count",
    "process_index",
    "shutdown",
]
