"""Defines the one operation that the core itself records: the value of a size."""

from __future__ import annotations

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type
from tapeless.transforms.core.operation import Op

INT = Type(np.dtype(int), (), True)


def _infer(*, size: Size) -> Type:
    return INT


size_value = Op("size_value", _infer, "{size}", speculative=True, word="n")
