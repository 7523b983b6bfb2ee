"""Several processes that run the same program, on one machine or on many: MPI through mpi4py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tapeless.backends.spmd import world
from tapeless.hardware import cores, process_count, process_index
from tapeless.transforms.errors import ArgumentError


def initialize(
    local_device_count: int | None = None, mesh: Mapping[Any, int] | None = None
) -> None:
    """Joins the processes that `mpiexec` started: afterwards `pmap` spreads axes over them.

    local_device_count  how many devices this process has; its cores, shared evenly with the other
                        processes on its machine, where it is left out
    mesh                names of axes and how many processes each has: an axis of that name goes
                        over the processes along it, an axis of another name stays in a process.
                        Without a mesh, axes go over all processes

    Call it once, at the start, in each process. An error that a process does not catch ends all of
    them from then on. Without mpiexec there is one process, and nothing changes.

    Raises ImportError where mpi4py is not installed, ValueError for a mesh of more or fewer
    processes than there are.
    """
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


def mesh_position() -> dict[Any, int]:
    """Where this process is on each axis of the mesh; empty without one."""
    return dict(world.world().position)


def shutdown() -> None:
    """Leaves the other processes: `pmap` stays in this one from then on."""
    world.enter(world.ALONE)


__all__ = ["initialize", "mesh_position", "process_count", "process_index", "shutdown"]
