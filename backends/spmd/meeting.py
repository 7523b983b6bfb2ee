"""Where shards meet: each brings a value, and all leave with the same.

The values are combined in the order of the shards, so results do not depend on who comes first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends.spmd.world import ALONE, World

Broken = threading.BrokenBarrierError  # what shards get at a meeting that another cannot come to


class Meeting:
    """The meetings of the shards of one call, and with those of other processes."""

    def __init__(self, shards: int, world: World = ALONE) -> None:
        self.values: list[Any] = [None] * shards
        self.barrier = threading.Barrier(shards)
        self.world = world
        self.made: Any = None

    def place(self, k: int) -> Shards:
        """What shard k meets the others through."""
        return Shards(self, k)

    def abort(self) -> None:
        """A shard will not come any more."""
        self.barrier.abort()

    def bring(self, k: int, x: Any, combine: Callable[[list[Any]], Any]) -> Any:
        self.values[k] = x
        self.barrier.wait()
        if k == 0:  # in the thread of the caller: it may talk to other processes
            self.made = combine(self.values)
        self.barrier.wait()
        return self.made.copy()  # each may overwrite its own


class Shards:
    """What emitted code calls `shards`."""

    def __init__(self, meeting: Meeting, k: int) -> None:
        self.meeting, self.k = meeting, k

    def psum(self, x: Any) -> Any:
        return self._combined(x, "psum", np.add)

    def pmax(self, x: Any) -> Any:
        return self._combined(x, "pmax", np.maximum)

    def pmin(self, x: Any) -> Any:
        return self._combined(x, "pmin", np.minimum)

    def _combined(self, x: Any, name: str, join: Any) -> Any:
        def combine(values: list[Any]) -> Any:
            return self.meeting.world.combined(functools.reduce(join, values), name)

        return self.meeting.bring(self.k, x, combine)

    def all_gather(self, x: Any) -> Any:
        def combine(values: list[Any]) -> Any:
            return self.meeting.world.gathered(np.concatenate(values))

        return self.meeting.bring(self.k, x, combine)
