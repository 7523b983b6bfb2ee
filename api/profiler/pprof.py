"""Encodes profiles in pprof's file format: profile.proto, gzipped.

Format: github.com/google/pprof/blob/main/proto/profile.proto; numbers are of its fields.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tapeless.profiler.protobuf import integer, message, packed_field


@dataclass(frozen=True)
class ProfileLine:
    """A line of a function."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class ProfileSample:
    """What a stack of places, the innermost first, stands for."""

    stack: tuple[ProfileLine, ...]
    values: tuple[int, ...]
    label: str = ""


class ProfileWriter:
    """Numbers texts, functions and places as they are met."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.functions: dict[tuple[str, str], int] = {}
        self.places: dict[ProfileLine, int] = {}

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts))

    def place(self, place: ProfileLine) -> int:
        key = (place.function, place.file)
        self.functions.setdefault(key, len(self.functions) + 1)
        return self.places.setdefault(place, len(self.places) + 1)

    def value_type(self, kind: str, unit: str) -> bytes:
        return integer(1, self.text(kind)) + integer(2, self.text(unit))

    def sample(self, s: ProfileSample) -> bytes:
        encoded_sample = packed_field(1, map(self.place, s.stack)) + packed_field(2, s.values)
        if s.label:
            label = integer(1, self.text("kind")) + integer(2, self.text(s.label))
            encoded_sample += message(3, label)
        return encoded_sample

    def location(self, place: ProfileLine, number: int) -> bytes:
        function = self.functions[place.function, place.file]
        return integer(1, number) + message(4, integer(1, function) + integer(2, place.line))

    def function(self, name: str, file: str, number: int) -> bytes:
        at = self.text(name)
        return integer(1, number) + integer(2, at) + integer(3, at) + integer(4, self.text(file))


def encode(
    samples: Iterable[ProfileSample], kinds: Iterable[tuple[str, str]], comment: str = ""
) -> bytes:
    """A profile, gzipped.

    kinds    (name, unit) of each value of a sample
    comment  what pprof shows with it
    """
    w = ProfileWriter()
    messages = [message(1, w.value_type(*kind)) for kind in kinds]
    messages += [message(2, w.sample(s)) for s in samples]
    messages += [message(4, w.location(place, k)) for place, k in w.places.items()]
    messages += [message(5, w.function(*key, k)) for key, k in w.functions.items()]
    last = integer(9, time.time_ns()) + (integer(13, w.text(comment)) if comment else b"")
    messages += [message(6, text.encode()) for text in w.texts]
    return gzip.compress(b"".join(messages) + last)
