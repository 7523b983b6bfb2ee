"""Arrays from other libraries, without a copy: NumPy's DLPack functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import from_dlpack as from_dlpack


def is_supported_dtype(dtype: Any) -> bool:
    """Whether arrays of a dtype can be exchanged.

    >>> is_supported_dtype(float), is_supported_dtype(str)
    (True, False)
    """
    return np.dtype(dtype).kind in "biufc"


__all__ = ["from_dlpack", "is_supported_dtype"]
