"""Which of our libraries stands for one of SciPy's in functions that are staged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.later import later

if TYPE_CHECKING:
    from tapeless.scipy import signal
    from tapeless.scipy.stats import of_scipy
else:  # where a program has scipy.signal or scipy.stats
    signal, of_scipy = (later(f"tapeless.scipy.{m}") for m in ("signal", "stats.of_scipy"))

#: Those of scipy.signal that take what SciPy's take.
SIGNALS = frozenset(
    ["convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve", "detrend"]
)


def distributions(f: Any) -> Any:
    """Ours for a distribution of scipy.stats, or for a method of one."""
    return of_scipy.standing_for(f)


def signals(f: Any) -> Any:
    """Ours for a function of scipy.signal."""
    return getattr(signal, f.__name__) if f.__name__ in SIGNALS else None
