"""Exchanges values between the processes of an MPI job, through mpi4py.

Only the thread that called `pmap` talks to other processes. A process that cannot come to a meeting
ends the job, at the latest when it ends itself: the others would wait for it for ever.
"""

from __future__ import annotations

import atexit
import functools
import math
import sys
import time
import traceback
import zlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from tapeless.backends.spmd.world import ALONE, World

SUMMED = frozenset("bBhHiIlLqQfdFD")  # dtypes that MPI adds up as NumPy does
REDUCE: dict[str, Any] = {
    "psum": functools.partial(functools.reduce, np.add),
    "pmax": functools.partial(functools.reduce, np.maximum),
    "pmin": functools.partial(functools.reduce, np.minimum),
}


class MpiJob(World):
    """This process among those of a communicator.

    lost  whether it stayed away from a meeting, if anything is in the list
    """

    def __init__(self, comm: Any, lost: list[bool] | None = None) -> None:
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.lost = [] if lost is None else lost
        self.axes: dict[Any, MpiJob] = {}
        self.calls, self.call = 0, ""

    def arrange(self, mesh: Mapping[Any, int]) -> None:
        """Places the processes on a mesh of named axes, of which the last is the fastest; processes
        that differ on one axis only talk along it."""
        place = np.unravel_index(self.rank, tuple(mesh.values()))
        self.position = dict(zip(mesh, map(int, place), strict=True))
        for k, name in enumerate(mesh):
            others = np.ravel_multi_index((*place[:k], 0, *place[k + 1 :]), tuple(mesh.values()))
            self.axes[name] = MpiJob(self.comm.Split(int(others), int(place[k])), self.lost)

    def processes_along(self, axis: Any) -> World:
        return self.axes.get(axis, ALONE) if self.axes else self

    def count_devices(self, requested: int | None, cores: int) -> None:
        """Agrees with the other processes on how many devices each has."""
        machine = _machine(self.comm)
        own = max(1, cores // machine.Get_size()) if requested is None else requested
        machine.Free()
        self.devices = tuple(self.comm.allgather(own))

    def begin(self, program: str) -> None:
        if self.lost:
            raise RuntimeError(
                "the other processes wait at a meeting that an error in this one prevented: "
                "end the job, and start it again from what was saved"
            )
        self.calls += 1
        self.call = f"call {self.calls}, of {program}"

    def extent(self, n: int) -> tuple[int, int]:
        request, announced = self.announce(n)
        request.Wait()
        if _differ(announced):
            calls = "; ".join(f"process {k} at {call}" for k, call in enumerate(self.all_calls()))
            raise RuntimeError(f"the processes do not make the same calls of pmap: {calls}")
        counts = announced[:, 0].tolist()
        return sum(counts[: self.rank]), sum(counts)

    def announce(self, n: int) -> tuple[Any, Any]:
        """Tells the other processes of this call and what it brings; what all told is there when
        the request is done."""
        own = np.array([n, zlib.crc32(self.call.encode())], np.int64)
        announced = np.empty((self.size, 2), np.int64)
        return self.comm.Iallgather(own, announced), announced

    def all_calls(self) -> list[str]:
        return self.comm.allgather(self.call)  # type: ignore[no-any-return]

    def end(self) -> None:
        """Waits for the others to end, too: one that is at a call of pmap is told, and raises."""
        if self.lost:
            return
        jobs = [job for job in self.axes.values() or [self] if job.size > 1]
        for job in jobs:
            job.call = "its end"
        told = [job.announce(0) for job in jobs]
        for request, _ in told:
            request.Wait()
        for job, (_, announced) in zip(jobs, told, strict=True):
            if _differ(announced):
                job.all_calls()

    def give_up(self) -> None:
        if self.size > 1 and not self.lost:
            self.lost.append(True)
            atexit.register(self.comm.Abort, 1)

    def agree(self, what: str) -> None:
        """Refuses a meeting to which processes come with different things: MPI does not look."""
        from mpi4py import MPI  # noqa: PLC0415 (optional)

        code = zlib.crc32(what.encode())
        own, all_ = np.array([code, -code], np.int64), np.empty(2, np.int64)
        self.comm.Allreduce(own, all_, MPI.MAX)
        if all_[0] != -all_[1]:
            raise RuntimeError(
                f"the processes bring different things to a meeting: process {self.rank} a {what}"
            )

    def reduce(self, x: Any, name: str) -> Any:
        if self.size == 1:
            return x
        self.agree(f"{name} of {np.shape(x)} {np.asarray(x).dtype}")
        if name == "psum" and np.asarray(x).dtype.char in SUMMED:
            own = np.ascontiguousarray(x)
            result = np.empty_like(own)
            self.comm.Allreduce(own, result)
        else:  # MPI knows no nan in extrema, nor small floats
            result = REDUCE[name](self.comm.allgather(x))
        return result.reshape(np.shape(x))[()]

    def all_gather(self, x: Any) -> Any:
        if self.size == 1:
            return x
        self.agree(f"all_gather of {x.shape[1:]} {x.dtype}")
        if x.dtype.char not in SUMMED:
            return np.concatenate(self.comm.allgather(x))
        own = np.ascontiguousarray(x)
        rows = self.comm.allgather(len(own))
        each = math.prod(own.shape[1:])
        result = np.empty((sum(rows), *own.shape[1:]), own.dtype)
        self.comm.Allgatherv(own, [result, [n * each for n in rows]])
        return result


def _differ(told: Any) -> bool:
    """Whether processes are at different calls."""
    return bool(np.any(told[:, 1] != told[0, 1]))


def _machine(comm: Any) -> Any:
    """The processes on the same machine."""
    from mpi4py import MPI  # noqa: PLC0415 (optional)

    return comm.Split_type(MPI.COMM_TYPE_SHARED)


def join() -> MpiJob:
    """The processes that were started together; an error that is not caught ends all of them."""
    try:
        from mpi4py import MPI  # noqa: PLC0415 (optional)
    except ImportError as e:
        raise ImportError(
            "tapeless.distributed needs mpi4py and an MPI library: pip install tapeless[mpi]"
        ) from e
    job = MpiJob(MPI.COMM_WORLD)
    if job.size > 1:
        _end_all_with_errors(MPI.COMM_WORLD)
        atexit.register(job.end)
    return job


HEARD = 0.5  # seconds in which a launcher passes on what a process wrote before it was ended


def _end_all_with_errors(comm: Any) -> None:
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        if before is sys.__excepthook__:  # in one piece: others may be writing, too
            sys.stderr.write("".join(traceback.format_exception(kind, error, tb)))
        else:
            before(kind, error, tb)
        sys.stderr.flush()
        time.sleep(HEARD)
        comm.Abort(1)

    sys.excepthook = hook
