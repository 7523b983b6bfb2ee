"""Errors that kernels note while the program goes on, raised where somebody waits for results.

raise IndexError("...") in a kernel      leaves the row, times 256, and the error's number in a word

Words lie in memory of the host that the device sees, so that to look costs no transfer: after a
wait a word says whether its kernel failed; before that it may be too early to know.
"""

from __future__ import annotations

import builtins
import itertools
from typing import Any

import numpy as np

from tapeless.backends.cuda.availability import cupy

Table = tuple[tuple[str, tuple[Any, ...]], ...]
NONE = 2**64 - 1  # in a word of a kernel that has not failed
CHUNK = 512  # words that are taken from the system at once


class Word:
    """Where the launches of a kernel note the first row that fails: the least number stays.

    kernel  its name, for the message
    errors  by number: name of the class, arguments
    """

    def __init__(self, kernel: str, errors: Table) -> None:
        self.kernel, self.errors = kernel, errors
        self.place = _place()
        self.place[0] = NONE
        self.address = int(self.place.ctypes.data)

    def taken(self) -> BaseException | None:
        """The error that was noted, which is forgotten then."""
        noted = int(self.place[0])
        if noted == NONE:
            return None
        self.place[0] = NONE
        name, args = self.errors[noted % 256]
        kind = getattr(builtins, name, None) or getattr(np.linalg, name)
        error: BaseException = kind(*args)
        error.add_note(f"noted by {self.kernel} on the GPU, for row {noted // 256}")
        return error


_memory: list[Any] = []  # what the words lie in, for as long as the process runs
_places: list[Any] = []  # those that nobody has yet


def _place() -> Any:
    """A word of 64 bits in page-locked memory, which has the same address on all devices."""
    if not _places:
        pinned = cupy().cuda.alloc_pinned_memory(8 * CHUNK)
        words = np.frombuffer(pinned, np.uint64, CHUNK)
        _memory.append((pinned, words))
        _places.extend(words[k : k + 1] for k in reversed(range(CHUNK)))
    return _places.pop()


# -- who is looked at

pending: dict[Word, None] = {}  # of launches since the last wait, the first one first


def raise_noted() -> None:
    """Raises what kernels have noted until now; does not wait for those that run."""
    for word in itertools.chain(pending):
        if word.place[0] != NONE:
            cupy().cuda.get_current_stream().synchronize()  # nothing more is noted after this
            raise_after_wait()


def raise_after_wait() -> None:
    """Raises the error of the kernel that was launched first, if one failed. All others are
    forgotten: what came after it computed with what it left."""
    words = list(pending)
    pending.clear()
    errors = [error for word in words if (error := word.taken()) is not None]
    if errors:
        raise errors[0]


def synchronize() -> None:
    """Waits for the current stream, and raises what its kernels have noted."""
    cupy().cuda.get_current_stream().synchronize()
    raise_after_wait()
