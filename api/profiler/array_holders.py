"""Find who holds live arrays: variables of functions and modules, and what these hold.

An array is named as a program would reach it, `model.layers[0].w`, with the line that gave the
variable or attribute its value.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tapeless.profiler import assigned_lines
from tapeless.profiler.pprof import ProfileLine

Stack = tuple[ProfileLine, ...]
Holder = tuple[Any, Stack, str]
DEPTH = 8  # objects in one another
MOST = 100_000  # items of one container
OF_PYTHON = 1 << 9  # the flag of a class that a `class` statement makes
INSTALLED = tuple({p for k, p in sysconfig.get_paths().items() if k in ("stdlib", "purelib")})


def holders(is_array: Callable[[Any], bool]) -> Iterator[Holder]:
    """Each array that is held, who holds it, innermost first, and what that is."""
    walk = Walk(is_array)
    for frame in list(sys._current_frames().values()):
        yield from walk.frames(frame, sys._getframe())
    modules = [m for m in list(sys.modules.values()) if type(m) is ModuleType]
    for module in sorted(modules, key=_is_installed):
        yield from walk.module(module)
    names = {id(vars(module)): module.__name__ for module in modules}
    for holder in gc.get_objects():
        if type(holder) is FrameType or id(holder) in names:
            continue
        for x in gc.get_referents(holder):
            if is_array(x):
                what = f"in a {type(holder).__qualname__}"
                yield x, (ProfileLine(what, "", 0),), "object"


class Walk:
    """A walk through what variables hold, which meets each object once."""

    def __init__(self, is_array: Callable[[Any], bool]) -> None:
        self.is_array = is_array
        self.seen: set[int] = set()

    def frames(self, frame: FrameType | None, skipped: FrameType) -> Iterator[Holder]:
        """What the functions of a thread hold, the innermost first."""
        while frame is not None:
            if frame is not skipped and not _is_ours(frame):
                callers = tuple(_stack(frame))
                code = frame.f_code
                for name, x in list(frame.f_locals.items()):
                    file, line = code.co_filename, frame.f_lineno
                    line = assigned_lines.variable(file, code.co_qualname, name, line)
                    place = ProfileLine(function_name(frame), file, line)
                    yield from self.held(x, name, (place, *callers[1:]), "variable")
            frame = frame.f_back

    def module(self, module: ModuleType) -> Iterator[Holder]:
        """What the variables of a module hold; of installed ones, arrays themselves only."""
        file, installed = getattr(module, "__file__", None) or "", _is_installed(module)
        for name, x in list(vars(module).items()):
            if installed and not self.is_array(x):
                continue
            line = assigned_lines.variable(file, assigned_lines.MODULE, name, sys.maxsize)
            line = 0 if line == sys.maxsize else line
            place = ProfileLine(f"module {module.__name__}", file, line)
            yield from self.held(x, f"{module.__name__}.{name}", (place,), "module")

    def held(self, x: Any, name: str, stack: Stack, label: str, depth: int = 0) -> Iterator[Holder]:
        """The arrays in a value that is called `name`; the first of `stack` gave it its value."""
        if self.is_array(x):
            yield x, (ProfileLine(name, stack[0].file, stack[0].line), *stack), label
            return
        if depth == DEPTH or id(x) in self.seen:
            return
        parts = _parts(x, name)
        if parts is None:
            return
        self.seen.add(id(x))
        for part, path, place in parts:
            yield from self.held(part, path, (place, *stack) if place else stack, label, depth + 1)


Part = tuple[Any, str, ProfileLine | None]


def _parts(x: Any, name: str) -> Iterator[Part] | None:
    """What a container or an object holds, with names, and the lines that set attributes; None for
    what holds nothing that has a name."""
    kind = type(x)
    if kind in (list, tuple):
        return ((y, f"{name}[{k}]", None) for k, y in enumerate(x[:MOST]))
    if isinstance(x, dict):
        return ((y, f"{name}[{k!r}]", None) for k, y in list(x.items())[:MOST])
    if kind is FunctionType and x.__closure__:
        return _closure(x)
    if kind.__flags__ & OF_PYTHON and not isinstance(x, type):
        return _attributes(x, name)
    return None


def _closure(function: FunctionType) -> Iterator[Part]:
    code, outer = function.__code__, function.__qualname__.rpartition(".<locals>.")[0]
    file, until = code.co_filename, code.co_firstlineno
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        place = ProfileLine(outer, file, assigned_lines.variable(file, outer, name, until))
        for y in gc.get_referents(cell):
            yield y, f"{function.__qualname__}: {name}", place


def _attributes(x: Any, name: str) -> Iterator[Part]:
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:  # it has slots
        return
    kind = type(x)
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None) or ""
    for attribute, y in list(own.items()):
        found = assigned_lines.attribute(file, kind.__qualname__, attribute) if file else None
        place = ProfileLine(found.function, file, found.line) if found else None
        yield y, f"{name}.{attribute}", place


def _stack(frame: FrameType | None) -> Iterator[ProfileLine]:
    while frame is not None:
        if not _is_ours(frame):
            code = frame.f_code
            yield ProfileLine(function_name(frame), code.co_filename, frame.f_lineno)
        frame = frame.f_back


def function_name(frame: FrameType) -> str:
    """What runs, without a bracket in front: pprof drops names in angle brackets."""
    name = frame.f_code.co_qualname
    if name == assigned_lines.MODULE:
        return f"module {frame.f_globals.get('__name__')}"
    return name.strip("<>") if name.startswith("<") else name


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("tapeless.profiler")


def _is_installed(module: ModuleType) -> bool:
    """Whether a module is no user's."""
    file = getattr(module, "__file__", None)
    if module.__name__.partition(".")[0] == "tapeless":
        return True
    return module.__name__ != "__main__" and (
        file is None or any(Path(file).is_relative_to(p) for p in INSTALLED)
    )
