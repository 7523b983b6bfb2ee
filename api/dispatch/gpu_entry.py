"""Dispatches calls to programs for a GPU by the exact types and shapes of the arguments.

f(x)      looks for the program of (float32, (300, 300)) and runs it, where nothing else may differ

What a program depends on beside them (values that it reads from outside, arrays that it stores to,
integers, containers) takes the long way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.backends import cuda
from tapeless.dispatch.specialisation import Specialisation
from tapeless.staging.gpu_arrays import Mixin, as_gpu_arrays, gpu_array

MOST = 4096  # signatures that are remembered


class GpuEntries:
    """The programs of one function that take their arguments as they are."""

    def __init__(self) -> None:
        self.programs: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def find(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The program for arguments, if such arguments were noted."""
        key = signature(args)
        return None if key is None else self.programs.get(key)

    def note(self, args: tuple[Any, ...], specialisation: Specialisation) -> None:
        """Remembers a program that was right for arguments, if it is for all of their types and
        shapes."""
        key = signature(args)
        if key is None or cuda.device_count() > 1 or not is_simple(specialisation):
            return
        if len(self.programs) >= MOST:
            self.programs.clear()
        ours = any(isinstance(x, Mixin) for x in args)
        self.programs[key] = wrapping(specialisation.run) if ours else specialisation.run


def signature(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What arguments are, if all are floats or arrays on a GPU, and one is such an array."""
    arrays, parts, some = cuda.ARRAYS, [], False
    for x in args:
        kind = x.__class__
        if kind in arrays:
            parts.append((kind, x.dtype, x.shape))
            some = True
        elif kind is float:
            parts.append((kind, None, None))
        else:
            return None
    return tuple(parts) if some else None


def is_simple(specialisation: Specialisation) -> bool:
    """Whether a program depends on types and shapes of its arguments alone, and gives its results
    as they are."""
    other = (
        specialisation.static,
        specialisation.guards,
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
