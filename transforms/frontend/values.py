"""Python values that hold symbols: taken apart at the end of a block, put together after it."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic, atom
from tapeless.transforms.core.language import Atom, Literal, StackType, Type, Var
from tapeless.transforms.errors import StructureError, TapelessError, UnsupportedError
from tapeless.transforms.frontend.kin import MUTABLE as CONTAINERS
from tapeless.transforms.frontend.kin import changed, chosen, current
from tapeless.transforms.frontend.provenance import static_attribute
from tapeless.transforms.frontend.sameness import NUMBERS, same
from tapeless.transforms.frontend.symbols import Symbol, constant
from tapeless.transforms.frontend.syntax import RESULT, plain
from tapeless.transforms.frontend.texts import Chosen, Text
from tapeless.transforms.frontend.trace import Location, trace
from tapeless.transforms.ops.shapes import cast


class Missing:
    """The value of a variable that is not set."""

    def __repr__(self) -> str:
        return "undefined"


MISSING = Missing()


@dataclass(frozen=True)
class Diverged:
    """The value of a variable that is refused where it is read: after branches that left it with
    values that do not fit together, or where its memory may have been overwritten."""

    reason: str
    hint: str = "give the name the same kind of value on every side and in every pass"
    error: type[TapelessError] = StructureError
    test: Atom | None = None  # of the branches, if it can be known while staging

    def refusal(self) -> BaseException:
        """What to raise where it is read: where the test can be known, it has to be."""
        if self.test is not None:
            return NeedStatic(self.test, self.reason, self.hint)
        return self.error(self.reason, self.hint)


@dataclass(frozen=True, eq=False)
class Spec:
    """What a value is made of. kind: leaf, static, or the type of a container."""

    kind: Any
    value: Any  # the object itself
    keys: tuple[Any, ...] = ()
    children: tuple[Spec, ...] = ()
    atom: Atom | None = None

    def leaves(self) -> Iterator[Atom]:
        if self.kind == "leaf":
            assert self.atom is not None
            yield self.atom
        for c in self.children:
            yield from c.leaves()

    def leaf_values(self) -> Iterator[Any]:
        """What the leaves are in the user's program."""
        if self.kind == "leaf":
            yield self.value
        for c in self.children:
            yield from c.leaf_values()

    def describe(self) -> str:
        if self.kind == "leaf":
            assert self.atom is not None
            return str(self.atom.type)
        if self.kind == "static":
            return (
                "undefined"
                if self.value is MISSING
                else f"the function '{self.value.__name__}'"
                if isinstance(self.value, FunctionType)
                else f"{type(self.value).__name__} {self.value!r}"[:60]
            )
        if issubclass(self.kind, Text):
            return "text by data"
        return f"{self.kind.__name__}({', '.join(c.describe() for c in self.children)})"[:80]


def take_apart(value: Any) -> Spec:
    """The structure of a value and the present atoms of its leaves (read in the open block)."""
    if isinstance(value, Symbol):
        return Spec("leaf", value, atom=value.present())
    if isinstance(value, NUMBERS) and not isinstance(value, enum.Enum):
        return Spec("leaf", value, atom=atom(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return Spec("leaf", value, atom=constant(value))
    tail = getattr(value, "tail", None) if isinstance(value, list) else None
    if tail is not None and tail.spec.kind == "leaf":
        return take_apart(value.arrays()[0])
    if isinstance(value, (list, tuple)):
        current(value)
        return Spec(type(value), value, tuple(range(len(value))), tuple(map(take_apart, value)))
    if isinstance(value, deque):
        current(value)
        parts = (Spec("static", value.maxlen), *map(take_apart, value))
        return Spec(type(value), value, ("maxlen", *range(len(value))), parts)
    if isinstance(value, dict):
        current(value)
        return Spec(type(value), value, tuple(value), tuple(map(take_apart, value.values())))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        current(value)
        names = _attributes(value)
        return Spec(type(value), value, names, tuple(take_apart(getattr(value, n)) for n in names))
    return Spec("static", value)


def _attributes(record: Any) -> tuple[str, ...]:
    """The fields of a dataclass, and what else was set in it; what it computes on demand is not."""
    cls, names = type(record), dict.fromkeys(f.name for f in dataclasses.fields(record))
    names |= dict.fromkeys(getattr(record, "__dict__", ()))
    on_demand = functools.cached_property
    return tuple(n for n in names if not isinstance(static_attribute(cls, n), on_demand))


class Reference:
    """The kind of a spec for memory that others may see too; `build` makes the array."""

    build: Callable[[Spec, list[Any]], Symbol]


def is_reference(spec: Spec) -> bool:
    return isinstance(spec.kind, type) and issubclass(spec.kind, Reference)


def is_text(spec: Spec) -> bool:
    """Whether it is a string, or one of several by data."""
    return spec.kind is Chosen or (spec.kind == "static" and isinstance(spec.value, str))


def dict_like(like: dict[Any, Any], items: dict[Any, Any]) -> dict[Any, Any]:
    """A dictionary of the kind of another one, such as an `OrderedDict`, with these items."""
    if type(like) is dict:
        return items
    made = copy.copy(like)
    made.clear()
    made.update(items)
    return made


def deque_like(like: deque[Any], items: list[Any]) -> deque[Any]:
    """A deque of the kind of another one, as long at most as that, with these items."""
    made = copy.copy(like)
    made.clear()
    made.extend(items)
    return made


def put_together(spec: Spec, children: list[Any]) -> Any:
    if all(new is old.value for new, old in zip(children, spec.children, strict=True)):
        return spec.value
    return renewed(spec, children)


def standing_for(spec: Spec, children: list[Any]) -> Any:
    """What a loop carries for a container: another one, which is known to stand for it."""
    if not children or is_reference(spec):
        return put_together(spec, children)
    return chosen(renewed(spec, children), spec.value)


def renewed(spec: Spec, children: list[Any]) -> Any:
    """A container of its own, built as the spec says."""
    kind, value = spec.kind, spec.value
    if is_reference(spec):
        return kind.build(spec, children)
    if issubclass(kind, dict):
        return trace().born(dict_like(value, dict(zip(spec.keys, children, strict=True))))
    if issubclass(kind, deque):
        return trace().born(deque_like(value, children[1:]))
    if hasattr(kind, "_fields"):
        return kind(*children)
    if issubclass(kind, list):
        return trace().born(kind(children))
    if issubclass(kind, tuple):
        return kind(children)
    made = object.__new__(kind)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(made, name, child)
    return trace().born(made)


Build = Callable[[Spec, Spec, Callable[[], list[Any]]], Any]


def _like_the_first(a: Spec, b: Spec, children: Callable[[], list[Any]]) -> Any:
    return put_together(a, children())


def join(
    a: Spec,
    b: Spec,
    leaf: Callable[[Spec, Spec], Any],
    build: Build = _like_the_first,
    text: Callable[[Spec, Spec], Any] | None = None,
) -> Any:
    """One value for two that are built alike; `leaf` makes the value for two leaves, `build` that
    for two containers, `text` that for two texts, where they may differ."""
    if a.kind == "leaf" and b.kind == "leaf":
        return leaf(a, b)
    if text is not None and a.value is not b.value and is_text(a) and is_text(b):
        return text(a, b)
    if a.kind == "static" and b.kind == "static":
        if a.value is b.value or same(a.value, b.value):
            return a.value
        raise StructureError(
            f"{a.describe()} and {b.describe()} differ",
            "only numbers, arrays and containers of them can depend on data",
        )
    a, b = _of_the_program(a, b), _of_the_program(b, a)
    if a.kind is b.kind and a.keys == b.keys:
        pairs = list(zip(a.children, b.children, strict=True))
        return build(a, b, lambda: [join(x, y, leaf, build, text) for x, y in pairs])
    if is_reference(a) and is_reference(b):
        return leaf(a, b)
    raise StructureError(f"{a.describe()} and {b.describe()} are built differently", Diverged.hint)


def _of_the_program(a: Spec, other: Spec) -> Spec:
    """A list from outside, where another one is made by the program, is of the kind of that."""
    own = a.kind is list and isinstance(other.kind, type) and issubclass(other.kind, list)
    named = own and other.kind.__name__ == "list"
    return dataclasses.replace(a, kind=other.kind) if named else a


def join_types(a: Type | StackType, b: Type | StackType) -> Type | StackType:
    """The type of a value that is now `a`, now `b`; StructureError if there is none."""
    if isinstance(a, StackType) or isinstance(b, StackType):
        if isinstance(a, StackType) and isinstance(b, StackType):
            joined = join_types(a.item, b.item)
            assert isinstance(joined, Type)
            return StackType(joined)
        raise StructureError(f"{a} and {b} differ")
    if a.ndim != b.ndim:
        raise StructureError(f"{a} and {b} have different numbers of axes")
    shape = tuple(_join_sizes(x, y) for x, y in zip(a.shape, b.shape, strict=True))
    if a.dtype == b.dtype:
        return Type(a.dtype, shape, a.weak and b.weak)
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        raise StructureError(f"{a} and {b}: one is a truth value, the other a number")
    if a.ndim:
        raise StructureError(f"{a} and {b} have different dtypes")
    if a.weak != b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        number = {"i": 0, "u": 0, "f": 0.0, "c": 0j}[weak.dtype.kind]
        return Type(np.result_type(strong.dtype, number), shape)
    return Type(np.promote_types(a.dtype, b.dtype), shape, a.weak)


def _join_sizes(a: dims.Size, b: dims.Size) -> dims.Size:
    if a == b:
        return a
    if 1 in (a, b):
        raise StructureError(
            f"an axis of length one becomes an axis of length {b if a == 1 else a}"
        )
    t = trace()
    if a in t.joined:
        return a
    x, y = t.value(a), t.value(b)
    if x is not None and x == y:
        t.guard("==", a, b)
        return a if isinstance(a, int) else b
    made = dims.symbol("n", 0)
    t.joined.add(made)
    return made


def called(name: str, a: Atom, alone: bool) -> str:
    """The name of what a variable holds: the variable's, if it holds nothing else beside."""
    own = a.name if isinstance(a, Var) else ""
    return (name if alone and name != RESULT else "") or own or name.removeprefix(".")


def convert(value: Atom, to: Type | StackType) -> Atom:
    """`value` as the joined type, in the open block."""
    if isinstance(to, StackType) or value.type.dtype == to.dtype:
        return value
    if isinstance(value, Literal):
        number = to.dtype.type(value.value)
        return Literal(number.item() if to.weak else number, to)
    if to.weak or (value.type.weak and not to.shape):
        return cast(value, dtype=to.dtype)  # type: ignore[no-any-return]
    return cast(value, dtype=to.dtype)  # type: ignore[no-any-return]


class FrameLocation(Location):
    def __init__(self, frame: Any, name: str) -> None:
        self.frame, self.variable, self.name = frame, name, plain(name)
        self.key = ("frame", id(frame), name)
        self.birth = trace().birth(frame)

    def get(self) -> Any:
        return self.frame.__dict__.get(
            self.variable, self.frame.__dict__.get(" diverged", {}).get(self.variable, MISSING)
        )

    def set(self, value: Any) -> None:
        values = self.frame.__dict__
        values.get(" diverged", {}).pop(self.variable, None)
        if value is MISSING:
            values.pop(self.variable, None)
        elif isinstance(value, Diverged):
            values.pop(self.variable, None)
            values.setdefault(" diverged", {})[self.variable] = value
        else:
            values[self.variable] = value


@dataclass(frozen=True, eq=False)
class ListContents:
    """The elements of a list, and those that rolled loops appended to it."""

    items: tuple[Any, ...]
    tail: Any

    def spec(self) -> Spec:
        parts = take_apart(self.items)
        return Spec(tuple, self.items, (id(self.tail), *parts.keys), parts.children)


class ContentsLocation(Location):
    """The contents of a list, dict or set."""

    def __init__(self, obj: Any) -> None:
        self.obj, self.key, self.birth = obj, ("contents", id(obj)), trace().birth(obj)

    def get(self) -> Any:
        if isinstance(self.obj, deque):
            return ListContents(tuple(self.obj), None)
        if isinstance(self.obj, list):
            return ListContents(tuple(list.__iter__(self.obj)), getattr(self.obj, "tail", None))
        return dict(self.obj) if isinstance(self.obj, dict) else frozenset(self.obj)

    def set(self, value: Any) -> None:
        fill(self.obj, value)


def fill(obj: Any, value: Any) -> None:
    """Gives a container its contents."""
    if isinstance(obj, deque):
        obj.clear()
        obj.extend(value.items if isinstance(value, ListContents) else value)
        return
    if isinstance(obj, list):
        items = value.items if isinstance(value, ListContents) else value
        list.__setitem__(obj, slice(None), items)
        if isinstance(value, ListContents) and hasattr(obj, "tail"):
            obj.tail = value.tail
        return
    obj.clear()
    obj.update(value)


def before_change(obj: Any) -> None:
    """Must be called before a container of Python's changes."""
    if isinstance(obj, CONTAINERS):
        changed(obj)
        trace().touch(ContentsLocation(obj))
    elif isinstance(obj, (bytearray, array)):
        what = f"changes a {type(obj).__name__} that is made outside of it"
        trace().only_once(what, "use a list or an array of NumPy", trace().birth(obj))


class AttributeLocation(Location):
    def __init__(self, obj: Any, name: str) -> None:
        self.obj, self.name, self.key = obj, name, ("attribute", id(obj), name)
        self.birth = trace().birth(obj)

    def get(self) -> Any:
        return getattr(self.obj, self.name, MISSING)

    def set(self, value: Any) -> None:
        if value is MISSING:
            delattr(self.obj, self.name)
        else:
            (type if isinstance(self.obj, type) else object).__setattr__(self.obj, self.name, value)


class GlobalLocation(Location):
    def __init__(self, values: dict[str, Any], name: str) -> None:
        self.values, self.name, self.key = values, name, ("global", id(values), name)

    def get(self) -> Any:
        return self.values.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        if value is MISSING:
            self.values.pop(self.name, None)
        else:
            self.values[self.name] = value


class ClosureLocation(Location):
    def __init__(self, cell: Any, name: str) -> None:
        self.cell, self.name, self.key = cell, name, ("closure", id(cell))

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value: Any) -> None:
        self.cell.cell_contents = value


def contains_symbol(value: Any, depth: int = 4) -> bool:
    if isinstance(value, (Symbol, Text)):
        return True
    if depth and isinstance(value, (list, tuple, set)):
        return bool(getattr(value, "tail", None)) or any(
            contains_symbol(v, depth - 1) for v in value
        )
    if depth and isinstance(value, dict):
        return any(contains_symbol(v, depth - 1) for v in value.values())
    if isinstance(value, slice):
        return any(isinstance(b, Symbol) for b in (value.start, value.stop, value.step))
    return False


def entry_spec(loc: Location, value: Any) -> Spec:
    if isinstance(value, ListContents):
        return value.spec()
    return Spec("static", value) if isinstance(value, Diverged) else take_apart(value)


def certain(spec: Spec) -> Spec:
    """The same spec, for what leaves the program's variables: those that may be unset are asked
    where the program runs, and numbers that may be None are refused."""
    for value in spec.leaf_values():
        absence = getattr(value, "undefined", None)
        if absence is not None and absence.none and absence.flag is not None:
            place = absence.origin
            raise UnsupportedError(
                f"'{absence.name}' is None or a number, by data, where it is returned, passed on "
                "or stored",
                "test before whether it is None, and put a number in its place: np.nan, -1",
                (place.file, place.line, 0, 0) if place is not None else None,
            )
        if absence is not None:
            value.value()
    return spec


def refuse_text(spec: Spec) -> None:
    """Refuses text that shows values known only when the program runs among what it leaves."""
    if isinstance(spec.value, Text):
        raise UnsupportedError(
            "text that shows values known only when the program runs is returned or stored outside",
            "return the values, and make the text of them outside",
        )
    for c in spec.children:
        refuse_text(c)
