"""All functions that are written in plain code, by the function they stand for."""

from __future__ import annotations

import importlib
from typing import Any

from tapeless.transforms.written import (
    bisection,
    complex_numbers,
    heaps,
    queues,
    reduced,
    repeated,
    scalars,
    sets,
    several,
    signals,
    windows,
)

FAMILIES = (sets, signals, several, repeated, reduced, windows, scalars, complex_numbers)
WRITTEN: dict[Any, Any] = {f: ours for family in FAMILIES for f, ours in family.NUMPY.items()}
#: Functions and classes of Python's library.
PYTHONS: dict[Any, Any] = heaps.PYTHON | bisection.PYTHON | queues.PYTHON
#: Families of those, by modules that take long to import.
LATER = {"statistics": "averages"}


def written(f: Any) -> Any:
    """Our code for a function; None where there is none."""
    family = LATER.get(getattr(f, "__module__", None) or "")
    if family is not None:
        return importlib.import_module(f"tapeless.transforms.written.{family}").PYTHON.get(f)
    return WRITTEN.get(f) or PYTHONS.get(f)
