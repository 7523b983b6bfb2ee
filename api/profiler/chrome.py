"""Writes a trace in the Chrome trace event format, which Perfetto reads.

Format: "Trace Event Format", Google, 2016: complete events ("ph": "X") in microseconds.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from tapeless.backends.spmd.world import world
from tapeless.profiler import xplane
from tapeless.profiler.recorder import Recorder


def events(recorder: Recorder, pid: int) -> list[dict[str, Any]]:
    """The spans as events, after the names of the process and its threads."""
    rank, size = world().rank, world().size
    process = "tapeless" if size == 1 else f"tapeless, process {rank}"
    listed = [_meta("process_name", pid, 0, process)]
    for number, name in enumerate(recorder.threads):
        listed.append(_meta("thread_name", pid, number, name))
    for s in sorted(recorder.spans, key=lambda s: (s.start, -s.stop)):
        event = {
            "ph": "X",
            "name": s.name,
            "cat": s.category,
            "pid": pid,
            "tid": s.thread,
            "ts": (s.start - recorder.start) / 1e3,
            "dur": (s.stop - s.start) / 1e3,
        }
        if s.about:
            event["args"] = {k: _plain(v) for k, v in s.about.items()}
        listed.append(event)
    return listed


def _meta(name: str, pid: int, tid: int, value: str) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": {"name": value}}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def write(folder: Path, recorder: Recorder, perfetto: bool) -> Path:
    """Writes the files of a trace; their folder."""
    document = {
        "displayTimeUnit": "ns",
        "metadata": {"dropped": recorder.dropped},
        "traceEvents": events(recorder, os.getpid()),
    }
    text = json.dumps(document)
    run = folder / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
    run.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname() or "host"
    name = host if world().size == 1 else f"{host}.{world().rank}"
    packed = gzip.compress(text.encode(), mtime=0)
    (run / f"{name}.trace.json.gz").write_bytes(packed)
    began = time.time_ns() - (time.perf_counter_ns() - recorder.start)
    (run / f"{name}.xplane.pb").write_bytes(xplane.encode(recorder, began))
    plain = "trace.json" if world().size == 1 else f"trace.{world().rank}.json"
    (run / plain).write_text(text, encoding="utf-8")
    if perfetto:
        (run / "perfetto_trace.json.gz").write_bytes(packed)
    return run
