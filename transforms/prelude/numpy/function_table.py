"""Tabulates all functions that are written in plain code, by the function they stand for."""

from __future__ import annotations

import importlib
from typing import Any

from tapeless.transforms.prelude.containers import bisect, heapq, queue, sets, typed_arrays
from tapeless.transforms.prelude.numpy import (
    cmath,
    masked_arrays,
    matrices,
    misc,
    nditer,
    python_numbers,
    signals,
    sliding_windows,
    ufunc_at,
    ufunc_reduce,
)

FAMILIES = (
    *(sets, signals, misc, ufunc_at, ufunc_reduce, sliding_windows, python_numbers, cmath),
    masked_arrays,
    matrices,
    nditer,
)
WRITTEN: dict[Any, Any] = {f: ours for family in FAMILIES for f, ours in family.NUMPY.items()}
#: Functions and classes of Python's library.
PYTHONS: dict[Any, Any] = heapq.PYTHON | bisect.PYTHON | queue.PYTHON | typed_arrays.PYTHON
#: Families of those, by modules that take long to import.
LATER = {"statistics": "numpy.statistics"}


def plain_code_of(f: Any) -> Any:
    """Our code for a function; None where there is none."""
    family = LATER.get(getattr(f, "__module__", None) or "")
    if family is not None:
        return importlib.import_module(f"tapeless.transforms.prelude.{family}").PYTHON.get(f)
    return WRITTEN.get(f) or PYTHONS.get(f)
