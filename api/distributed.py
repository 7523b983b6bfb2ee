"""Several processes that run the same program, on one machine or on many: MPI through mpi4py."""

from __future__ import annotations

from tapeless.backends.spmd import world
from tapeless.devices import cores, process_count, process_index


def initialize(local_device_count: int | None = None) -> None:
    """Joins the processes that `mpiexec` started: afterwards `pmap` spreads axes over all of them.

    local_device_count  how many devices this process has; its cores, shared evenly with the other
                        processes on its machine, where it is left out

    Call it once, at the start, in each process. An error that a process does not catch ends all of
    them from then on. Without mpiexec there is one process, and nothing changes.

    Raises ImportError where mpi4py is not installed.
    """
    from tapeless.backends.spmd import mpi  # noqa: PLC0415 (mpi4py is optional)

    joined = mpi.join()
    joined.count_devices(local_device_count, cores())
    world.enter(joined)


def shutdown() -> None:
    """Leaves the other processes: `pmap` stays in this one from then on."""
    world.enter(world.ALONE)


__all__ = ["initialize", "process_count", "process_index", "shutdown"]
