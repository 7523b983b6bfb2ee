"""Stages np.r_ and np.c_ of symbols: arrays, numbers and ranges joined by an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.cast_rules import check_bounds
from tapeless.transforms.ops.primitives.dtypes import PYTHON


def joins(obj: Any, key: Any) -> bool:
    """Whether obj[key] joins symbols."""
    return (obj is np.r_ or obj is np.c_) and has_symbols(key)


def joined_by(obj: Any, key: Any) -> Any:
    """np.r_[key] or np.c_[key]."""
    entries = key if isinstance(key, tuple) else (key,)
    parts = [_piece(p) for p in entries]
    kinds = [_kind(p, part) for p, part in zip(entries, parts, strict=True)]
    dtype = np.result_type(*kinds)  # Python's numbers adapt to arrays
    for number in (e for e in entries if type(e) is int):
        check_bounds(atom(number), dtype)
    parts = [p.astype(dtype) for p in parts]
    columns = obj is np.c_
    if columns:
        parts = [p if p.ndim > 1 else apply(FUNCTIONS[np.reshape], p, (-1, 1)) for p in parts]
    return apply(FUNCTIONS[np.concatenate], parts, -1 if columns else 0)


def _kind(part: Any, value: Any) -> Any:
    """What decides with the others on the dtype of the result."""
    weak = part.type.weak if isinstance(part, Symbol) else type(part) in (int, float, complex)
    return PYTHON[value.dtype.kind](0) if weak and value.dtype.kind in PYTHON else value.dtype


def _piece(part: Any) -> Any:
    if isinstance(part, str):
        raise UnsupportedError(f"np.r_ with the directive {part!r}", "use np.concatenate")
    if not isinstance(part, slice):
        array_like = isinstance(part, (list, tuple)) or np.ndim(part)
        return apply(FUNCTIONS[np.asarray], part if array_like else [part])
    if isinstance(part.step, complex):
        return apply(FUNCTIONS[np.linspace], part.start, part.stop, int(abs(part.step)))
    start, step = (0 if part.start is None else part.start), (part.step or 1)
    return apply(FUNCTIONS[np.arange], start, part.stop, step)
