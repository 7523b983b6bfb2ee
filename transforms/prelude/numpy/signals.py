"""Implements phases without jumps, windows, and packed bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Jumps of more than half a period are taken back, as np.unwrap does it."""
    p = np.asarray(p)
    steps = np.diff(p, axis=axis)
    whole = steps.dtype.kind in "iu" and np.asarray(period).dtype.kind in "iu"
    high = period // 2 if whole else period / 2
    exact = period % 2 == 0 if whole else True
    near = np.mod(steps + high, period) - high
    if exact:
        near = np.where((near == -high) & (steps > 0), high, near)
    limit = high if discont is None else discont
    turns = np.where(np.abs(steps) < limit, 0, near - steps)
    first = np.zeros_like(np.take(turns, [0], axis=axis))
    return p + np.cumsum(np.concatenate([first, turns], axis=axis), axis=axis)


def window_angles(M: int) -> Any:  # noqa: N803 (NumPy's)
    """Angles from -pi to pi; 0 of a window of one."""
    return np.pi * np.arange(1 - M, M, 2) / (1 if M == 1 else M - 1)


def bartlett(M: int) -> Any:  # noqa: N803 (NumPy's)
    """A triangle."""
    return 1 - np.abs(window_angles(M)) / np.pi


def hanning(M: int) -> Any:  # noqa: N803 (NumPy's)
    """A raised cosine."""
    return 0.5 + 0.5 * np.cos(window_angles(M))


def hamming(M: int) -> Any:  # noqa: N803 (NumPy's)
    """A raised cosine on a pedestal."""
    return 0.54 + 0.46 * np.cos(window_angles(M))


def blackman(M: int) -> Any:  # noqa: N803 (NumPy's)
    """Three terms of cosines."""
    angles = window_angles(M)
    return 0.42 + 0.5 * np.cos(angles) + 0.08 * np.cos(2 * angles)


def kaiser(M: int, beta: Any) -> Any:  # noqa: N803 (NumPy's)
    """Kaiser's window, of a Bessel function."""
    inside = np.maximum(1 - (window_angles(M) / np.pi) ** 2, 0)
    return np.i0(beta * np.sqrt(inside)) / np.i0(beta)


def bit_values(bitorder: str) -> Any:
    """What the bits of a byte are worth."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    values = 1 << np.arange(8)
    return values[::-1].astype(np.uint8) if bitorder == "big" else values.astype(np.uint8)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Eight flags to a byte."""
    line = np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, -1)
    missing = -line.shape[-1] % 8
    widths = [(0, 0)] * (line.ndim - 1) + [(0, missing)]
    flags = np.pad(line != 0, widths).astype(np.uint8)
    bytes_ = flags.reshape(*line.shape[:-1], (line.shape[-1] + missing) // 8, 8)
    packed: Any = np.sum(bytes_ * bit_values(bitorder), axis=-1, dtype=np.uint8)
    return packed if axis is None else np.moveaxis(packed, -1, axis)


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    """The bits of bytes."""
    if count is not None:
        raise UnsupportedError("np.unpackbits with count=", "slice what it gives")
    line = np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, -1)
    bits = ((line[..., None] & bit_values(bitorder)) != 0).astype(np.uint8)
    flags = bits.reshape(*line.shape[:-1], line.shape[-1] * 8)
    return flags if axis is None else np.moveaxis(flags, -1, axis)


NUMPY = {
    np.unwrap: unwrap,
    np.bartlett: bartlett,
    np.hanning: hanning,
    np.hamming: hamming,
    np.blackman: blackman,
    np.kaiser: kaiser,
    np.packbits: packbits,
    np.unpackbits: unpackbits,
}
