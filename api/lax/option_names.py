"""Defines the words for options of jax.lax; where an option has no effect, any of its words is
accepted.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from tapeless.lax.sliding_windows.dimension_numbers import ConvDimensionNumbers

#: What `conv_general_dilated` takes as dimension_numbers.
ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None
#: ((axes of lhs, axes of rhs) to sum over, (axes of lhs, axes of rhs) side by side).
DotDimensionNumbers = Any
#: What is accepted as `precision`: products are always those of the dtype.
PrecisionLike = Any


class Precision(enum.Enum):
    """How exact products are; here they are always those of the dtype."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class RoundingMethod(enum.IntEnum):
    """What `round` makes of a half."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class FftType(enum.IntEnum):
    """The transform of `fft`: forwards or back, of complex or real numbers."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class RandomAlgorithm(enum.IntEnum):
    """Generators of `rng_bit_generator`; here there is Threefry."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


class RaggedDotDimensionNumbers(NamedTuple):
    """The axes of `ragged_dot_general`.

    dot_dimension_numbers  those of `dot_general`
    lhs_ragged_dimensions  the axis of lhs that is divided into groups
    rhs_group_dimensions   the axis of rhs that has an entry for each group
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Any
    rhs_group_dimensions: Any


__all__ = [
    "ConvGeneralDilatedDimensionNumbers",
    "DotDimensionNumbers",
    "FftType",
    "Precision",
    "PrecisionLike",
    "RaggedDotDimensionNumbers",
    "RandomAlgorithm",
    "RoundingMethod",
]
