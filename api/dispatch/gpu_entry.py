"""Dispatches calls to programs for a GPU by the exact types and shapes of the arguments.

f(x)      looks for the program of (float32, (300, 300)) and runs it, where nothing else may differ

What a program depends on beside them (arrays that it reads from outside or stores to, integers,
objects) takes the long way. Functions and numbers that it found outside are looked at in each call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeless.backends import cuda
from tapeless.dispatch.specialisation import Specialisation
from tapeless.staging.gpu_arrays import Mixin, as_gpu_arrays, gpu_array
from tapeless.transforms.frontend.trace.recorded_reads import Guard

MOST = 4096  # signatures that are remembered


class GpuEntries:
    """The programs of one function that take their arguments as they are."""

    def __init__(self) -> None:
        self.programs: dict[tuple[Any, ...], tuple[Sequence[Guard], Callable[..., Any]]] = {}

    def find(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The program for arguments, if such arguments were noted."""
        key = signature(args)
        guards, run = (None, None) if key is None else self.programs.get(key, (None, None))
        if guards and not all(g.holds() for g in guards):
            return None
        return run

    def note(self, args: tuple[Any, ...], specialisation: Specialisation) -> None:
        """Remembers a program that was right for arguments, if it is for all of their types and
        shapes."""
        key = signature(args)
        if key is None or cuda.device_count() > 1 or not is_simple(specialisation):
            return
        if len(self.programs) >= MOST:
            self.programs.clear()
        ours = any(isinstance(x, Mixin) for x in leaves(args))
        run = cuda.with_graphs(specialisation.run)
        self.programs[key] = specialisation.guards, wrapping(run) if ours else run


def signature(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What arguments are, if all are floats or arrays on a GPU, also those in lists, tuples and
    dicts, and one is such an array."""
    parts: list[Any] = []
    return tuple(parts) if _describe(args, parts) and any(map(_is_of_array, parts)) else None


def _is_of_array(part: tuple[Any, ...]) -> bool:
    return len(part) == 3


def _describe(values: Any, parts: list[Any]) -> bool:
    """Whether values are described by their types and shapes, which are added to the parts."""
    arrays = cuda.ARRAYS
    for x in values:
        kind = x.__class__
        if kind in arrays:
            parts.append((kind, x.dtype, x.shape))
        elif kind is float:
            parts.append((kind,))
        elif kind is tuple or kind is list:
            parts.append((kind, len(x)))
            if not _describe(x, parts):
                return False
        elif kind is dict:
            parts.append((kind, tuple(x)))
            if not _describe(x.values(), parts):
                return False
        else:
            return False
    return True


def leaves(values: Any) -> Iterator[Any]:
    """The arrays and numbers in nested lists, tuples and dicts."""
    for x in values:
        if x.__class__ in (tuple, list):
            yield from leaves(x)
        elif x.__class__ is dict:
            yield from leaves(x.values())
        else:
            yield x


def is_simple(specialisation: Specialisation) -> bool:
    """Whether a program depends on types and shapes of its arguments alone, and gives its results
    as they are."""
    other = (
        specialisation.static,
        specialisation.traced,
        specialisation.captured,
        specialisation.keys,
        specialisation.changes,
    )
    stored = specialisation.memory.stored or specialisation.held or specialisation.writes
    return (
        specialisation.takes_args and not any(other) and not stored and not specialisation.keywords
    )


def wrapping(run: Callable[..., Any]) -> Callable[..., Any]:
    """A program whose results are arrays of our class."""
    ours = gpu_array()
    plain = ours.__mro__[2]

    def call(*args: Any) -> Any:
        result = run(*args)
        return result.view(type=ours) if result.__class__ is plain else as_gpu_arrays(result)

    return call
