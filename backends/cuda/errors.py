"""Raises errors that kernels noted while the program went on, where somebody waits for results.

raise IndexError("...") in a kernel      leaves the row, times 256, and the error's number in a word

Words lie in memory of the host that the device sees, so that to look costs no transfer: after a
wait a word says whether its kernel failed; before that it may be too early to know.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.backends.cuda.availability import cupy
from tapeless.backends.fork_safe_locks import COMPILING

Table = tuple[tuple[str, tuple[Any, ...]], ...]
NONE = 2**64 - 1  # in a word of a kernel that has not failed
CHUNK = 512  # kernels whose words are taken from the system at once
WIDTH = 4  # words of a kernel: what failed, two integers that an error may tell, and a lock


class ErrorWord:
    """Where the launches of a kernel note the first row that fails: the least number stays.

    kernel  its name, for the message
    errors  by number: name of the class, arguments; `...` stands for an integer of the kernel,
            also in a tuple
    """

    def __init__(self, kernel: str, errors: Table) -> None:
        self.kernel, self.errors = kernel, errors
        with COMPILING:  # no other thread takes the same place
            if len(_words) % CHUNK == 0:
                pinned = cupy().cuda.alloc_pinned_memory(8 * WIDTH * CHUNK)
                chunk = np.frombuffer(pinned, np.uint64, WIDTH * CHUNK).reshape(CHUNK, WIDTH)
                chunk[:] = NONE, 0, 0, 0
                _chunks.append((pinned, chunk))
            chunk, k = _chunks[-1][1], len(_words) % CHUNK
            self.place = memoryview(chunk[k])  # read in less time than an array
            self.address = int(chunk.ctypes.data) + 8 * WIDTH * k
            _words.append(self)

    def take_error(self) -> BaseException | None:
        """The error that was noted, which is forgotten then."""
        noted = self.place[0]
        if noted == NONE:
            return None
        self.place[0] = NONE
        name, args = self.errors[noted % 256]
        integers = iter([n - 2**64 * (n >= 2**63) for n in self.place[1:3]])
        args = _fill_in(args, integers)
        kind = getattr(builtins, name, None) or getattr(np.linalg, name)
        error: BaseException = kind(*args)
        error.add_note(f"noted by {self.kernel} on the GPU, for row {noted // 256}")
        return error


def _fill_in(args: tuple[Any, ...], integers: Iterator[int]) -> tuple[Any, ...]:
    """The arguments of an error with integers in the places of `...`, also in texts.

    >>> _fill_in(("at", (..., 2, ...)), iter([5, 7]))
    ('at', (5, 2, 7))
    >>> _fill_in((("%", "number %d of %d", ..., ...),), iter([5, 7]))
    ('number 5 of 7',)
    """
    values = tuple(
        _fill_in(a, integers) if isinstance(a, tuple) else next(integers) if a is ... else a
        for a in args
    )
    return tuple(a[1] % a[2:] if isinstance(a, tuple) and a[:1] == ("%",) else a for a in values)


# Both only grow: a kernel that is not needed any more may still run, and note something.
_words: list[ErrorWord] = []
_chunks: list[tuple[Any, Any]] = []  # page-locked memory, which all devices see, and its words
pending: dict[ErrorWord, None] = {}  # of launches since the last wait, the first one first


def raise_noted() -> None:
    """Raises what launches since the last wait have noted until now; does not wait."""
    if any(word.place[0] != NONE for word in list(pending)):
        cupy().cuda.get_current_stream().synchronize()  # nothing more is noted after this
        raise_after_wait()


def raise_after_wait() -> None:
    """Raises the error of the kernel that was launched first, if one failed. All others are
    forgotten: what came after it computed with what it left."""
    launched = list(pending)
    pending.clear()
    if any(int(chunk[:, 0].min()) != NONE for _, chunk in _chunks):
        words = dict.fromkeys([*launched, *_words])
        errors = [error for word in words if (error := word.take_error()) is not None]
        if errors:
            raise errors[0]


def noted_before(error: Exception) -> BaseException | None:
    """What kernels noted before a driver failed, which came first in the program. It waits: what
    they note is of no concern to later calls."""
    if not pending or _of_cupy(error):
        return None  # the device may not answer any more
    try:
        synchronize()
    except Exception as noted:  # noqa: BLE001 (programs raise what they like)
        return None if _of_cupy(noted) else noted
    return None


def _of_cupy(error: Exception) -> bool:
    return type(error).__module__.startswith("cupy")


def read(number: Any) -> Any:
    """A number of the host; it waits for one of the device, and raises what kernels have noted: a
    loop that it decides about might not end without that."""
    if not hasattr(number, "item"):
        return number
    value = number.item()
    if pending:
        raise_noted()
    return value


def synchronize(device: int | None = None) -> None:
    """Waits for the current stream of a device, the current one if none is named, and raises what
    kernels have noted."""
    module = cupy()
    with module.cuda.Device(device):  # None is the current one
        module.cuda.get_current_stream().synchronize()
    raise_after_wait()
