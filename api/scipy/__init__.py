"""Provides SciPy's functions that work in transformed code, with the names of jax.scipy.

>>> import numpy as np
>>> from tapeless import grad
>>> from tapeless.scipy import stats
>>> grad(stats.norm.logpdf)(1.5)
-1.5
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy instead of {__name__}")

import importlib
from typing import Any

from tapeless.missing import missing

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]


def __getattr__(name: str) -> Any:
    """The modules, imported on first use; most need SciPy."""
    if name not in __all__:
        raise missing(__name__, name)
    return importlib.import_module(f"tapeless.scipy.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
