"""Which of our libraries stands for one of SciPy's in functions that are staged."""

from __future__ import annotations

from typing import Any


def distributions(f: Any) -> Any:
    """Ours for a distribution of scipy.stats, or for a method of one."""
    from tapeless.scipy.stats import of_scipy  # noqa: PLC0415 (where a program has scipy.stats)

    return of_scipy.standing_for(f)


def signals(f: Any) -> Any:
    """Ours for a function of scipy.signal."""
    from tapeless.scipy import signal  # noqa: PLC0415 (where a program has scipy.signal)

    return vars(signal).get(f.__name__) if f.__name__ in SIGNALS else None


#: Those of scipy.signal that take what SciPy's take.
SIGNALS = frozenset(
    ["convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve", "detrend"]
)
