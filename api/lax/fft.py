"""Computes Fourier transforms over the last axes, with the arguments of jax.lax.fft."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_array
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def fft(x: Any, fft_type: Any, fft_lengths: Any) -> Any:
    """The discrete Fourier transform over the last axes.

    x            array
    fft_type     FftType, or its name: FFT, IFFT, RFFT or IRFFT
    fft_lengths  the lengths of the axes that are transformed, of real numbers for RFFT and IRFFT

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.fft(np.array([1.0, 2.0, 3.0]), "RFFT", (3,)).round(3)
    array([ 6. +0.j   , -1.5+0.866j])
    """
    x = checked_array("fft", x)
    name = fft_type if isinstance(fft_type, str) else fft_type.name
    lengths = tuple(fft_lengths)
    if name not in _TRANSFORMS:
        raise ArgumentError(f"lax.fft: there is no transform {fft_type!r}")
    if name == "RFFT" and x.dtype.kind == "c":
        raise ArgumentError("lax.fft: RFFT takes real numbers")
    if not lengths:
        return x
    axes = tuple(range(-len(lengths), 0))
    return _TRANSFORMS[name](x, s=lengths, axes=axes)


_TRANSFORMS: dict[str, Any] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}
