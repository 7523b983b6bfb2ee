"""The hooks that rewritten code calls: names, attributes, stores and calls during a staged run."""

from __future__ import annotations

import builtins
import functools
import types
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Block, Effect, Var
from tapeless.transforms.errors import Signal, TapelessError, UnsupportedError
from tapeless.transforms.frontend import capture, special
from tapeless.transforms.frontend.attributes import seen, watch_class
from tapeless.transforms.frontend.branches import branch, choose, short_circuit
from tapeless.transforms.frontend.calls import Calls
from tapeless.transforms.frontend.cells import undefined
from tapeless.transforms.frontend.comparing import binary, contained
from tapeless.transforms.frontend.comprehensions import comprehension
from tapeless.transforms.frontend.effects import formatted, raise_, refuse_caught
from tapeless.transforms.frontend.index_tricks import joined_by, joins
from tapeless.transforms.frontend.iterators import Advancing
from tapeless.transforms.frontend.kin import changed, current, put_back
from tapeless.transforms.frontend.loops import for_loop, while_loop
from tapeless.transforms.frontend.operators import store_into
from tapeless.transforms.frontend.provenance import name_of, of_library, static_attribute
from tapeless.transforms.frontend.python_numbers import attribute_of
from tapeless.transforms.frontend.sameness import Variables
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol, apply, atoms, constant, wrap
from tapeless.transforms.frontend.syntax import RESULT, plain
from tapeless.transforms.frontend.texts import Text, percent
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.truth import is_none, same_meaning, truth
from tapeless.transforms.frontend.values import (
    AttributeLocation,
    ClosureLocation,
    FrameLocation,
    GlobalLocation,
    before_change,
    contains_symbol,
)
from tapeless.transforms.ops.table import FUNCTIONS

SIGNALS = (TapelessError, Signal)


class Frame(Variables):
    """The local variables of one call of a rewritten function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get(name, self) is value:
            return
        trace().touch(FrameLocation(self, name))
        if (
            type(value) is Symbol
            and value.undefined is not None
            and not value.undefined.none
            and value.undefined.name != plain(name)
        ):
            value.value()  # another variable is read, which must be set
        if (
            type(value) is Symbol
            and value.cell is not None
            and isinstance(value.cell.atom, Var)
            and not value.cell.atom.name
            and name != RESULT
        ):
            value.cell.atom.name = plain(name)
        if type(value) is StagedList and name != RESULT:
            value.name = value.name or plain(name)
        self.__dict__.get(" diverged", {}).pop(name, None)
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        diverged = self.__dict__.get(" diverged", {})
        if name in diverged:
            raise diverged[name].refusal()
        raise undefined(name)


class Hooks(Calls):
    """The hooks of one function: they know where its names come from."""

    # -- names

    def frame(self, name: str) -> Frame:
        return trace().born(Frame())  # type: ignore[no-any-return]

    def result(self, frame: Frame) -> Any:
        value = getattr(frame, RESULT)
        if isinstance(value, Symbol) and value.undefined is not None:
            if value.undefined.name == RESULT:
                value.undefined = None
            elif not value.undefined.none:
                value.value()  # raises where the program runs, if the variable is not set
        return value

    def load(self, name: str) -> Any:
        cell = self.closure.get(name)
        if cell is not None:
            try:
                value = cell.cell_contents
            except ValueError:
                raise NameError(
                    f"cannot access free variable '{name}' where it is not associated with a value"
                ) from None
            return capture.outer(value, lambda: cell.cell_contents, name)
        values = self.function.__globals__
        if name in values:
            return capture.outer(values[name], lambda: values[name], name)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined")

    def store_outer(self, name: str, value: Any) -> None:
        cell = self.closure.get(name)
        location = (
            ClosureLocation(cell, name)
            if cell is not None
            else GlobalLocation(self.function.__globals__, name)
        )
        trace().touch(location)
        location.set(value)

    def assign(self, frame: Frame, name: str, value: Any) -> Any:
        setattr(frame, name, value)
        return value

    def delete_name(self, frame: Frame, name: str) -> None:
        getattr(frame, name)
        trace().touch(FrameLocation(frame, name))
        del frame.__dict__[name]

    def super_(self, owner: str, this: Any) -> Any:
        for cls in (this if isinstance(this, type) else type(this)).__mro__:
            if cls.__name__ == owner:
                return super(cls, this)
        raise TypeError("super(): no such class")

    # -- attributes and items

    def attr(self, obj: Any, name: str) -> Any:
        if isinstance(obj, Symbol):
            return attribute_of(obj, name)
        found = static_attribute(type(obj), name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            watch_class(type(obj), name)
            return self.call(found.fget, obj)
        if isinstance(found, functools.cached_property) and name not in getattr(
            obj, "__dict__", {}
        ):
            value = self.call(found.func, obj)
            self.set_attr(obj, name, value)
            return value
        current(obj)
        if (method := special.getter(obj, name, found)) is not None:
            return trace().enter(*method)
        value = getattr(obj, name)
        if name == "__dict__" and trace().birth(obj):
            return trace().as_old(value, obj)
        return value if isinstance(obj, Frame) else seen(obj, name, value)

    def set_attr(self, obj: Any, name: str, value: Any) -> None:
        found = static_attribute(type(obj), name)
        if isinstance(found, property) and found.fset is not None:
            self.call(found.fset, obj, value)
            return
        if (method := special.setter(obj, name, found)) is not None:
            trace().enter(*method, value)
            return
        if isinstance(obj, dict) and type(obj).__setattr__ is dict.__setitem__:
            self.set_item(obj, name, value)
            return
        self.put_attr(obj, name, value)

    def put_attr(self, obj: Any, name: str, value: Any, plain: Any = setattr) -> None:
        """Sets an attribute as `object.__setattr__` does."""
        if not isinstance(obj, Symbol):
            changed(obj)
            trace().touch(AttributeLocation(obj, name))
        plain(obj, name, value)
        put_back(obj)

    def item(self, obj: Any, key: Any) -> Any:
        method = special.special(obj, "__getitem__")
        if method is not None:
            return trace().enter(method, obj, key)
        if isinstance(obj, defaultdict) and key not in obj:
            return _filled(obj, key)
        if isinstance(obj, np.ndarray) and contains_symbol(key):
            return wrap(constant(obj))[key]
        if joins(obj, key):
            return joined_by(obj, key)
        current(obj)
        value = obj[key]
        if isinstance(obj, capture.MAPPINGS) and not trace().birth(obj):
            return capture.outer(value, lambda: obj[key], f"{name_of(obj)}[{key!r}]")
        return value

    def store_item(self, value: Any, obj: Any, key: Any) -> None:
        """obj[key] = value, in the order in which Python evaluates them."""
        self.set_item(obj, key, value)

    def store_attr(self, value: Any, obj: Any, name: str) -> None:
        """obj.name = value, in the order in which Python evaluates them."""
        self.set_attr(obj, name, value)

    def set_item(self, obj: Any, key: Any, value: Any) -> None:
        method = special.special(obj, "__setitem__")
        if method is not None:
            trace().enter(method, obj, key, value)
            return
        before_change(obj)
        obj[key] = value
        put_back(obj)

    def delete_item(self, obj: Any, key: Any) -> None:
        method = special.special(obj, "__delitem__")
        if method is not None:
            trace().enter(method, obj, key)
            return
        before_change(obj)
        del obj[key]
        put_back(obj)

    def delete_attr(self, obj: Any, name: str) -> None:
        trace().touch(AttributeLocation(obj, name))
        delattr(obj, name)

    def slice(self, start: Any, stop: Any, step: Any) -> slice:
        return slice(start, stop, step)

    def new(self, container: Any) -> Any:
        return trace().born(StagedList(container) if isinstance(container, list) else container)

    def call_spread(self, f: Any, items: Any) -> Any:
        """f(*items); zip(*items) of a list that was filled in a loop stays as it is."""
        items = special.iterated(items)
        columns = items.columns() if f is zip and isinstance(items, StagedList) else None
        return self.call(f, *items) if columns is None else Advancing(iter(columns))

    def bind(self, frame: Frame, pattern: Any, value: Any) -> None:
        """Binds the target of a comprehension: a name, '*name', or a tuple of patterns."""
        if isinstance(pattern, str):
            setattr(frame, pattern, value)
            return
        star = next(
            (k for k, p in enumerate(pattern) if isinstance(p, str) and p.startswith("*")), -1
        )
        parts = list(self.unpack(value, len(pattern), star))
        if star >= 0:
            parts = list(self.unpack_star(parts, len(pattern), star))
        if len(parts) != len(pattern):
            raise ValueError(
                "not enough or too many values to unpack "
                f"(expected {len(pattern)}, got {len(parts)})"
            )
        for p, v in zip(pattern, parts, strict=True):
            self.bind(frame, p.removeprefix("*") if isinstance(p, str) else p, v)

    def unpack(self, value: Any, n: int, star: int) -> Any:
        if (
            isinstance(value, Symbol)
            and star < 0
            and value.type.shape
            and not isinstance(value.type.shape[0], int)
        ):
            value.shape[0].__index__()
        return special.iterated(value)

    def unpack_star(self, value: Any, n: int, star: int) -> Any:
        parts = list(value)
        after = n - star - 1
        return (*parts[:star], parts[star : len(parts) - after], *parts[len(parts) - after :])

    def iterate(self, value: Any) -> Any:
        return special.iterated(value)

    # -- operators

    def binary(self, left: Any, kind: str, right: Any) -> Any:
        return binary(kind, left, right)

    def unary(self, kind: str, value: Any) -> Any:
        return special.unary(kind, value)

    def mod(self, left: Any, right: Any) -> Any:
        text = isinstance(left, Text) or (isinstance(left, str) and contains_symbol(right))
        return percent(left, right) if text else special.binary("Mod", left, right)

    def inplace(self, kind: str, target: Any, value: Any) -> Any:
        if isinstance(target, str) and kind == "Mod":
            return self.mod(target, value)
        before_change(target)
        if isinstance(target, np.ndarray):
            raise UnsupportedError(
                "an array that was made outside of the program is overwritten", "copy it first"
            )
        made = special.inplace(kind, target, value)
        put_back(target)
        return made

    def inplace_item(self, kind: str, obj: Any, key: Any, value: Any) -> None:
        if isinstance(obj, Symbol):
            key = _fixed(key)
            old = obj[key]
            new = special.binary(kind, old, value())
            if isinstance(old, Symbol) and old.mutable:
                store_into(
                    old if old.parent is not None else obj, new
                ) if old.parent is not None else obj.__setitem__(key, new)
                return
            obj[key] = new
            return
        self.set_item(obj, key, self.inplace(kind, self.item(obj, key), value()))

    def inplace_attr(self, kind: str, obj: Any, name: str, value: Any) -> None:
        self.set_attr(obj, name, self.inplace(kind, self.attr(obj, name), value()))

    def is_none(self, value: Any, negate: bool) -> Any:
        found = is_none(value)
        return self.not_(found) if negate else found

    def not_(self, value: Any) -> Any:
        if isinstance(value, Symbol) and value.type.shape:
            value = truth(value)
        if isinstance(value, Symbol):
            if value.type.dtype.kind != "b":
                return apply(FUNCTIONS[np.equal], value, 0)
            opposite = apply(FUNCTIONS[np.logical_not], value)
            if isinstance(opposite, Symbol):
                same_meaning(value.value(), opposite.value(), when=False)
            return opposite
        if isinstance(value, StagedList) and value.tail is not None:
            return value.length() == 0
        return not special.tested(value)

    def and_(self, *parts: Any) -> Any:
        return short_circuit(parts, True)

    def or_(self, *parts: Any) -> Any:
        return short_circuit(parts, False)

    def compare(self, left: Any, kinds: tuple[str, ...], *rights: Any) -> Any:
        def one(left: Any, k: int) -> Any:
            right = rights[k]()
            if kinds[k] in ("Is", "IsNot") and (left is None or right is None):
                test = self.is_none(left if right is None else right, kinds[k] == "IsNot")
            else:
                test = binary(kinds[k], left, right)
            if k + 1 == len(kinds):
                return test
            return short_circuit((lambda: test, lambda: one(right, k + 1)), True)

        return one(left, 0)

    def contains(self, item: Any, container: Any, negate: bool) -> Any:
        if isinstance(container, str) and isinstance(item, Text):
            item.need("in")
        method = special.special(container, "__contains__")
        if method is not None:
            found = truth(trace().enter(method, container, item))
        else:
            found = contained(item, container)
        return self.not_(found) if negate else found

    # -- control flow

    def truth(self, test: Any) -> Any:
        return truth(test)

    def known(self, test: Any) -> bool:
        return bool(truth(test))

    def if_(self, test: Any, then: Any, orelse: Any) -> None:
        branch(test, then, orelse)

    def if_expression(self, test: Any, then: Any, orelse: Any) -> Any:
        return choose(test, then, orelse)

    def for_(
        self, iterable: Any, body: Any, frame: Frame, stop: str | None, name: str = ""
    ) -> None:
        for_loop(special.iterated(iterable), body, frame, stop, name)

    def while_(self, test: Any, body: Any, frame: Frame, stop: str | None) -> None:
        while_loop(test, body, frame, stop)

    def comprehension(self, kind: str, made: Any) -> Any:
        return comprehension(kind, made)

    def enter(self, manager: Any) -> Any:
        if isinstance(manager, np.errstate):
            kinds = ("all", "divide", "over", "under", "invalid")
            chosen = {k: getattr(manager, f"_{k}", None) for k in kinds}
            settings = {k: v for k, v in chosen.items() if v is not None}
            trace().emit(Effect("errstate", (), settings, trace().origin))
        start = getattr(type(manager), "__enter__", None)
        users = isinstance(start, types.FunctionType) and not of_library(start)
        return _Managed(self, manager) if users else manager

    @property
    def signals(self) -> tuple[type[BaseException], ...]:
        """What no except clause of the user's may catch."""
        return SIGNALS

    @contextmanager
    def trying(self, kinds: Any) -> Iterator[None]:
        """The body of a try statement; `kinds` gives the exceptions that it catches."""
        t = trace()
        body = t.blocks[-1]
        start = len(body)
        t.handlers.append((len(t.journals), kinds))
        try:
            yield
        finally:
            t.handlers.pop()
        refuse_caught(Block((), tuple(body[start:]), ()), kinds)

    def format(self, *parts: Any) -> Any:
        return formatted(*parts)

    def raise_(self, exc: Any, cause: Any = None) -> None:
        raise_(exc, cause)

    def assert_(self, test: Any, message: Any) -> None:
        if isinstance(test, Symbol):

            def fail() -> None:
                text = message()
                raise_(AssertionError() if text is None else AssertionError(text))

            branch(test, lambda: None, fail)
        elif not test:
            text = message()
            raise_(AssertionError() if text is None else AssertionError(text))


class _Managed:
    """A user's context manager whose methods are rewritten."""

    def __init__(self, hooks: Hooks, manager: Any) -> None:
        self.hooks, self.manager = hooks, manager

    def __enter__(self) -> Any:
        return self.hooks.call(type(self.manager).__enter__, self.manager)

    def __exit__(self, *what: Any) -> Any:
        handled = self.hooks.call(type(self.manager).__exit__, self.manager, *what)
        return handled and not isinstance(what[1], SIGNALS)


def _filled(obj: Any, key: Any) -> Any:
    """What a defaultdict makes for a key that it does not have."""
    before_change(obj)
    made = obj[key]
    obj[key] = StagedList(made) if type(made) is list else made
    return trace().born(obj[key])


def _fixed(key: Any) -> Any:
    """A key whose symbols do not change between the load and the store of `x[key] += v`."""
    return wrap(atoms(key)) if isinstance(key, (Symbol, tuple)) and contains_symbol(key) else key
