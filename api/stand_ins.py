"""Which of our libraries stands for one of SciPy's in functions that are staged."""

from __future__ import annotations

from typing import Any


def distributions(f: Any) -> Any:
    """Ours for a distribution of scipy.stats, or for a method of one."""
    from tapeless.scipy.stats import of_scipy  # noqa: PLC0415 (where a program has scipy.stats)

    return of_scipy.standing_for(f)
