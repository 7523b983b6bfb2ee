"""All functions that are written in NumPy, by the function they stand for."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.written import (
    bisection,
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

FAMILIES = (sets, signals, several, repeated, reduced, windows, scalars, heaps, bisection, queues)
WRITTEN: dict[Any, Any] = {f: ours for family in FAMILIES for f, ours in family.NUMPY.items()}
