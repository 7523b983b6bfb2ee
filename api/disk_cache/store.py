"""Records of specialisations on disk: a file for a function and the types of its arguments.

A file is named by all that staging depends on, so it is never out of date. Where other values or
sizes lead to other programs, it holds one record for each.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from tapeless import tree
from tapeless.backends import cache
from tapeless.disk_cache.argument_signature import UnknownError, signature
from tapeless.disk_cache.fingerprint import Fingerprint
from tapeless.disk_cache.load import Recalled, Record, arrays, stand_in
from tapeless.disk_cache.versions import versions
from tapeless.dispatch.specialisation import Specialisation
from tapeless.transforms.frontend.trace.recorded_reads import Guard

MANY = 16  # records in a file, at most
NUMBERS = (bool, int, float, complex, str)


class Shelf:
    """Where the specialisations of a function for arguments of some types are kept."""

    def __init__(self, name: str, print_: Fingerprint, types: str, versions_: str) -> None:
        text = "\0".join((name, print_.text(), types, versions_))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        stem = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]
        self.path = cache.compiled() / f"{stem}_{digest}{cache.STAGED}"
        self.places, self.versions = print_.places, versions_

    def find(self, leaves: Sequence[Any]) -> Record | None:
        """The record that is right for these leaves."""
        return next((r for r in self.records() if r.holds(leaves)), None)

    def guards(self, record: Record) -> list[Guard]:
        """What the record relies on, to be looked at in each call."""
        chosen = [self.places[k] for k in record.guards]
        return [Guard(place.name, place.get, place.value) for place in chosen]

    def keep(self, specialisation: Specialisation, outline: Any) -> None:
        """Writes what can be kept."""
        record = self.record(specialisation, outline)
        if record is None or versions() != self.versions:
            return
        rest = json.dumps([dataclasses.astuple(r) for r in [record, *self.records()][:MANY]])
        try:
            cache.write(self.path, f"{_checksum(rest)}\n{rest}".encode())
        except OSError:  # what compiled code says about it is enough
            return

    def record(self, specialisation: Specialisation, outline: Any) -> Record | None:
        """What is kept of a specialisation; None if that is not all that it relies on."""
        staged = specialisation.staged
        beyond = (
            specialisation.captured,
            specialisation.orders,
            specialisation.overwritten,
            staged.writes,
            staged.held,
        )
        if (
            any(beyond)
            or specialisation.changes
            or not specialisation.is_plain
            or specialisation.keywords is None
        ):
            return None
        static = tuple(
            (k, repr(value)) for k, value in specialisation.static if type(value) in NUMBERS
        )
        relations, guards = specialisation.relations(), self.guarded(specialisation.guards)
        if len(static) < len(specialisation.static) or relations is None or guards is None:
            return None
        axes, twice = tuple(specialisation.axes), tuple(specialisation.twice)
        return Record(
            specialisation.text,
            static,
            axes,
            tuple(relations),
            guards,
            specialisation.keys,
            twice,
            tuple(specialisation.slow),
            outline,
        )

    def guarded(self, guards: list[Guard]) -> tuple[int, ...] | None:
        """The numbers of the places that are guarded; None if one is not known."""
        guarded_places: dict[int, None] = {}
        for guard in guards:
            name = guard.name.rpartition(".")[2]
            same = [
                k for k, p in enumerate(self.places) if p.value is guard.value and p.name == name
            ]
            if not same:
                return None
            guarded_places |= dict.fromkeys(same)
        return tuple(guarded_places)

    def records(self) -> list[Record]:
        """What the file holds; nothing if there is none, or if it is damaged."""
        try:
            checksum, _, rest = (cache.read(self.path) or b"").decode().partition("\n")
        except UnicodeDecodeError:
            return []
        return [_read(each) for each in json.loads(rest)] if checksum == _checksum(rest) else []


def _read(parts: list[Any]) -> Record:
    text, static, axes, relations, guards, keys, twice, slow, outline = parts
    static_and_axes = (
        tuple((k, value) for k, value in static),
        tuple((k, axis, n) for k, axis, n in axes),
    )
    reports = tuple(map(tuple, twice)), tuple(map(tuple, slow))
    used = tuple(relations), tuple(guards), tuple(keys)
    return Record(text, *static_and_axes, *used, *reports, outline)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def off() -> bool:
    """Whether nothing is kept: where the cache is off, or passes are checked."""
    return cache.is_off() or bool(os.environ.get("TAPELESS_CHECK"))


def shelf(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shelf | None:
    """Where specialisations of a transformed function are; None where none are kept."""
    if off():
        return None
    try:
        types, fingerprint = signature((args, kwargs)), Fingerprint(fun)
    except UnknownError:
        return None
    now = versions()
    return None if now is None else Shelf(fun.emitted_name, fingerprint, types, now)


def recalled(
    kept: Shelf,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    load: Callable[[Record], Callable[..., Any]],
    stage: Callable[..., Specialisation],
) -> Recalled | None:
    """The specialisation for a call, if another process has kept it.

    load   makes a callable of a record
    stage  makes the specialisation anew, for arguments
    """
    leaves, structure = tree.flatten((args, kwargs))
    record = kept.find(leaves)
    if record is None:
        return None
    like = [stand_in(x) for x in leaves]

    def again() -> Specialisation:
        return stage(*tree.unflatten(structure, map(arrays, like)))

    return Recalled(record, load(record), kept.guards(record), tuple(kwargs), again)
