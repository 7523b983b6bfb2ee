"""What a staged run reads from outside: arrays become inputs, everything else is guarded."""

from __future__ import annotations

import types
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.frontend.symbols import Symbol, trace

SIMPLE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)


@dataclass
class Captured:
    """An array read from outside: `get()` fetches it anew at each call."""

    name: str
    get: Callable[[], Any]
    var: Var
    array: Any


@dataclass
class Guard:
    """Something read from outside that the program was specialised on."""

    name: str
    get: Callable[[], Any]
    value: Any

    def holds(self) -> bool:
        try:
            now = self.get()
        except (AttributeError, KeyError, IndexError, NameError, ValueError):
            return False
        if now is self.value:
            return True
        return (
            isinstance(self.value, (*SIMPLE, tuple))
            and type(now) is type(self.value)
            and bool(now == self.value or (now != now and self.value != self.value))
        )


def input_type(
    array: np.ndarray[Any, Any], name: str, known: Container[int] = ()
) -> tuple[Type, list[Any]]:
    """The type of an input array: axes of length 0 and 1, and those in `known`, are known, the
    others get symbols."""
    symbols: list[Any] = []
    shape: list[Any] = []
    for k, n in enumerate(array.shape):
        if n < 2 or k in known:
            shape.append(int(n))
            symbols.append(None)
        else:
            made = dims.symbol(f"{name}.shape[{k}]", 2, given=True)
            shape.append(made)
            symbols.append(next(iter(dims.symbols(made))))
    return Type(array.dtype, tuple(shape)), symbols


def outer(value: Any, get: Callable[[], Any], name: str) -> Any:
    """What the program sees of a value that it reads from outside."""
    t = trace()
    if isinstance(value, Symbol):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return _captured(value, get, name)
    if type(value) in (list, dict, tuple) and value is not None:
        if isinstance(value, tuple) and not value:
            return value
        return _container(value, get, name)
    if isinstance(value, types.ModuleType) and value is np:
        return value
    key = ("guard", name, id(value))
    if key not in t.reads:
        t.reads[key] = Guard(name, get, value)
    return value


def _captured(array: np.ndarray[Any, Any], get: Callable[[], Any], name: str) -> Symbol:
    t = trace()
    key = ("array", id(array))
    if key not in t.reads:
        short = name.split(".")[-1].split("[")[0] or "captured"
        home = ("outer", name)
        known = [k for leaf, k in t.decisions.axes if leaf == home] if t.decisions else []
        if known:
            t.reads["shape", id(array)] = Guard(
                f"the shape of {name}",
                lambda: tuple(get().shape[k] for k in known),
                tuple(array.shape[k] for k in known),
            )
        kind, symbols = input_type(array, short, known)
        var = Var(kind, short)
        for k, s in enumerate(symbols):
            if s is not None:
                t.hints[s] = array.shape[k]
                if t.decisions is not None:
                    t.decisions.homes[s] = (home, k)
        symbol = Symbol(var, is_array=True)
        assert symbol.cell is not None
        symbol.cell.birth = 0  # it was there before the loop or branch that reads it first
        t.reads[key] = (Captured(name, get, var, array), symbol)
    return t.reads[key][1]  # type: ignore[no-any-return]


def _container(value: Any, get: Callable[[], Any], name: str) -> Any:
    """A copy whose arrays are inputs; its length, keys and other elements are guarded."""
    from tapeless.transforms.frontend.hooks import StagedList

    t = trace()
    key = ("container", id(value))
    if key in t.reads:
        return t.reads[key][1]
    if isinstance(value, dict):
        t.reads[("keys", id(value))] = Guard(
            f"the keys of {name}", lambda: tuple(get()), tuple(value)
        )
        made: Any = {}
        t.reads[key] = (value, made, get)
        for k, v in value.items():
            made[k] = outer(v, lambda k=k: get()[k], f"{name}[{k!r}]")
        return made
    t.reads[("length", id(value))] = Guard(f"the length of {name}", lambda: len(get()), len(value))
    parts = [outer(v, lambda k=k: get()[k], f"{name}[{k}]") for k, v in enumerate(value)]
    made = tuple(parts) if isinstance(value, tuple) else StagedList(parts)
    t.reads[key] = (value, made, get)
    return made


def constant(array: np.ndarray[Any, Any]) -> Atom:
    """An array made while staging: written out if it is small, an input of the program if not."""
    t = trace()
    if array.dtype.kind not in "biufc":
        raise TypeError(f"arrays of dtype {array.dtype} cannot be staged")
    if not array.shape:
        return atom(array[()])
    if array.size <= 32:
        from tapeless.transforms.ops.creation import array as make

        return make(
            *(atom(v) for v in array.ravel().tolist()), shape=array.shape, dtype=array.dtype
        )  # type: ignore[no-any-return]
    key = ("array", id(array))
    if key not in t.reads:
        var = Var(Type(array.dtype, tuple(array.shape)), "constant")
        t.reads[key] = (Captured("constant", lambda: array, var, array), Symbol(var, is_array=True))
    return t.reads[key][1].value()  # type: ignore[no-any-return]
