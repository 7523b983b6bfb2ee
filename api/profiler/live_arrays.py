"""The arrays that are alive, and who holds on to them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from tapeless.profiler.pprof import ProfileLine
from tapeless.staging.device_list import GPU

Held = tuple[Any, tuple[ProfileLine, ...], str]


def live_arrays(platform: str | None = None) -> list[Any]:
    """The arrays that are alive, as far as they can be found: those in variables of the
    functions that run now, of modules, and in containers and objects of Python. Arrays that only C
    code holds are not among them.

    platform  "cpu", which is what None means: NumPy's; "gpu": those of CuPy

    Views of one array are one, the array that owns the memory.

    >>> x = np.ones((1000, 1000))
    >>> any(x is found for found in live_arrays())
    True
    """
    kind = np.ndarray if platform in (None, "cpu") else gpu_class(platform)
    return [] if kind is None else [array for array, _, _ in held_arrays(kind)]


def gpu_class(platform: str | None) -> Any:
    """The class of arrays on a GPU; None for other platforms, and where there are none yet."""
    return getattr(sys.modules.get("cupy"), "ndarray", None) if platform in GPU else None


def held_arrays(kind: type = np.ndarray) -> Iterator[Held]:
    """Each live array of a class, with the stack or the name of who holds it."""
    seen: set[int] = set()
    for holder, stack, name in _holders(kind):
        array = owner(holder) if kind is np.ndarray else owner_on_gpu(holder)
        if array is not None and id(array) not in seen:
            seen.add(id(array))
            yield array, stack, name


def owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The array whose memory this is; None for memory that is no array's."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.flags.owndata or array.base is not None else None


def owner_on_gpu(array: Any) -> Any:
    """The array whose memory this is."""
    while array.base is not None:
        array = array.base
    return array


def _holders(kind: type) -> Iterator[Held]:
    skipped = {id(sys._getframe())}
    for frame in list(sys._current_frames().values()):
        yield from _of_frames(frame, skipped, kind)
    modules = {id(vars(m)): name for name, m in list(sys.modules.items()) if hasattr(m, "__dict__")}
    for holder in gc.get_objects():
        if type(holder) is FrameType:
            continue
        module = modules.get(id(holder))
        pairs = holder.items() if module is not None else ((None, x) for x in _parts(holder, kind))
        for name, x in list(pairs):
            if issubclass(type(x), kind):
                what = f"{module}.{name}" if module else f"in a {type(holder).__qualname__}"
                yield x, (ProfileLine(what, module or "", 0),), "module" if module else "object"


def _parts(holder: Any, kind: type) -> list[Any]:
    # by type, for isinstance would ask what weak references stand for
    return [x for x in gc.get_referents(holder) if issubclass(type(x), kind)]


def _of_frames(frame: FrameType | None, skipped: set[int], kind: type) -> Iterator[Held]:
    """What the functions of a thread hold in variables."""
    while frame is not None:
        if id(frame) not in skipped and not _is_ours(frame):
            stack = tuple(_stack(frame))
            for name, x in list(frame.f_locals.items()):
                for array in [x] if issubclass(type(x), kind) else _directly_in(x, kind):
                    yield (
                        array,
                        (ProfileLine(name, stack[0].file, stack[0].line), *stack),
                        "variable",
                    )
        frame = frame.f_back


def _directly_in(x: Any, kind: type) -> list[Any]:
    return [y for y in x if issubclass(type(y), kind)] if type(x) in (list, tuple) else []


def _stack(frame: FrameType | None) -> Iterator[ProfileLine]:
    while frame is not None:
        if not _is_ours(frame):
            code = frame.f_code
            yield ProfileLine(code.co_qualname, code.co_filename, frame.f_lineno)
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("tapeless.profiler")
