"""Keeps specialisations on disk: a file for a function and the types of its arguments.

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
from tapeless.disk_cache.argument_signature import NoSignatureError, literal
from tapeless.disk_cache.fingerprint import Fingerprint
from tapeless.disk_cache.kept_reads import GONE, ReadsFinder, ReadsWriter
from tapeless.disk_cache.kept_results import changes_text, structure_of, structure_text
from tapeless.disk_cache.load import Reads, Recalled, Record, arrays, relations_hold, stand_in
from tapeless.disk_cache.versions import have_changed, versions
from tapeless.dispatch.specialisation import Specialisation
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object

MANY = 16  # records in a file, at most


class Shelf:
    """Where the specialisations of a function for arguments of some types are kept."""

    def __init__(self, name: str, print_: Fingerprint, versions_: str) -> None:
        text = "\0".join((name, print_.text(), versions_))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        stem = re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]
        self.path = cache.compiled_code_folder() / f"{stem}_{digest}{cache.STAGED}"
        self.fingerprint, self.versions = print_, versions_

    def find(self, leaves: Sequence[Any]) -> tuple[Record, Reads] | None:
        """The record that is right for these leaves, and what it reads from outside."""
        for record in self.records():
            reads = self.reads(record) if record.holds(leaves) else None
            if reads is not None:
                inputs = [*leaves, *(get() for get, _ in reads.captured)]
                if relations_hold(record.relations)(inputs) and record.requirements().hold(inputs):
                    return record, reads
        return None

    def reads(self, record: Record) -> Reads | None:
        """What a record refers to in this process; None if something is not what it was."""
        finder = ReadsFinder(self.fingerprint)
        try:
            if not finder.find(record.guards):
                return None
            captured = [finder.read_capture(text) for text in record.captured]
            outside = [(name, finder.place(place)) for name, place in record.outside]
            result = record.result and structure_of(record.result, finder.object)
        except GONE:
            return None
        arrays = [pair for pair in captured if pair is not None]
        same = len(arrays) == len(captured)
        return Reads(finder.guards, arrays, outside, result) if same else None

    def keep(self, specialisation: Specialisation, outline: Any, apart: bool) -> None:
        """Writes what can be kept."""
        try:
            record = self.record(specialisation, outline, apart)
        except NoSignatureError:
            return
        if record is None or have_changed():
            return
        rest = json.dumps([dataclasses.astuple(r) for r in [record, *self.records()][:MANY]])
        try:
            cache.write(self.path, f"{_checksum(rest)}\n{rest}".encode())
        except OSError:  # what compiled code says about it is enough
            return

    def record(self, specialisation: Specialisation, outline: Any, apart: bool) -> Record | None:
        """What is kept of a specialisation; None if that is not all that it relies on."""
        beyond = (specialisation.writes, specialisation.held, specialisation.returned)
        if any(beyond) or specialisation.functional or specialisation.keywords is None:
            return None
        values = ((k, v) for k, v in specialisation.static if not is_plain_object(v))
        static = tuple((k, literal(value)) for k, value in values)
        relations = specialisation.relations()
        if relations is None:
            return None
        writer = ReadsWriter(self.fingerprint)
        guards = tuple(map(writer.guard, specialisation.guards))
        return Record(
            text=specialisation.text,
            static=static,
            axes=tuple(specialisation.axes),
            relations=tuple(relations),
            guards=guards,
            captured=tuple(
                writer.write_capture(name, *pair)
                for name, pair in zip(
                    specialisation.captured_names, specialisation.captured, strict=True
                )
            ),
            memory=dataclasses.astuple(specialisation.memory),
            result=self.result(specialisation, writer),
            changes=tuple(changes_text(specialisation.changes)),
            outside=tuple((name, writer.place(get)) for name, get in specialisation.outside),
            apart=apart,
            keys=specialisation.keys,
            twice=tuple(specialisation.twice),
            slow=tuple(specialisation.slow),
            outline=outline,
        )

    @staticmethod
    def result(specialisation: Specialisation, writer: ReadsWriter) -> Any:
        """How the value is put together; None where it is returned as it is."""
        if not specialisation.flat or specialisation.result is None:
            return None
        return structure_text(specialisation.result, writer.object)

    def records(self) -> list[Record]:
        """What the file holds; nothing if there is none, or if it is damaged."""
        try:
            checksum, _, rest = (cache.read(self.path) or b"").decode().partition("\n")
        except UnicodeDecodeError:
            return []
        return [_read(each) for each in json.loads(rest)] if checksum == _checksum(rest) else []


def _read(parts: list[Any]) -> Record:
    record = Record(*parts)
    return dataclasses.replace(
        record,
        static=tuple((k, value) for k, value in record.static),
        axes=tuple((k, axis, n) for k, axis, n in record.axes),
        keys=tuple(record.keys),
        twice=tuple((message, file, line) for message, file, line in record.twice),
        slow=tuple((message, file, line) for message, file, line in record.slow),
    )


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def is_off() -> bool:
    """Whether nothing is kept: where the cache is off, or passes are checked."""
    return cache.is_off() or bool(os.environ.get("TAPELESS_CHECK"))


def shelf(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shelf | None:
    """Where specialisations of a transformed function are; None where none are kept."""
    if is_off():
        return None
    try:
        fingerprint = Fingerprint(fun, (args, kwargs))
    except NoSignatureError:
        return None
    now = versions()
    return None if now is None else Shelf(fun.emitted_name, fingerprint, now)


def recall(
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
    match = kept.find(leaves)
    if match is None:
        return None
    record, reads = match
    like = [stand_in(x) for x in leaves]

    def stage_again() -> Specialisation:
        return stage(*tree.unflatten(structure, map(arrays, like)))

    recalled = Recalled(record, load(record), reads, tuple(kwargs), stage_again)
    recalled.static += [(k, x) for k, x in enumerate(leaves) if is_plain_object(x)]
    return recalled
