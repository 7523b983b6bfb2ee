"""Reads places outside of a program, by callables that also say by which expression they read.

>>> KeyOf({"rate": 0.1}, "rate").expression(lambda value: "c0")
"c0['rate']"

A reader that reads inside of what another one gives asks `naming` for an expression of that.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from tapeless.transforms.dataclass import dataclass

#: Gives the name that stands for an object in an expression; for a reader, what it reads.
Naming = Callable[[Any], str]
#: Fields of readers with a reader, or several, that they read inside of.
INNER, SEVERAL_INNER = frozenset({"get", "other"}), "places"
#: What a reader raises where the place is no more.
GONE = (AttributeError, KeyError, IndexError, NameError, TypeError, ValueError)


class Reader:
    """Gives what is in its place now."""

    def __call__(self) -> Any:
        raise NotImplementedError

    def expression(self, naming: Naming) -> str:
        """Text that reads it, too."""
        return f"{naming(self.__call__)}()"


def read(get: Callable[[], Any], naming: Naming) -> str:
    """An expression for what a callable gives."""
    return naming(get) if isinstance(get, Reader) else f"{naming(get)}()"


def place_of(get: Callable[[], Any]) -> Any:
    """What tells the place that a callable reads from other places."""
    if not isinstance(get, Reader):
        return id(get)
    kind: Any = type(get)
    parts = ((f.name, getattr(get, f.name)) for f in fields(kind))
    inner = [place_of(x) if name in INNER else _part_key(x) for name, x in parts]
    return (kind, *inner)


def _part_key(x: Any) -> Any:
    return (type(x), x) if isinstance(x, (str, int)) else id(x)


@dataclass(frozen=True, eq=False)
class ObjectItself(Reader):
    """An object itself."""

    obj: Any

    def __call__(self) -> Any:
        return self.obj

    def expression(self, naming: Naming) -> str:
        return naming(self.obj)


@dataclass(frozen=True, eq=False)
class ConstantArray(Reader):
    """An array that was made while staging, and that nothing else refers to."""

    array: Any

    def __call__(self) -> Any:
        return self.array


@dataclass(frozen=True, eq=False)
class KeyOf(Reader):
    """What a mapping holds under a key, such as a global variable."""

    mapping: Any
    key: str

    def __call__(self) -> Any:
        return self.mapping[self.key]

    def expression(self, naming: Naming) -> str:
        return f"{naming(self.mapping)}[{self.key!r}]"


@dataclass(frozen=True, eq=False)
class AttributeOf(Reader):
    """The attribute of an object."""

    obj: Any
    name: str

    def __call__(self) -> Any:
        return getattr(self.obj, self.name)

    def expression(self, naming: Naming) -> str:
        if not self.name.isidentifier() or keyword.iskeyword(self.name):
            return f"getattr({naming(self.obj)}, {self.name!r})"
        return f"{naming(self.obj)}.{self.name}"


@dataclass(frozen=True, eq=False)
class CellOf(Reader):
    """The variable of a function around."""

    cell: Any

    def __call__(self) -> Any:
        return self.cell.cell_contents

    def expression(self, naming: Naming) -> str:
        return f"{naming(self.cell)}.cell_contents"


@dataclass(frozen=True, eq=False)
class BuiltinOf(Reader):
    """A builtin name, as long as no global variable has it."""

    mapping: Any
    name: str

    def __call__(self) -> Any:
        return self.mapping[self.name] if self.name in self.mapping else vars(builtins)[self.name]

    def expression(self, naming: Naming) -> str:
        free = f"{self.name!r} not in {naming(self.mapping)}"
        return f"({free} and {naming(vars(builtins))}[{self.name!r}])"


@dataclass(frozen=True, eq=False)
class ItemOf(Reader):
    """An item of a list, tuple or dict, whatever its class means by an item."""

    get: Callable[[], Any]
    key: Any

    def __call__(self) -> Any:
        container = self.get()
        return _builtin_class(container).__getitem__(container, self.key)

    def expression(self, naming: Naming) -> str:
        if _builtin_class(self.get()) is not type(self.get()):
            return super().expression(naming)
        key = repr(self.key) if type(self.key) in (int, str) else naming(self.key)
        return f"{read(self.get, naming)}[{key}]"


def _builtin_class(container: Any) -> Any:
    """The container of Python that a user's class is made of."""
    kinds = (list, tuple, dict)
    return next((kind for kind in kinds if isinstance(container, kind)), type(container))


@dataclass(frozen=True, eq=False)
class TypeOf(Reader):
    """The type of what a reader gives."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        return type(self.get())

    def expression(self, naming: Naming) -> str:
        return f"type({read(self.get, naming)})"


@dataclass(frozen=True, eq=False)
class LengthOf(Reader):
    """The number of items in a list or a tuple."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        container = self.get()
        return _builtin_class(container).__len__(container)

    def expression(self, naming: Naming) -> str:
        if _builtin_class(self.get()) is not type(self.get()):
            return super().expression(naming)
        return f"len({read(self.get, naming)})"


@dataclass(frozen=True, eq=False)
class KeysOf(Reader):
    """The keys of a dict, or the elements of a set, in order."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        return (*self.get(),)


@dataclass(frozen=True, eq=False)
class ValuesOf(Reader):
    """The items of a list or a tuple, or the values of a dict, in order."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        container = self.get()
        if isinstance(container, dict):
            return (*dict.values(container),)
        return (*_builtin_class(container).__iter__(container),)


@dataclass(frozen=True, eq=False)
class LengthsOf(Reader):
    """The lengths of some axes of an array."""

    get: Callable[[], Any]
    axes: tuple[int, ...]

    def __call__(self) -> Any:
        shape = self.get().shape
        return tuple(shape[k] for k in self.axes)


@dataclass(frozen=True, eq=False)
class ContentsOf(Reader):
    """All that an array holds; None of what is no array."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        array = self.get()
        if not isinstance(array, np.ndarray):
            return None
        return array.dtype, array.shape, array.tobytes()


@dataclass(frozen=True, eq=False)
class ShapeOf(Reader):
    """The shape of a sparse matrix."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        return self.get().shape


@dataclass(frozen=True, eq=False)
class EntriesOf(Reader):
    """The entries of a sparse matrix, or their rows or columns: "data", "row" or "col"."""

    get: Callable[[], Any]
    part: str

    def __call__(self) -> Any:
        matrix = self.get()
        if matrix.format not in ("csr", "csc"):
            return getattr(matrix.tocoo(), self.part)
        if self.part == "data":
            return matrix.data
        if self.part == ("col" if matrix.format == "csr" else "row"):
            return matrix.indices
        starts = matrix.indptr
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


@dataclass(frozen=True, eq=False)
class ElementsOf(Reader):
    """What a matrix holds, as a plain array."""

    get: Callable[[], Any]

    def __call__(self) -> Any:
        matrix = self.get()
        return np.asarray(matrix) if type(matrix) is np.matrix else None


@dataclass(frozen=True, eq=False)
class AreOne(Reader):
    """Whether two places hold one object."""

    get: Callable[[], Any]
    other: Callable[[], Any]

    def __call__(self) -> Any:
        return self.get() is self.other()


@dataclass(frozen=True, eq=False)
class CountOf(Reader):
    """How many objects several places hold."""

    places: tuple[Callable[[], Any], ...]

    def __call__(self) -> Any:
        return len({id(get()) for get in self.places})


@dataclass(frozen=True, eq=False)
class FunctionOf(Reader):
    """The function behind a method, or what else an attribute gives."""

    obj: Any
    name: str

    def __call__(self) -> Any:
        value = getattr(self.obj, self.name)
        return getattr(value, "__func__", value)

    def expression(self, naming: Naming) -> str:
        read = naming(AttributeOf(self.obj, self.name))
        return f"{read}.__func__" if hasattr(getattr(self.obj, self.name), "__func__") else read


@dataclass(frozen=True, eq=False)
class HasAttribute(Reader):
    """Whether an object has an attribute."""

    obj: Any
    name: str

    def __call__(self) -> Any:
        return hasattr(self.obj, self.name)

    def expression(self, naming: Naming) -> str:
        return f"hasattr({naming(self.obj)}, {self.name!r})"


#: What `ClassEntry` gives where no class has the name.
ABSENT = object()


@dataclass(frozen=True, eq=False)
class ClassEntry(Reader):
    """What stands in a class or one of its bases under a name, before descriptors act."""

    cls: type
    name: str

    def __call__(self) -> Any:
        base = self.base()
        return ABSENT if base is None else base.__dict__[self.name]

    def base(self) -> type | None:
        """The class in which it stands."""
        return next((base for base in self.cls.__mro__ if self.name in base.__dict__), None)

    def expression(self, naming: Naming) -> str:
        order, base = self.cls.__mro__, self.base()
        before = order if base is None else order[: order.index(base)]
        tests = [f"{naming(self.cls)}.__mro__ is {naming(order)}"]
        tests += [f"{self.name!r} not in {naming(vars(cls))}" for cls in before]
        entry = naming(ABSENT) if base is None else f"{naming(vars(base))}[{self.name!r}]"
        return f"({' and '.join([*tests, entry])})"
