"""Makes dataclasses in a tenth of the time that the standard library takes.

`dataclasses.dataclass` compiles up to six methods of each class, also of the many that a process
never makes an object of: that was a fifth of what comes before a first result. Here `__init__` is
compiled when the first object is made; the other methods are closures.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

Field = dataclasses.Field[Any]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True):  # noqa: A002  # of dataclasses
        """A dataclass as `dataclasses.dataclass` makes it, with the options of the same names.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1.0), Point(1.0, 0.0) == Point(1.0), hash(Point(1.0)) == hash(Point(1.0))
        (Point(x=1.0, y=0.0), True, True)
        >>> dataclasses.replace(Point(1.0), y=2.0)
        Point(x=1.0, y=2.0)
        """
        if cls is None:
            return lambda c: dataclass(c, frozen=frozen, eq=eq, repr=repr)
        cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        fields = dataclasses.fields(cls)
        methods = {"__init__": _first_init(cls, fields, frozen)}
        if repr:
            methods["__repr__"] = _repr([f.name for f in fields if f.repr])
        if eq:
            key = _key([f.name for f in fields if f.compare])
            methods["__eq__"] = _eq(key)
            methods["__hash__"] = (lambda self: hash(key(self))) if frozen else None
        if frozen:
            methods["__setattr__"] = _setattr(cls, {f.name for f in fields})
            methods["__delattr__"] = _delattr(cls, {f.name for f in fields})
        for name, method in methods.items():
            if cls.__dict__.get(name) is None:  # as Python leaves __hash__ beside an own __eq__
                setattr(cls, name, method)
        return cls


def _first_init(cls: Any, fields: Sequence[Field], frozen: bool) -> Callable[..., None]:
    """What makes the first object; a method that is compiled for the fields makes the others."""

    def first_init(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _init(cls, fields, frozen)
        cls.__init__(self, *args, **kwargs)

    return first_init


def _init(cls: Any, fields: Sequence[Field], frozen: bool) -> Any:
    """A method that sets the fields."""
    values: dict[str, Any] = {"_set": object.__setattr__, "_made_anew": object()}
    values["__name__"] = cls.__module__  # for debuggers
    parameters, lines = ["self"], []
    for f in fields:
        name, default, value = f.name, f"_default_{f.name}", f.name
        if f.default_factory is not dataclasses.MISSING:
            values[default] = f.default_factory
            parameters.append(f"{name}=_made_anew")
            value = f"{default}() if {name} is _made_anew else {name}"
        elif f.default is not dataclasses.MISSING:
            values[default] = f.default
            parameters.append(f"{name}={default}")
        else:
            parameters.append(name)
        lines.append(
            f"    _set(self, {name!r}, {value})" if frozen else f"    self.{name} = {value}"
        )
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    head = f"__init__({', '.join(parameters)})"
    text = f"def {head}:\n" + ("\n".join(lines) or "    pass")
    exec(text, values)
    values["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return values["__init__"]


def _key(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What tells the values of fields."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    if len(names) == 1:
        value = operator.attrgetter(*names)
        return lambda self: (value(self),)
    return lambda _: ()


def _eq(key: Callable[[Any], tuple[Any, ...]]) -> Callable[..., Any]:
    def equal(self: Any, other: Any) -> Any:
        if other is self:
            return True
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def shown(self: Any) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({', '.join(values)})"

    return shown


def _setattr(cls: Any, names: set[str]) -> Callable[..., None]:
    def refuse_store(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return refuse_store


def _delattr(cls: Any, names: set[str]) -> Callable[..., None]:
    def refuse_delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return refuse_delete


__all__ = ["dataclass"]
