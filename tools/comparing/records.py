"""Keeps what comparisons with NumPy came to, for the table of functions and for tests."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("agreement.json")


@functools.cache
def read() -> dict[str, Any]:
    """By function: for emitted and compiled code the number of calls, and of differences by kind
    (of `last places` the most units)."""
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}


def write(name: str, record: dict[str, Any]) -> None:
    """Records the result of one function."""
    read.cache_clear()
    records = read() | {name: record}
    lines = [f"{json.dumps(k)}: {json.dumps(records[k], sort_keys=True)}" for k in sorted(records)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def column(name: str, form: str) -> str:
    """How a function agrees with NumPy, in a word or two."""
    record = read().get(name, {}).get(form, {})
    if not record.get("calls"):
        return ""
    ulps = record.get("last places", 0)
    return f"{ulps} ulp" if ulps else "exact"


def total() -> dict[str, int]:
    """The number of calls that were compared, by the form of the code."""
    every = read().values()
    return {
        form: sum(r.get(form, {}).get("calls", 0) for r in every) for form in ("emitted", "jit")
    }


def kinds(name: str) -> list[str]:
    """The kinds of differences other than last places, in either form."""
    record = read().get(name, {})
    every = {k for form in ("emitted", "jit") for k in record.get(form, {})}
    return sorted(every - {"calls", "last places", "refused"})
