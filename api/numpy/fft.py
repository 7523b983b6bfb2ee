"""Provides numpy.fft under the names, and with the keywords, of jax.numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.numpy import frequencies
from tapeless.numpy.array_functions import functions_by_name, missing, ours

_functions = {
    **functions_by_name(
        np.fft,
        "fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft "
        "rfft2 rfftn",
    ),
    **ours(frequencies, "fftfreq rfftfreq", __name__),
}
globals().update(_functions)
__all__ = sorted(_functions)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
