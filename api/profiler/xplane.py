"""Writes a trace in the format that TensorBoard's profile plugin reads, `xplane.pb`.

Format: XSpace, github.com/openxla/xla/blob/main/third_party/tsl/tsl/profiler/protobuf/xplane.proto;
numbers are of its fields. The plugin shows threads of the host in its trace viewer, and times by
operation for events that are named `operation:kind`; an event with the numbers `_r` and `step_num`
is a step.
"""

from __future__ import annotations

import re
import socket
from typing import Any

from tapeless.profiler.protobuf import double, integer, member, message, text
from tapeless.profiler.recorder import Recorder, TimeSpan

HOST = "/host:CPU"  # what the plugin calls the plane of threads
NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9_.\->/]+")
SINGULAR = {"calls": "call", "kernels": "kernel", "collectives": "collective"}


class Plane:
    """Numbers names of events and of what is told with them, as they are met."""

    def __init__(self) -> None:
        self.events: dict[tuple[str, str], int] = {}  # by name and category
        self.stats: dict[str, int] = {}

    def event(self, span: TimeSpan, start: int) -> bytes:
        key = (span.name, span.category)
        told = {"_r": 1, **span.about} if span.category == "step" else span.about
        return (
            integer(1, self.events.setdefault(key, len(self.events) + 1))
            + member(2, (span.start - start) * 1000)
            + integer(3, (span.stop - span.start) * 1000)
            + b"".join(message(4, self.stat(name, value)) for name, value in told.items())
        )

    def stat(self, name: str, value: Any) -> bytes:
        number = integer(1, self.stats.setdefault(name, len(self.stats) + 1))
        if isinstance(value, int):
            return number + member(4, value)
        if isinstance(value, float):
            return number + double(2, value)
        return number + text(5, str(value))

    def names(self) -> bytes:
        """The names of all numbers, each as an entry of a map."""
        events = (
            integer(1, k) + text(2, _operation(name, category)) + text(4, name)
            for (name, category), k in self.events.items()
        )
        stats = (integer(1, k) + text(2, name) for name, k in self.stats.items())
        return b"".join(
            message(field, integer(1, k) + message(2, entry))
            for field, entries in ((4, events), (5, stats))
            for k, entry in enumerate(entries, 1)
        )


def _operation(name: str, category: str) -> str:
    """What the plugin takes for an operation of a kind; steps and spans of users are none."""
    if category in ("step", "user"):
        return name
    return f"{NOT_OF_NAMES.sub('_', name)}:{SINGULAR.get(category, category)}"


def encode(recorder: Recorder, wall_clock: int) -> bytes:
    """The spans of a trace as an XSpace.

    wall_clock  nanoseconds since 1970 when the trace began
    """
    plane = Plane()
    threads: list[list[TimeSpan]] = [[] for _ in recorder.threads]
    for span in sorted(recorder.spans, key=lambda s: (s.start, -s.stop)):
        threads[span.thread].append(span)
    lines = b"".join(
        message(
            3,
            integer(1, number)
            + text(2, name)
            + integer(3, wall_clock)
            + b"".join(message(4, plane.event(s, recorder.start)) for s in spans),
        )
        for number, (name, spans) in enumerate(zip(recorder.threads, threads, strict=True), 1)
    )
    host = integer(1, 1) + text(2, HOST) + lines + plane.names()
    return message(1, host) + text(4, socket.gethostname() or "host")
