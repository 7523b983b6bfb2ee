"""Unpacks the arguments of a driver in machine code, by the form that each of them has.

f([(w, b)], 2.0)      is      (Items(list, (Items(tuple, (w, b)),)), Leaf(2, float))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.dataclass import dataclass


@dataclass(frozen=True)
class SequenceForm:
    """A list or a tuple of so many things."""

    kind: type
    parts: tuple[ArgumentForm, ...]


@dataclass(frozen=True)
class DictForm:
    """A dict with these keys, in this order."""

    keys: tuple[Any, ...]
    parts: tuple[ArgumentForm, ...]


@dataclass(frozen=True)
class LeafForm:
    """A number of a type, or something that is the very object."""

    number: int
    kind: type | None
    same: Any = None


@dataclass(frozen=True)
class ArrayForm:
    """An array; lengths of axes that are 0 or 1 are known, of others that they are greater."""

    number: int
    dtype: np.dtype[Any]
    lengths: tuple[int | None, ...]


ArgumentForm = SequenceForm | DictForm | LeafForm | ArrayForm | None
