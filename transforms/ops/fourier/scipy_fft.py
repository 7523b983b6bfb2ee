"""Expresses the transforms of scipy.fft, and of the older scipy.fftpack, by those of numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack

from tapeless.transforms.ops.fourier import fft
from tapeless.transforms.ops.primitives.joining import as_array, each_axis_of
from tapeless.transforms.ops.primitives.shapes import cast_to


def in_scipys_numbers(x: Any) -> Any:
    """The array in the dtype that SciPy transforms: float32 for float16, else as in NumPy."""
    x = as_array(x)
    return cast_to(x, np.dtype(np.float32)) if x.type.dtype == np.float16 else x


def _as_tuple(values: Any) -> Any:
    """Axes or lengths of a transform along several axes, of which SciPy takes one as a number."""
    return (values,) if isinstance(values, int) else values


def _axes(axes: Any, x: Any) -> Any:
    axes = _as_tuple(axes)
    if axes is not None and len(set(each_axis_of(axes, x.type.ndim))) < len(axes):
        raise ValueError("all axes must be unique")
    return axes


def _as_in_numpy(name: str) -> Any:
    """scipy's signature: what only says how to compute makes no difference."""
    rule = fft.NUMPY[getattr(np.fft, name)]
    if name in ("fftfreq", "rfftfreq"):
        return lambda n, d=1.0, *, xp=None, device=None: rule(n, d)
    if name in ("fftshift", "ifftshift"):
        return rule
    if name.endswith(("n", "2")):
        return _transform_over_axes(rule, (-2, -1) if name.endswith("2") else None)

    def transform(
        x: Any,
        *where: Any,
        overwrite_x: bool = False,
        workers: Any = None,
        plan: Any = None,
        **more: Any,
    ) -> Any:
        return rule(in_scipys_numbers(x), *where[:3], **more)

    return transform


def _transform_over_axes(rule: Any, default: Any) -> Any:
    """The transform along several axes."""

    def transform(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        return rule(x := in_scipys_numbers(x), _as_tuple(s), _axes(axes, x), norm)

    return transform


def _as_in_fftpack(rule: Any) -> Any:
    """fftpack's signature, where lengths are a shape."""

    def transform(x: Any, *where: Any, overwrite_x: bool = False, **more: Any) -> Any:
        x = in_scipys_numbers(x)
        if "shape" in more:
            more["s"] = _as_tuple(more.pop("shape"))
        if "axes" in more:
            more["axes"] = _axes(more["axes"], x)
        return rule(x, *where[:2], **more)

    return transform


BOTH = (
    *("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2"),
    *("rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift", "fftfreq", "rfftfreq"),
)
RULES: dict[Any, Any] = {getattr(scipy.fft, name): _as_in_numpy(name) for name in BOTH}
#: Those of fftpack for real arrays order the numbers otherwise.
OLDER = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn")
FFTPACK: dict[Any, Any] = {
    getattr(scipy.fftpack, name): _as_in_fftpack(fft.NUMPY[getattr(np.fft, name)]) for name in OLDER
}
