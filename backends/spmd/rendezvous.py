"""Synchronises shards: each brings a value, and all leave with the same one.

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
SMALL = 1 << 12  # numbers that each shard combines for itself; of more, each does a part


class Meeting:
    """The meetings of the shards of one call, and with those of other processes.

    What a shard puts on a table is taken before it is at the next but one wait: no table is cleared
    too early. Each takes copies, which it may overwrite.
    """

    def __init__(self, shards: int, world: World = ALONE) -> None:
        self.count, self.world = shards, world
        self.values: list[Any] = [None] * shards
        self.parts: list[Any] = [None] * shards
        self.made: Any = None
        self.barrier = threading.Barrier(shards)
        self.wait = self.barrier.wait if shards > 1 else int

    def place(self, k: int) -> Shards:
        """What shard k meets the others through."""
        return Shards(self, k)

    def abort(self) -> None:
        """A shard will not come any more."""
        self.barrier.abort()

    def combine(self, k: int, x: Any, make: Callable[[list[Any]], Any]) -> Any:
        """make([value of shard 0, ...]), which each shard does for itself."""
        self.values[k] = x
        self.wait()
        result = make(self.values)
        self.wait()  # all have read: the values may be overwritten
        return result

    def in_parts(self, k: int, x: Any, make: Callable[[list[Any]], Any]) -> Any:
        """The same of an operation on elements, of which each shard does a part for all."""
        x = np.ascontiguousarray(x)
        own = slice(x.size * k // self.count, x.size * (k + 1) // self.count)
        self.values[k] = x.reshape(-1)
        self.wait()
        self.parts[k] = make([v[own] for v in self.values])
        self.wait()  # all have read the values, and the parts are there
        return np.concatenate(self.parts).reshape(x.shape)

    def with_other_processes(self, k: int, x: Any, talk: Callable[[Any], Any]) -> Any:
        """What all shards of this process have, after talking to other processes."""
        if self.world is ALONE:
            return x
        if k == 0:  # in the thread of the caller
            self.made = talk(x)
        self.wait()
        return self.made.copy() if self.count > 1 else self.made


class Shards:
    """What emitted code calls `shards`."""

    def __init__(self, meeting: Meeting, k: int) -> None:
        self.meeting, self.k = meeting, k

    def psum(self, x: Any) -> Any:
        return self._reduce(x, "psum", np.add)

    def pmax(self, x: Any) -> Any:
        return self._reduce(x, "pmax", np.maximum)

    def pmin(self, x: Any) -> Any:
        return self._reduce(x, "pmin", np.minimum)

    def _reduce(self, x: Any, name: str, join: Any) -> Any:
        m = self.meeting
        if m.count == 1:
            result = x.copy() if m.world is ALONE else x
        else:
            how = m.combine if x.size < SMALL else m.in_parts
            result = how(self.k, x, functools.partial(functools.reduce, join))
        return m.with_other_processes(self.k, result, lambda x: m.world.reduce(x, name))

    def all_gather(self, x: Any) -> Any:
        rows = self.meeting.combine(self.k, x, np.concatenate)
        return self.meeting.with_other_processes(self.k, rows, self.meeting.world.all_gather)
