"""Serves calls with other objects by the code that was made for objects of the same classes.

step(first)       was emitted as a function of    first.x, first.v
step(second)      calls the same function with    second.x, second.v

A specialisation knows which objects a program reads, and how: an object that is an argument, what
its attributes hold, and what is in those. Other objects serve as well where each stands in the
place of one of the first ones, always of the same one, and all else that the program relies on
holds for them.
"""

from __future__ import annotations

import copy
import functools
import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.dispatch.specialisation import (
    Specialisation,
    always_miss,
    is_replaceable,
    leaf_key,
)
from tapeless.lazy_import import lazy_module
from tapeless.transforms.core.constants import exactly
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.frontend.trace import readers
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object
from tapeless.transforms.frontend.trace.recorded_reads import (
    SIMPLE,
    Constants,
    FrozenConstants,
    Guard,
    KnownAddress,
)

if TYPE_CHECKING:
    from tapeless.transforms.frontend.heap import locations
    from tapeless.transforms.frontend.staging import writeback
    from tapeless.transforms.frontend.trace import journals
    from tapeless.transforms.frontend.values.structure import Structure
else:
    locations = lazy_module("tapeless.transforms.frontend.heap.locations")
    journals = lazy_module("tapeless.transforms.frontend.trace.journals")
    writeback = lazy_module("tapeless.transforms.frontend.staging.writeback")

#: Kinds of what a program is specialised on that can be asked of other objects.
ASKED = frozenset({Guard, Constants, FrozenConstants, KnownAddress})
#: What names in an emitted module may stand for: none of these leads to an object of the user's.
STEADY = (*SIMPLE, type, ModuleType, np.ndarray, np.ufunc)


class CannotReplaceError(Exception):
    """The emitted function knows one object, and no other one."""


class OtherObjects:
    """Which objects stand in the places of those that a specialisation was made for."""

    def __init__(
        self,
        specialisation: Specialisation,
        leaves: Sequence[Any],
        replaced: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        self.specialisation, self.leaves, self.replaced = specialisation, leaves, replaced
        self.images: dict[int, Any] = {}  # by the id of the first one
        self.first: dict[int, Any] = {}  # by the id of the other one
        self.readers: dict[int, Any] = {}

    # -- what is the same

    def are_alike(self, first: Any, now: Any) -> bool:
        """Whether an object may stand in the place of another one; from then on it does."""
        if id(first) in self.images:
            return self.images[id(first)] is now
        if is_replaceable(first) or is_replaceable(now):
            if type(first) is not type(now) or id(now) in self.first:
                return False
            self.images[id(first)], self.first[id(now)] = now, first
            if hasattr(first, "__dict__"):
                self.images[id(vars(first))] = vars(now)
            return True
        if type(first) is not type(now):
            return False
        if isinstance(first, tuple):
            return len(first) == len(now) and all(map(self.are_alike, first, now))
        if isinstance(first, MethodType):
            same = self.are_alike(first.__func__, now.__func__)
            return same and self.are_alike(first.__self__, now.__self__)
        if first is now:
            return self.stays(first)
        return isinstance(first, SIMPLE) and bool(exactly(first) == exactly(now))

    def stays(self, x: Any) -> bool:
        """Whether what is the same for all of them reads no object in whose place another one
        stands; from then on none does."""
        parts = (*_parts(x),)
        if parts:
            self.images[id(x)] = x
        return all(map(self.are_alike, parts, parts))

    def arguments_fit(self) -> bool:
        """Whether arguments are alike, as far as the program knows them."""
        s = self.specialisation
        if not all(self.are_alike(first, now) for first, now in self.replaced):
            return False
        return all(self.are_alike(value, self.leaves[k]) for k, value in s.static) and all(
            self.leaves[k].shape[axis] == n for k, axis, n in s.axes
        )

    def guards(self) -> Iterator[tuple[Guard, bool]]:
        """What the program relies on, read from these objects, and whether it holds."""
        for guard in self.specialisation.guards:
            if type(guard) not in ASKED:
                raise CannotReplaceError
            get = self.reader(guard.get)
            try:
                now = get()
            except readers.GONE:
                yield guard, False
                continue
            if isinstance(guard, FrozenConstants):
                here = FrozenConstants(guard.name, get, guard.value)
                yield here, here.holds()
            elif isinstance(guard, KnownAddress):
                yield guard, self.images.get(id(guard.value), guard.value) is guard.value
            else:
                yield type(guard)(guard.name, get, now), self.are_alike(guard.value, now)

    # -- the same for these objects

    def image(self, x: Any) -> Any:
        """What stands in the place of an object."""
        if type(x) is super:
            return super(x.__thisclass__, self.image(x.__self__))  # type: ignore[attr-defined]
        if isinstance(x, MethodType):
            this = self.image(x.__self__)
            return x if this is x.__self__ else MethodType(x.__func__, this)
        return self.images.get(id(x), x)

    def reader(self, get: Callable[[], Any]) -> Callable[[], Any]:
        """A reader of the same place of these objects."""
        if id(get) not in self.readers:
            self.readers[id(get)] = self.other_reader(get)
        return self.readers[id(get)]  # type: ignore[no-any-return]

    def other_reader(self, get: Callable[[], Any]) -> Callable[[], Any]:
        if isinstance(get, readers.Reader):
            kind: Any = type(get)
            return kind(*(self.part(f.name, getattr(get, f.name)) for f in fields(kind)))  # type: ignore[no-any-return]
        this = getattr(get, "__self__", None)
        if isinstance(get, MethodType) and isinstance(this, journals.Location):
            return MethodType(get.__func__, self.location(this))
        raise CannotReplaceError

    def part(self, name: str, x: Any) -> Any:
        if name in readers.INNER:
            return self.reader(x)
        return tuple(map(self.reader, x)) if name == readers.SEVERAL_INNER else self.image(x)

    def location(self, location: Any) -> Any:
        """The same place of these objects."""
        if isinstance(location, writeback.Held):
            return writeback.Held(location.number, self.reader(location.get))
        if not isinstance(location, locations.OuterLocation):
            raise CannotReplaceError
        other: Any = copy.copy(location)
        if isinstance(location, locations.AttributeLocation):
            other.obj = self.image(location.obj)
        elif isinstance(location, locations.GlobalLocation):
            other.values = self.image(location.values)
        elif isinstance(location, locations.ClosureLocation):
            other.cell = self.image(location.cell)
        else:
            raise CannotReplaceError
        return other

    def structure(self, spec: Structure) -> Structure:
        """How a value is put together, of these objects."""
        value = spec.value
        if spec.kind == "static":
            return replace(spec, value=self.constant(value))
        if spec.kind == "held":
            return replace(spec, value=self.location(value))
        if spec.kind == "copied" or is_plain_object(value):
            raise CannotReplaceError
        return replace(spec, children=tuple(map(self.structure, spec.children)))

    def constant(self, x: Any) -> Any:
        """A constant of the program, with these objects."""
        if isinstance(x, tuple):
            parts = tuple(map(self.constant, x))
            same = all(a is b for a, b in zip(x, parts, strict=True))
            if not same and type(x) is not tuple:
                raise CannotReplaceError
            return x if same else parts
        if isinstance(x, (*STEADY, FunctionType)) or is_plain_object(x):
            return self.image(x)
        raise CannotReplaceError

    def require_unknown_to_code(self) -> None:
        """Refuses code in which names stand for objects."""
        names = getattr(inspect.unwrap(self.specialisation.run), "__globals__", None)
        if names is None:
            raise CannotReplaceError
        for name, value in names.items():
            if name.startswith("__") or isinstance(value, STEADY):
                continue
            if self.images.get(id(value), value) is not value:
                raise CannotReplaceError
            is_ours = getattr(value, "__globals__", names) is names or _of_library(value)
            if not (callable(value) and is_ours):
                raise CannotReplaceError

    def make_specialisation(self) -> Specialisation | None:
        """The specialisation for these objects; None if what it relies on does not hold."""
        s = self.specialisation
        guards = []
        if s.second is not None or s.traced or not self.arguments_fit():
            return None
        for guard, holds in self.guards():
            if not holds:
                return None
            guards.append(guard)
        captured = [(self.reader(get), key) for get, key in s.captured]
        if not all(_has_key(get, key) for get, key in captured):
            return None
        self.require_unknown_to_code()
        other = copy.copy(s)
        other.static = [(k, self.image(value)) for k, value in s.static]
        other.guards, other.captured, other.enter = guards, captured, always_miss
        other.writes = [
            writeback.Write(self.location(w.location), self.structure(w.spec)) for w in s.writes
        ]
        other.held = [self.location(h) for h in s.held]
        other.outside = [(name, self.reader(get)) for name, get in s.outside]
        other.result = None if s.result is None else self.structure(s.result)
        other.hand_over, other.stands_for = None, s.stands_for or s
        if "staged" in vars(s):
            pairs = zip(s.staged.captured, captured, strict=True)
            other.staged = copy.copy(s.staged)
            other.staged.captured = [replace(c, get=get) for c, (get, _) in pairs]
        return other


def _has_key(get: Callable[[], Any], key: Any) -> bool:
    try:
        return bool(leaf_key(get()) == key)
    except readers.GONE:
        return False


def _parts(function: Any) -> Iterator[Any]:
    """What programs read of a function without a guard; of others, defaults have one."""
    if isinstance(function, functools.partial):
        yield from (function.func, *function.args, *function.keywords.values())
    elif isinstance(function, weakref.ref):
        yield function()
    elif hasattr(type(function), "cache_key"):
        yield function.fun


def _of_library(value: Any) -> bool:
    module = str(getattr(value, "__module__", None) or "").partition(".")[0]
    return module in ("numpy", "scipy", "math", "cmath", "tapeless", "builtins")


def for_other_objects(
    specialisation: Specialisation,
    leaves: Sequence[Any],
    replaced: Sequence[tuple[Any, Any]] = (),
) -> Specialisation | None:
    """The specialisation for a call with other objects in the places of those that it was made
    for; None if it is not right for them, or knows the objects themselves.

    replaced  objects and variables of the function that it was made for, and those in their places
    """
    try:
        serving = OtherObjects(specialisation, leaves, replaced).make_specialisation()
        if serving is None or not serving.accepts(leaves):
            return None
        serving.refuse_overlap(leaves)  # code that knows of the overlap may do
    except (CannotReplaceError, ArgumentError):
        return None
    return serving


def changed_values(
    specialisation: Specialisation,
    leaves: Sequence[Any],
    replaced: Sequence[tuple[Any, Any]] = (),
) -> Iterator[Guard]:
    """What does not hold for the objects of a call, of which the arguments are alike."""
    others = OtherObjects(specialisation, leaves, replaced)
    try:
        if others.arguments_fit():
            yield from (guard for guard, holds in others.guards() if not holds)
    except CannotReplaceError:
        return
