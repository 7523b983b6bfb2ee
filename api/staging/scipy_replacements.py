"""Finds the function of ours that stands for one of SciPy's in functions that are staged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.lazy_import import lazy_module
from tapeless.transforms.frontend.builtins import plain_code

if TYPE_CHECKING:
    from tapeless.scipy import integrate, interpolate, linalg, signal
    from tapeless.scipy.linalg import matrix_equations as equations
    from tapeless.scipy.spatial import distance, scipy_rotations
    from tapeless.scipy.stats import scipy_replacements as of_scipy
else:  # where a program has these parts of SciPy
    integrate, interpolate, linalg, signal = (
        lazy_module(f"tapeless.scipy.{m}") for m in ("integrate", "interpolate", "linalg", "signal")
    )
    distance, scipy_rotations, equations, of_scipy = (
        lazy_module("tapeless.scipy.spatial.distance"),
        lazy_module("tapeless.scipy.spatial.scipy_rotations"),
        lazy_module("tapeless.scipy.linalg.matrix_equations"),
        lazy_module("tapeless.scipy.stats.scipy_replacements"),
    )

#: Those that take what SciPy's take.
SIGNALS = frozenset(
    [
        *("convolve", "correlate", "convolve2d", "correlate2d", "fftconvolve", "detrend"),
        *("csd", "istft", "stft", "welch", "coherence", "periodogram", "spectrogram"),
        *("lfilter", "sosfilt", "lfilter_zi", "sosfilt_zi", "deconvolve", "freqs"),
        *("filtfilt", "sosfiltfilt", "hilbert", "savgol_filter"),
        *("resample", "resample_poly", "upfirdn", "decimate"),
    ]
)
MATRICES = frozenset(
    [
        *("companion", "convolution_matrix", "fiedler", "fiedler_companion", "leslie"),
        "hessenberg",
        *("eigvalsh_tridiagonal", "khatri_rao", "lstsq", "matmul_toeplitz", "pinvh"),
        *("orthogonal_procrustes", "solve_circulant", "solve_toeplitz"),
        *("solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_lyapunov"),
    ]
)
INTEGRALS = frozenset(
    [
        *("dblquad", "fixed_quad", "nquad", "odeint", "quad", "romb", "simpson"),
        *("solve_ivp", "tplquad"),
    ]
)


def distributions(f: Any) -> Any:
    """Ours for a distribution of scipy.stats, or for a method of one."""
    return of_scipy.standing_for(f) or plain_code.standing_for(f)


def signals(f: Any) -> Any:
    """Ours for a function of scipy.signal."""
    if f.__name__ in SIGNALS:
        return getattr(signal, f.__name__)
    return plain_code.standing_for(f)


def matrices(f: Any) -> Any:
    """Ours for a function of scipy.linalg."""
    if f.__name__ == "solve_sylvester":  # that of JAX takes other options
        return equations.sylvester
    return getattr(linalg, f.__name__) if f.__name__ in MATRICES else None


def integrals(f: Any) -> Any:
    """Ours for a function of scipy.integrate."""
    name = getattr(f, "__name__", "")
    return getattr(integrate, name) if name in INTEGRALS else None


def distances(f: Any) -> Any:
    """Ours for a function of scipy.spatial.distance, or of scipy.spatial.transform.Rotation."""
    name = getattr(f, "__name__", "")
    if ".transform." in (f.__module__ or ""):
        return scipy_rotations.standing_for(f)
    return getattr(distance, name) if name in distance.__all__ else None


def interpolators(f: Any) -> Any:
    """Ours for a class of scipy.interpolate, or for an object of one that is called."""
    return interpolate.standing_for(f)


STAND_INS = {
    "scipy.stats": distributions,
    "scipy.signal": signals,
    "scipy.integrate": integrals,
    "scipy.linalg": matrices,
    "scipy.spatial": distances,
    "scipy.interpolate": interpolators,
}
