"""The arrays that are alive, and who holds on to them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from tapeless.profiler.pprof import Place

Held = tuple[np.ndarray[Any, Any], tuple[Place, ...], str]


def live_arrays(platform: str | None = None) -> list[np.ndarray[Any, Any]]:
    """The NumPy arrays that are alive, as far as they can be found: those in variables of the
    functions that run now, of modules, and in containers and objects of Python. Arrays that only C
    code holds are not among them.

    platform  "cpu", which is what None means

    Views of one array are one, the array that owns the memory.

    >>> x = np.ones((1000, 1000))
    >>> any(x is found for found in live_arrays())
    True
    """
    if platform not in (None, "cpu"):
        return []
    return [array for array, _, _ in held_arrays()]


def held_arrays() -> Iterator[Held]:
    """Each live array, with the stack or the name of who holds it."""
    seen: set[int] = set()
    for found, stack, name in _holders():
        array = owner(found)
        if array is not None and id(array) not in seen:
            seen.add(id(array))
            yield array, stack, name


def owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The array whose memory this is; None for memory that is no array's."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.flags.owndata or array.base is not None else None


def _holders() -> Iterator[Held]:
    skipped = {id(sys._getframe())}
    for frame in list(sys._current_frames().values()):
        yield from _of_frames(frame, skipped)
    modules = {id(vars(m)): name for name, m in list(sys.modules.items()) if hasattr(m, "__dict__")}
    for holder in gc.get_objects():
        if type(holder) is FrameType:
            continue
        module = modules.get(id(holder))
        pairs = holder.items() if module is not None else ((None, x) for x in _parts(holder))
        for name, x in list(pairs):
            if issubclass(type(x), np.ndarray):
                what = f"{module}.{name}" if module else f"in a {type(holder).__qualname__}"
                yield x, (Place(what, module or "", 0),), "module" if module else "object"


def _parts(holder: Any) -> list[Any]:
    # by type, for isinstance would ask what weak references stand for
    return [x for x in gc.get_referents(holder) if issubclass(type(x), np.ndarray)]


def _of_frames(frame: FrameType | None, skipped: set[int]) -> Iterator[Held]:
    """What the functions of a thread hold in variables."""
    while frame is not None:
        if id(frame) not in skipped and not _is_ours(frame):
            stack = tuple(_stack(frame))
            for name, x in list(frame.f_locals.items()):
                for array in [x] if issubclass(type(x), np.ndarray) else _directly_in(x):
                    yield array, (Place(name, stack[0].file, stack[0].line), *stack), "variable"
        frame = frame.f_back


def _directly_in(x: Any) -> list[Any]:
    return [y for y in x if issubclass(type(y), np.ndarray)] if type(x) in (list, tuple) else []


def _stack(frame: FrameType | None) -> Iterator[Place]:
    while frame is not None:
        if not _is_ours(frame):
            code = frame.f_code
            yield Place(code.co_qualname, code.co_filename, frame.f_lineno)
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("tapeless.profiler")
