"""Recognises NumPy's generators of random numbers among other objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Effect, Statement


def is_generator(value: Any) -> bool:
    """Whether a value is a generator of NumPy's. Looking for that imports nothing, as NumPy imports
    its generators on first use.

    >>> is_generator(np.random.default_rng(0)), is_generator(0)
    (True, False)
    """
    kind = type(value)
    named = kind.__name__ in ("Generator", "RandomState")
    return named and kind in (np.random.Generator, np.random.RandomState)


def is_seed(s: Statement) -> bool:
    """Whether a statement seeds NumPy's own generator."""
    return isinstance(s, Effect) and str(s.params.get("form", "")).startswith("np.random.seed(")
