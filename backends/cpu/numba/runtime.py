"""Loads Numba's typing rules and makes its run-time functions known to the process."""

from __future__ import annotations

import functools
import importlib.util

from numba.core.registry import cpu_target


def start() -> None:
    """Takes a third of a second the first time."""
    _without_scipy()
    cpu_target.target_context.refresh()


@functools.cache
def _without_scipy() -> None:
    """Imports Numba's rules for arrays. They import SciPy to see whether it is there, which takes
    as long as all the rest; what they do with it, they do when it is used."""
    try:
        from numba.np import linalg  # noqa: PLC0415
    except ImportError:
        return
    ensure = getattr(linalg, "ensure_blas", None)
    if ensure is None or importlib.util.find_spec("scipy") is None:
        return
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure
