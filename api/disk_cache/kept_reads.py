"""Writes what a program has read from outside as text, which other processes compare with theirs.

    rate.decay is 0.5    becomes    "Guard", "rate.decay", [AttributeOf, the third object, "decay"],
                                    "float 0.5"

A reader is written with the objects that it reads from: one that the fingerprint of the function
has a number for, the global variables or a closure's variable of such a function, or what an
earlier guard has read.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from types import FunctionType
from typing import Any, Literal

import numpy as np

from tapeless.disk_cache.argument_signature import NoSignatureError, literal
from tapeless.disk_cache.fingerprint import CHANGING, Fingerprint, library_name
from tapeless.dispatch.specialisation import leaf_key
from tapeless.transforms.frontend.trace import readers, recorded_reads
from tapeless.transforms.frontend.trace.recorded_reads import Guard

KINDS = {
    kind.__name__: kind
    for kind in (Guard, recorded_reads.Constants, recorded_reads.FrozenConstants)
}
LONG = 200  # letters of a text of which a digest is kept instead
LARGE = 1 << 24  # bytes of an array: of larger ones nothing is kept

Text = list[Any]


class ReadsWriter:
    """Writes guards and captured arrays, in the order in which the program has read them."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self.fingerprint = fingerprint
        self.read: dict[int, int] = {}  # which guard has read an object, by its id
        self.guards = 0

    def guard(self, guard: Guard) -> Text:
        if type(guard).__name__ not in KINDS:
            raise NoSignatureError(guard.name)
        value = _value_text(self.fingerprint, guard.value)
        text = [type(guard).__name__, guard.name, self.place(guard.get), value]
        self.read.setdefault(id(guard.value), self.guards)
        self.guards += 1
        return text

    def write_capture(self, name: str, get: Callable[[], Any], key: Any) -> Text:
        return [name, self.place(get), _key_text(key)]

    def place(self, get: Callable[[], Any]) -> Text:
        """A reader, with all that it reads from."""
        if not isinstance(get, readers.Reader):
            raise NoSignatureError("a reader without a name")
        kind: Any = type(get)
        return [kind.__name__, *(self.part(f.name, getattr(get, f.name)) for f in fields(kind))]

    def part(self, name: str, x: Any) -> Any:
        if name in readers.INNER:
            return self.place(x)
        if name == readers.SEVERAL_INNER:
            return [self.place(get) for get in x]
        if name == "array":
            return _array_text(x)
        return self.object(x) if name in OBJECTS else literal(x)

    def object(self, x: Any) -> Text:
        """What a reader reads from."""
        if id(x) in self.fingerprint.numbers:
            return ["object", self.fingerprint.numbers[id(x)]]
        if id(x) in self.read:
            return ["read", self.read[id(x)]]
        if type(x) is super:
            parts: Any = x
            return ["super", self.object(parts.__thisclass__), self.object(parts.__self_class__)]
        for k, owner in enumerate(self.fingerprint.objects):
            if type(owner) is FunctionType:
                if x is owner.__globals__:
                    return ["globals", k]
                for n, cell in enumerate(owner.__closure__ or ()):
                    if x is cell:
                        return ["cell", k, n]
        if isinstance(x, type) and library_name(x):
            return ["class", x.__module__, x.__name__]
        raise NoSignatureError(f"an object of type {type(x).__name__} that no name leads to")


#: Fields of readers with an object that is read from.
OBJECTS = frozenset({"obj", "mapping", "cls", "cell"})


class ReadsFinder:
    """Finds what another process has written: the guards of this one, if all is the same."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self.fingerprint = fingerprint
        self.guards: list[Guard] = []

    def find(self, guards: Iterable[Text]) -> bool:
        """Whether each place holds what the other process has read there."""
        for kind, name, place, value in guards:
            get = self.place(place)
            now = get()
            if KINDS[kind] is recorded_reads.FrozenConstants:
                now = recorded_reads.snapshot(now)
            if _value_text(self.fingerprint, now) != value:
                return False
            self.guards.append(KINDS[kind](name, get, now))
        return True

    def read_capture(self, text: Text) -> tuple[Callable[[], Any], Any] | None:
        """An array or number from outside; None if it has another type."""
        _, place, key_text = text
        get = self.place(place)
        key = leaf_key(get())
        return (get, key) if _key_text(key) == key_text else None

    def place(self, text: Text) -> readers.Reader:
        name, *parts = text
        kind: Any = getattr(readers, name)
        values = (self.part(f.name, x) for f, x in zip(fields(kind), parts, strict=True))
        return kind(*values)  # type: ignore[no-any-return]

    def part(self, name: str, text: Any) -> Any:
        if name in readers.INNER:
            return self.place(text)
        if name == readers.SEVERAL_INNER:
            return tuple(self.place(each) for each in text)
        if name == "array":
            return _array(text)
        return self.object(text) if name in OBJECTS else ast.literal_eval(text)

    def object(self, text: Text) -> Any:
        kind, *parts = text
        if kind == "read":
            return self.guards[parts[0]].get()
        if kind == "super":
            return super(*map(self.object, parts))
        if kind == "class":
            return getattr(sys.modules[parts[0]], parts[1])
        owner = self.fingerprint.objects[parts[0]]
        if kind == "globals":
            return owner.__globals__
        return owner.__closure__[parts[1]] if kind == "cell" else owner


#: What looking at a place may raise that is no more.
GONE = (*readers.GONE, NoSignatureError)


def _value_text(fingerprint: Fingerprint, value: Any) -> str:
    """What has been read, as text; of what may change the kind, since guards of its own tell what
    has been read there."""
    if type(value) in CHANGING - {tuple, frozenset}:
        return f"some {type(value).__name__}"
    text = fingerprint.describe(value)
    return text if len(text) < LONG else hashlib.sha256(text.encode()).hexdigest()


def _array_text(x: np.ndarray[Any, Any]) -> Text:
    """An array that was made while staging: its dtype, shape, order and bytes."""
    order: Literal["C", "F"] = "C" if x.flags.c_contiguous else "F"
    if x.nbytes > LARGE or not (x.flags.c_contiguous or x.flags.f_contiguous):
        raise NoSignatureError("a large array that was made while staging")
    packed = zlib.compress(x.tobytes(order), 1)
    return [x.dtype.str, list(x.shape), order, base64.b85encode(packed).decode()]


def _array(text: Text) -> np.ndarray[Any, Any]:
    dtype, shape, order, packed = text
    elements = np.frombuffer(bytearray(zlib.decompress(base64.b85decode(packed))), dtype)
    return elements.reshape(shape, order=order)


def _key_text(key: Any) -> str:
    """The type of an array or number from outside, as text."""
    if isinstance(key, type):
        return f"{key.__module__}.{key.__name__}"
    if isinstance(key, tuple) and hasattr(key[0], "str"):
        return f"{key[0].str}{key[1:]}"
    raise NoSignatureError("something else than an array or a number")
