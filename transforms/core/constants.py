"""Compares constants as programs tell them apart: for Python 1, 1.0 and True are equal, and 0.0 and
-0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def exactly(value: Any) -> Any:
    """What equals that of another constant only where programs cannot tell the two apart.

    >>> exactly(0.0) == exactly(-0.0), exactly((1,)) == exactly((True,))
    (False, False)
    >>> exactly(float("nan")) == exactly(float("nan"))
    True
    """
    if isinstance(value, tuple):
        return (type(value), *map(exactly, value))
    if isinstance(value, (float, complex, np.inexact)):
        return type(value), repr(value)
    return type(value), value
