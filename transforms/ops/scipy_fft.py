"""The transforms of scipy.fft, and of the older scipy.fftpack, that numpy.fft has too."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack

from tapeless.transforms.ops import fft


def _as_in_numpy(rule: Any) -> Any:
    """scipy's signature: what only says how to compute makes no difference."""

    def transform(
        x: Any,
        *where: Any,
        overwrite_x: bool = False,
        workers: Any = None,
        plan: Any = None,
        **more: Any,
    ) -> Any:
        return rule(x, *where[:3], **more)

    return transform


def _as_in_fftpack(rule: Any) -> Any:
    """fftpack's signature, where lengths are a shape."""

    def transform(x: Any, *where: Any, overwrite_x: bool = False, **more: Any) -> Any:
        if "shape" in more:
            more["s"] = more.pop("shape")
        return rule(x, *where[:2], **more)

    return transform


BOTH = (
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2"),
    *("rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift", "fftfreq", "rfftfreq"),
)
RULES: dict[Any, Any] = {
    getattr(scipy.fft, name): _as_in_numpy(fft.NUMPY[getattr(np.fft, name)]) for name in BOTH
}
#: Those of fftpack for real arrays order the numbers otherwise.
OLDER = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn")
FFTPACK: dict[Any, Any] = {
    getattr(scipy.fftpack, name): _as_in_fftpack(fft.NUMPY[getattr(np.fft, name)]) for name in OLDER
}
