"""Recognises NumPy's generators of random numbers among other objects."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_generator(value: Any) -> bool:
    """Whether a value is a generator of NumPy's. Looking for that imports nothing, as NumPy imports
    its generators on first use.

    >>> is_generator(np.random.default_rng(0)), is_generator(0)
    (True, False)
    """
    kind = type(value)
    named = kind.__name__ in ("Generator", "RandomState")
    return named and kind in (np.random.Generator, np.random.RandomState)
