"""Flattens Python values that hold symbols at the end of a block, and rebuilds them after it."""

from __future__ import annotations

import copy
import enum
from collections import deque
from collections.abc import Callable, Iterator, MappingView
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic, atom
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import StructureError, TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol, constant
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes, is_record
from tapeless.transforms.frontend.values.choices import Either, has_identity
from tapeless.transforms.frontend.values.container_aliases import (
    LoopAliases,
    record_aliases,
    require_current,
)
from tapeless.transforms.frontend.values.identity import NUMBERS
from tapeless.transforms.frontend.values.text import ChosenText, Text

#: Where the classes are that stand for iterators and generators.
FRONTEND_MODULES = "tapeless.transforms.frontend."


class Missing:
    """The value of a variable that is not set."""

    def __repr__(self) -> str:
        return "undefined"


MISSING = Missing()
DEEPEST = 100  # objects in one another


@dataclass(frozen=True)
class Incompatible:
    """The value of a variable that is refused where it is read: after branches that left it with
    values that do not fit together, or where its memory may have been overwritten."""

    reason: str
    hint: str = "give the name the same kind of value on every side and in every pass"
    error: type[TapelessError] = StructureError
    test: Atom | None = None  # of the branches, if it can be known while staging
    loop: Any = None  # where it can be read if this one is unrolled

    def refusal(self) -> BaseException:
        """What to raise where it is read: where the test can be known, it has to be."""
        if self.test is not None:
            return NeedStatic(self.test, self.reason, self.hint)
        if self.loop is not None:
            trace().decisions.unroll_all({self.loop: self.reason})
        return self.error(self.reason, self.hint)


@dataclass(frozen=True, eq=False)
class Structure:
    """What a value is made of. kind: leaf, static, or the type of a container."""

    kind: Any
    value: Any  # the object itself
    keys: tuple[Any, ...] = ()
    children: tuple[Structure, ...] = ()
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
                else f"{type(self.value).__name__}{_text(self.value)}"[:60]
            )
        if issubclass(self.kind, Text):
            return "text by data"
        if self.kind is Either:
            return "one of two by data"
        if issubclass(self.kind, EnumCoded):
            return "one of several constants"
        if own_attribute(self.value, "is_range"):
            return "range by data"
        if is_in_stacks(self):
            return f"list of {self.keys[0].tail.spec.describe()}"
        if issubclass(self.kind, dict):
            pairs = zip(self.keys, self.children, strict=True)
            return f"dict({', '.join(f'{k!r}: {c.describe()}' for k, c in pairs)})"[:80]
        return f"{self.kind.__name__}({', '.join(c.describe() for c in self.children)})"[:80]


def _text(value: Any) -> str:
    """A constant as text; nothing of what may show values that are known only when the program
    runs: objects of a user's class, views of dictionaries, methods."""
    own = isinstance(value, enum.Enum) or type(value).__module__ in ("builtins", "numpy")
    return f" {value!r}" if own and not isinstance(value, (MappingView, MethodType)) else ""


REBUILT = "a list of tuples or lists that a loop filled is replaced in another loop or under a test"
IN_PARTS = "keep a list of numbers for each part: xs.append(x); ys.append(y)"


def flatten(value: Any, inner: Callable[[Any], Structure] | None = None) -> Structure:
    """The structure of a value and the present atoms of its leaves (read in the open block);
    `inner` takes apart what is in a container."""
    inner = inner or flatten
    if isinstance(value, Symbol):
        return Structure("leaf", value, atom=value.present())
    if isinstance(value, NUMBERS) and not isinstance(value, enum.Enum):
        return Structure("leaf", value, atom=atom(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return Structure("leaf", value, atom=constant(value))
    tail = own_attribute(value, "tail") if isinstance(value, list) else None
    if tail is not None and tail.spec.kind == "leaf":
        require_current(value)
        column = value.arrays()[0]
        column.listing = tail
        return flatten(column)
    if isinstance(value, (list, tuple)):
        require_current(value)
        if tail is not None and isinstance(length := value.length(), Symbol):  # type: ignore[union-attr]
            if (rows := rows_of_tuples(value, tail)) is not None:
                return rows
            raise NeedStatic(length.value(), REBUILT, IN_PARTS)
        length = tuple.__len__(value) if isinstance(value, tuple) else len(value)  # not a class's
        keys = (*range(length), *getattr(value, "traits", ()))
        return Structure(type(value), value, keys, tuple(map(inner, value)))
    if isinstance(value, deque):
        require_current(value)
        parts = (Structure("static", value.maxlen), *map(inner, value))
        return Structure(type(value), value, ("maxlen", *range(len(value))), parts)
    if isinstance(value, dict):
        require_current(value)
        return Structure(type(value), value, tuple(value), tuple(map(inner, value.values())))
    if is_record(value):
        require_current(value)
        names = attributes(value)
        with _open_once(value):
            children = tuple(inner(getattr(value, n)) for n in names)
        return Structure(type(value), value, names, children)
    return Structure("static", value)


@dataclass(frozen=True, eq=False)
class RowsOf:
    """The key of a spec for a list of tuples of numbers that loops filled, whose children are the
    columns: what a tuple is made of, and which numbers are Python's."""

    element: Structure
    weak: tuple[bool, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowsOf) or self.weak != other.weak:
            return False
        return _built_alike(self.element, other.element)

    def __hash__(self) -> int:
        return hash(self.weak)


def _built_alike(a: Structure, b: Structure) -> bool:
    pairs = zip(a.children, b.children, strict=False)
    alike = a.kind is b.kind and a.keys == b.keys and a.kind != "static"
    return alike and all(_built_alike(x, y) for x, y in pairs)


def rows_of_tuples(value: Any, tail: Any) -> Structure | None:
    """The structure of a list of tuples of numbers whose length is known when the program runs;
    None of other lists."""
    if not _is_list_of_numbers(value, tail):
        return None
    key = RowsOf(tail.spec, tuple(t.weak for t in tail.items))
    return Structure(type(value), value, (key,), tuple(flatten(a) for a in value.arrays()))


@dataclass(frozen=True, eq=False)
class StacksOf:
    """The key of a spec for a list of numbers, or of tuples of numbers, that loops filled, whose
    children are its stacks; `tail` has them."""

    tail: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StacksOf):
            return False
        mine, theirs = self.tail, other.tail
        alike = _built_alike(mine.spec, theirs.spec) and len(mine.items) == len(theirs.items)
        pairs = zip(mine.items, theirs.items, strict=True)
        return alike and all((a.dtype, a.weak) == (b.dtype, b.weak) for a, b in pairs)

    def __hash__(self) -> int:
        return len(self.tail.items)


@dataclass(frozen=True, eq=False)
class StackLeaf:
    """What a stack of a list is in a structure: no array and no number of the program's."""

    symbol: Symbol


def by_stacks(value: Any) -> Structure:
    """The structure of a value in which such lists are their stacks, which need no copy where
    another one takes the place of one."""
    tail = own_attribute(value, "tail") if isinstance(value, list) else None
    if tail is None or not _is_list_of_numbers(value, tail):
        return flatten(value, by_stacks)
    require_current(value)
    return Structure(type(value), value, (StacksOf(tail),), stack_leaves(tail))


def stack_leaves(tail: Any) -> tuple[Structure, ...]:
    """The leaves of a list in stacks, as they are now."""
    return tuple(Structure("leaf", StackLeaf(s), atom=s.value()) for s in tail.stacks)


def is_in_stacks(spec: Structure) -> bool:
    return bool(spec.keys) and isinstance(spec.keys[0], StacksOf)


def _is_list_of_numbers(value: Any, tail: Any) -> bool:
    numbers = all(not t.shape for t in tail.items) and not getattr(value, "traits", ())
    return numbers and is_of_numbers(tail.spec) and not trace().tracing


def has_rows(spec: Structure) -> bool:
    """Whether it is, or holds, a list of tuples of such a length."""
    is_one = bool(spec.keys) and isinstance(spec.keys[0], RowsOf)
    return is_one or any(map(has_rows, spec.children))


def is_of_numbers(spec: Structure) -> bool:
    """Whether a value is a number or an array that is no list, or a tuple of such."""
    if spec.kind == "leaf":
        return own_attribute(spec.value, "listing") is None
    own = isinstance(spec.kind, type) and issubclass(spec.kind, tuple)
    return own and all(map(is_of_numbers, spec.children))


def by_identity(value: Any) -> Structure:
    """The structure of a value in which containers and objects are themselves, and not what they
    hold: that is in locations of its own."""
    return Structure("static", value) if has_identity(value) else flatten(value, by_identity)


@contextmanager
def _open_once(value: Any) -> Iterator[None]:
    """Refuses to look into an object that is in itself."""
    opened = trace().opened
    if id(value) in opened or len(opened) > DEEPEST:
        raise StructureError(
            f"a {type(value).__name__} is in itself, or in very many others, and a loop or a test "
            "on data may change it",
            "keep arrays of what the objects hold, and the index of the next one",
        )
    opened.append(id(value))
    try:
        yield
    finally:
        opened.pop()


def list_of_array(a: Structure, b: Structure) -> Any:
    """The tail of the list that an array stands for which is now one of these, now the other."""
    tails = [own_attribute(spec.value, "listing") for spec in (a, b)]
    if (tails[0] is None) != (tails[1] is None):
        raise StructureError("it is a list here and an array there", "make it np.array(...) of it")
    return tails[0]


class Reference:
    """The kind of a spec for memory that others may see too; `build` makes the array."""

    build: Callable[[Structure, list[Any]], Symbol]


class EnumCoded:
    """The kind of a spec for one of several constants; `build` makes the value."""

    build: Callable[[Structure, list[Any]], Any]


def is_reference(spec: Structure) -> bool:
    return isinstance(spec.kind, type) and issubclass(spec.kind, Reference)


def is_text(spec: Structure) -> bool:
    """Whether it is a string, or one of several by run-time values."""
    return spec.kind is ChosenText or (spec.kind == "static" and isinstance(spec.value, str))


def dict_like(like: dict[Any, Any], items: dict[Any, Any]) -> dict[Any, Any]:
    """A dictionary of the kind of another one, such as an `OrderedDict`, with these items."""
    if type(like) is dict:
        return items
    result = copy.copy(like)
    result.clear()
    result.update(items)
    return result


def deque_like(like: deque[Any], items: list[Any]) -> deque[Any]:
    """A deque of the kind of another one, as long at most as that, with these items."""
    result = copy.copy(like)
    result.clear()
    result.extend(items)
    return result


def unflatten(spec: Structure, children: list[Any]) -> Any:
    if all(new is old.value for new, old in zip(children, spec.children, strict=True)):
        return spec.value
    return rebuild(spec, children)


def loop_copy_of(spec: Structure, children: list[Any], standing: LoopAliases) -> Any:
    """What a loop carries for a container: another one, which is known to stand for it."""
    if not children or is_reference(spec) or issubclass(spec.kind, EnumCoded):
        return unflatten(spec, children)
    sources = (spec.value, *standing.others_of(spec.value))
    return record_aliases(rebuild(spec, children), *sources, event=standing)


def rebuild(spec: Structure, children: list[Any]) -> Any:
    """A container of its own, built as the spec says."""
    kind, value = spec.kind, spec.value
    if issubclass(kind, (Reference, EnumCoded)):
        return kind.build(spec, children)
    if kind is Either:
        return Either(*children)
    if issubclass(kind, dict):
        return trace().born(dict_like(value, dict(zip(spec.keys, children, strict=True))))
    if issubclass(kind, deque):
        return trace().born(deque_like(value, children[1:]))
    if hasattr(kind, "_fields"):
        return kind(*children)
    if is_in_stacks(spec):
        symbols = [c.symbol if isinstance(c, StackLeaf) else c for c in children]
        return value.with_stacks(spec.keys[0].tail, symbols)
    if issubclass(kind, list) and spec.keys and isinstance(spec.keys[0], RowsOf):
        return value.with_rows(spec.keys[0].element, children, spec.keys[0].weak)
    if issubclass(kind, list):
        like = getattr(value, "with_items", None)  # a list from outside may stand here
        return trace().born(kind(children) if like is None else like(children))
    if issubclass(kind, tuple):
        return kind(children)
    instance = object.__new__(kind)
    for name, child in zip(spec.keys, children, strict=True):
        object.__setattr__(instance, name, child)
    return trace().born(instance)


def suggested_name(name: str, a: Atom, alone: bool) -> str:
    """The name of what a variable holds: the variable's, if it holds nothing else beside."""
    own = a.name if isinstance(a, Var) else ""
    return (name if alone and name != RESULT else "") or own or name.removeprefix(".")


def leaf_names(spec: Structure, name: str) -> Iterator[str]:
    """The names of the leaves of what a variable holds: `params_w` of params["w"]."""
    if spec.kind == "leaf" and spec.atom is not None:
        yield suggested_name(name, spec.atom, alone=True)
    for k, child in enumerate(spec.children):
        of_dict = isinstance(spec.kind, type) and issubclass(spec.kind, dict)
        longer = f"{name}_{spec.keys[k]}" if of_dict and name else name
        inner = longer if longer.isidentifier() else name
        if child.kind == "leaf" and child.atom is not None:
            yield suggested_name(inner, child.atom, alone=False)
        else:
            yield from leaf_names(child, inner)


def has_symbols(value: Any, depth: int = 4) -> bool:
    if isinstance(value, (Symbol, Text, Either)):
        return True
    if depth and isinstance(value, (list, tuple, set)):
        return bool(own_attribute(value, "tail")) or any(has_symbols(v, depth - 1) for v in value)
    if depth and isinstance(value, dict):
        return any(has_symbols(v, depth - 1) for v in value.values())
    if isinstance(value, slice):
        return any(isinstance(b, Symbol) for b in (value.start, value.stop, value.step))
    return bool(own_attribute(value, "is_range"))


def require_defined(spec: Structure) -> Structure:
    """The same spec, for what leaves the program's variables: those that may be unset are asked
    where the program runs, and numbers that may be None are refused."""
    for value in spec.leaf_values():
        absence = own_attribute(value, "undefined")
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


def refuse_unreturnable(spec: Structure) -> None:
    """Refuses what cannot leave the program: what stands for values while it is staged only."""
    if isinstance(spec.value, Text):
        raise UnsupportedError(
            "text that shows values known only when the program runs is returned or stored outside",
            "return the values, and make the text of them outside",
        )
    if isinstance(spec.value, Either):
        raise UnsupportedError(
            "one of two things that are built differently, by data, is returned or stored outside",
            "return the same kind of value on both sides",
        )
    if hasattr(spec.value, "__next__") and type(spec.value).__module__.startswith(FRONTEND_MODULES):
        raise UnsupportedError(
            "a generator or iterator is returned or stored outside",
            "return a list or an array of what it gives: list(...)",
        )
    if (hint := getattr(type(spec.value), "__stays_inside__", None)) is not None:
        raise UnsupportedError(
            f"a {type(spec.value).__name__} of the program is returned or stored outside", hint
        )
    if spec.kind == "static" and is_foreign(spec.value) and id(spec.value) not in trace().paths:
        raise UnsupportedError(
            f"an object of {type(spec.value).__module__}.{type(spec.value).__qualname__} that the "
            "program makes is returned or stored outside",
            "return the arrays that it is made of, and make it outside",
        )
    if isinstance(spec.kind, type) and issubclass(spec.kind, EnumCoded):
        raise UnsupportedError(
            "a list of texts or objects that run-time values decide is returned or stored outside",
            "return numbers that say which each is",
        )
    for c in spec.children:
        refuse_unreturnable(c)
