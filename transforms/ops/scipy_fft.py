"""The transforms of scipy.fft that numpy.fft has too."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

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


BOTH = (
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2"),
    *("rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift", "fftfreq", "rfftfreq"),
)
RULES: dict[Any, Any] = {
    getattr(scipy.fft, name): _as_in_numpy(fft.NUMPY[getattr(np.fft, name)]) for name in BOTH
}
