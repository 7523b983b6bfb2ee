"""Sizes as values: `x.shape[0]`, `len(x)`, `h * w`."""

from __future__ import annotations

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type
from tapeless.transforms.core.op import Op

INT = Type(np.dtype(int), (), True)


def _infer(*, size: Size) -> Type:
    return INT


axis_size = Op("axis_size", lambda x, *, axis: INT, "{0}.shape[{axis}]")
size_value = Op("size_value", _infer, "{size}")
