"""Finds who holds live arrays: variables of functions and modules, and what these hold.

An array is named as a program would reach it, `model.layers[0].w`, with the line that gave the
variable or attribute its value.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tapeless.profiler import assigned_lines
from tapeless.profiler.pprof import ProfileLine

Stack = tuple[ProfileLine, ...]
Holder = tuple[Any, Callable[[], Stack], str]
Place = Callable[[], ProfileLine | None]
#: That of a variable, or the name of a whole, "." or "[]", and an attribute, key or index of it.
Name = str | tuple["Name", str, Any]
Part = tuple[Any, Name, Place | None]
DEPTH = 8  # objects in one another
MOST = 100_000  # items of one container
BATCH = 1000  # objects that are looked through at once
WITHOUT_PARTS = frozenset({int, float, str, bool, bytes, type(None)})
OF_PYTHON = 1 << 9  # the flag of a class that a `class` statement makes
INSTALLED = tuple({p for k, p in sysconfig.get_paths().items() if k in ("stdlib", "purelib")})


def holders(arrays: type) -> Iterator[Holder]:
    """Each array of a class that is held, what tells who holds it, innermost first, and what that
    is."""
    walk = HolderWalk(arrays)
    for frame in list(sys._current_frames().values()):
        yield from walk.frames(frame, sys._getframe())
    modules = [m for m in list(sys.modules.values()) if type(m) is ModuleType]
    for module in sorted(modules, key=_is_installed):
        yield from walk.module(module)
    names = {id(vars(module)): module.__name__ for module in modules}
    objects = gc.get_objects()
    for first in range(0, len(objects), BATCH):
        batch = objects[first : first + BATCH]
        if not any(issubclass(t, arrays) for t in set(map(type, gc.get_referents(*batch)))):
            continue
        for holder in batch:
            if type(holder) is FrameType or id(holder) in names:
                continue
            for x in gc.get_referents(holder):
                if walk.is_array(x):
                    yield x, partial(_in_object, type(holder)), "object"


def _in_object(kind: type) -> Stack:
    return (ProfileLine(f"in a {kind.__qualname__}", "", 0),)


class HolderWalk:
    """A walk through what variables hold, which meets each object once."""

    def __init__(self, arrays: type) -> None:
        self.arrays = arrays
        self.seen: set[int] = set()
        self.installed: dict[type, bool] = {}

    def is_array(self, x: Any) -> bool:
        return issubclass(type(x), self.arrays)  # isinstance would ask what weak references mean

    def frames(self, frame: FrameType | None, skipped: FrameType) -> Iterator[Holder]:
        """What the functions of a thread hold, the innermost first; those of installed modules,
        arrays themselves only."""
        while frame is not None:
            if frame is not skipped and not _is_ours(frame):
                callers = tuple(_stack(frame))[1:]
                installed = frame.f_code.co_filename.startswith(INSTALLED)
                for name, x in list(frame.f_locals.items()):
                    if installed and not self.is_array(x):
                        continue
                    place = partial(_of_variable, frame, name)
                    yield from self.holders_in(x, name, AccessPath((place,), callers, "variable"))
            frame = frame.f_back

    def module(self, module: ModuleType) -> Iterator[Holder]:
        """What the variables of a module hold; of installed ones, arrays themselves only."""
        installed = _is_installed(module)
        for name, x in list(vars(module).items()):
            if not installed or self.is_array(x):
                path = AccessPath((partial(_of_module, module, name),), (), "module")
                yield from self.holders_in(x, (module.__name__, ".", name), path)

    def holders_in(self, x: Any, name: Name, path: AccessPath, depth: int = 0) -> Iterator[Holder]:
        """The arrays in a value that is called `name`."""
        if type(x) in WITHOUT_PARTS:
            return
        if self.is_array(x):
            yield x, partial(path.stack, name), path.label
            return
        if depth == DEPTH or id(x) in self.seen:
            return
        parts = _parts(x, name)
        if parts is None:
            return
        self.seen.add(id(x))
        deeper = not self.is_of_installed_class(type(x))
        for part, part_name, place in parts:
            if deeper or self.is_array(part):
                yield from self.holders_in(part, part_name, path.extend(place), depth + 1)

    def is_of_installed_class(self, kind: type) -> bool:
        """Whether a class is no user's: of its objects, attributes that are arrays are named, and
        nothing further down."""
        if kind not in self.installed:
            module = sys.modules.get(kind.__module__)
            self.installed[kind] = (
                kind.__module__ != "builtins" and module is not None and _is_installed(module)
            )
        return self.installed[kind]


@dataclass(frozen=True)
class AccessPath:
    """The way to a value.

    places   what says where each variable and attribute on it was assigned, the innermost first
    callers  the functions that led to the variable
    label    what the way begins at
    """

    places: tuple[Place, ...]
    callers: Stack
    label: str

    def extend(self, place: Place | None) -> AccessPath:
        """The way on, to a part."""
        if place is None:
            return self
        return AccessPath((place, *self.places), self.callers, self.label)

    def stack(self, name: Name) -> Stack:
        """The lines of the way, under the name of what it leads to."""
        lines = [line for place in self.places if (line := place()) is not None]
        return (ProfileLine(_name_text(name), lines[0].file, lines[0].line), *lines, *self.callers)


def _name_text(name: Name) -> str:
    """A name as text."""
    if isinstance(name, str):
        return name
    whole, between, part = name
    if between == ".":
        return f"{_name_text(whole)}.{part}"
    return f"{_name_text(whole)}[{part!r}]"


def _parts(x: Any, name: Name) -> Iterator[Part] | None:
    """What a container or an object holds, with names, and what says where attributes were
    assigned; None for what holds nothing that has a name."""
    kind = type(x)  # isinstance would ask what weak references stand for
    if kind in (list, tuple):
        return ((y, (name, "[]", k), None) for k, y in enumerate(x[:MOST]))
    if issubclass(kind, dict):
        return ((y, (name, "[]", k), None) for k, y in list(x.items())[:MOST])
    if kind is FunctionType and x.__closure__:
        return _closure(x)
    if kind.__flags__ & OF_PYTHON and not issubclass(kind, type):
        return _attributes(x, name)
    return None


def _closure(function: FunctionType) -> Iterator[Part]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        for y in gc.get_referents(cell):
            yield y, f"{function.__qualname__}: {name}", partial(_of_closure, function, name)


def _attributes(x: Any, name: Name) -> Iterator[Part]:
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:  # it has slots
        return
    for attribute, y in list(own.items()):
        yield y, (name, ".", attribute), partial(_of_attribute, type(x), attribute)


# -- where a variable or an attribute was assigned


def _of_variable(frame: FrameType, name: str) -> ProfileLine:
    file, scope = frame.f_code.co_filename, frame.f_code.co_qualname
    line = assigned_lines.variable(file, scope, name, frame.f_lineno)
    return ProfileLine(function_name(frame), file, line)


def _of_module(module: ModuleType, name: str) -> ProfileLine:
    file = getattr(module, "__file__", None) or ""
    line = assigned_lines.variable(file, assigned_lines.MODULE, name, sys.maxsize)
    return ProfileLine(f"module {module.__name__}", file, 0 if line == sys.maxsize else line)


def _of_closure(function: FunctionType, name: str) -> ProfileLine:
    code, scope = function.__code__, function.__qualname__.rpartition(".<locals>.")[0]
    line = assigned_lines.variable(code.co_filename, scope, name, code.co_firstlineno)
    return ProfileLine(scope, code.co_filename, line)


def _of_attribute(kind: type, name: str) -> ProfileLine | None:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    first = assigned_lines.attribute(file, kind.__qualname__, name) if file else None
    return ProfileLine(first.function, file, first.line) if first and file else None


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
    root = module.__name__.partition(".")[0]
    return root == "tapeless" or (
        root != "__main__"
        and (getattr(module, "__file__", None) or INSTALLED[0]).startswith(INSTALLED)
    )
