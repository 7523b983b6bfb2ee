"""Computes the frequencies of discrete Fourier transforms, with the keywords of jax.numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None) -> Any:
    """np.fft.fftfreq, of the dtype `dtype` where one is given.

    >>> import tapeless.numpy as jnp
    >>> jnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float64)
    """
    frequencies = np.fft.fftfreq(n, d)
    return frequencies if dtype is None else frequencies.astype(dtype)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None) -> Any:
    """np.fft.rfftfreq, of the dtype `dtype` where one is given."""
    frequencies = np.fft.rfftfreq(n, d)
    return frequencies if dtype is None else frequencies.astype(dtype)
