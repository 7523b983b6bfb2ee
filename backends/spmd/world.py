"""Represents the processes of a job, as one of them sees it. Without MPI there is one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class World:
    """A process by itself; what follows MPI is in `mpi.py`.

    rank      the number of this process
    size      how many there are
    devices   how many devices each process has
    position  where this process is on each axis of their mesh, if they form one
    """

    rank = 0
    size = 1
    devices: tuple[int, ...] = ()
    position: Mapping[Any, int] = MappingProxyType({})

    def processes_along(self, axis: Any) -> World:
        """The processes that a named axis is spread over."""
        return self

    def begin(self, program: str) -> None:
        """A call of a program begins, which all processes must make."""

    def extent(self, n: int) -> tuple[int, int]:
        """Where the n elements of this process start on the axis, and its length over all."""
        return 0, n

    def give_up(self) -> None:
        """This process cannot come to the meetings of the others any more."""

    def reduce(self, x: Any, name: str) -> Any:
        """The sum ("psum") or an extremum of what each process brings."""
        return x

    def all_gather(self, x: Any) -> Any:
        """What each process brings, joined along the first axis."""
        return x


ALONE = World()
_now = [ALONE]


def world() -> World:
    """The processes that this one works with."""
    return _now[0]


def enter(new: World) -> None:
    _now[0] = new
