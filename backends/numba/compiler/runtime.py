"""Numba made ready: its rules loaded, its run-time functions known to the process."""

from __future__ import annotations

from numba.core.registry import cpu_target


def start() -> None:
    """Takes half a second the first time."""
    cpu_target.target_context.refresh()
