"""Which of our libraries stands for one of SciPy's in functions that are staged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.later import later

if TYPE_CHECKING:
    from tapeless.scipy import integrate, interpolate, signal
    from tapeless.scipy.spatial import distance
    from tapeless.scipy.stats import of_scipy
else:  # where a program has these parts of SciPy
    integrate, interpolate, signal = (
        later(f"tapeless.scipy.{m}") for m in ("integrate", "interpolate", "signal")
    )
    distance, of_scipy = (
        later(f"tapeless.scipy.{m}") for m in ("spatial.distance", "stats.of_scipy")
    )

#: Those that take what SciPy's take.
SIGNALS = frozenset(
    [
        *("convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve", "detrend"),
        *("csd", "istft", "stft", "welch", "lfilter", "sosfilt"),
    ]
)
INTEGRALS = frozenset(["fixed_quad", "quad", "simpson", "solve_ivp"])


def distributions(f: Any) -> Any:
    """Ours for a distribution of scipy.stats, or for a method of one."""
    return of_scipy.standing_for(f)


def signals(f: Any) -> Any:
    """Ours for a function of scipy.signal."""
    return getattr(signal, f.__name__) if f.__name__ in SIGNALS else None


def integrals(f: Any) -> Any:
    """Ours for a function of scipy.integrate."""
    name = getattr(f, "__name__", "")
    return getattr(integrate, name) if name in INTEGRALS else None


def distances(f: Any) -> Any:
    """Ours for a function of scipy.spatial.distance."""
    name = getattr(f, "__name__", "")
    return getattr(distance, name) if name in distance.__all__ else None


def interpolators(f: Any) -> Any:
    """Ours for a class of scipy.interpolate, or for an object of one that is called."""
    return interpolate.standing_for(f)


STAND_INS = {
    "scipy.stats": distributions,
    "scipy.signal": signals,
    "scipy.integrate": integrals,
    "scipy.spatial": distances,
    "scipy.interpolate": interpolators,
}
