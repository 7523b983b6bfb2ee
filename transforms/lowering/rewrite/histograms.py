"""Counts elements in bins of one width in one loop over them.

n = np.histogram(x, 10, (low, high))[0]     becomes     n = zeros(10, int); n[bins of x] += inside
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.numpy.creation import NUMPY as CREATION
from tapeless.transforms.ops.numpy.histograms import edges_dtype, in_bins, uniform_bins
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    isfinite,
    less,
    logical_and,
)
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to, flatten
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at

DOUBLE = np.dtype(float)
FEW = 1 << 16  # bins, of which numbers of single precision are computed to less than one


def counted_in_bins(out: Type, x: Atom, low: Atom, high: Atom, *, bins: int) -> Any:
    """The counts of np.histogram, of numbers of double precision, with its errors."""
    if any(a.type.dtype != DOUBLE for a in (x, low, high)):
        raise NotTaken
    return _count_in_bins(out, x, low, high, DOUBLE, bins)


def counted_without_library(out: Type, x: Atom, low: Atom, high: Atom, *, bins: int) -> Any:
    """The same of integers and of numbers of single precision, too, whose bins begin where NumPy's
    do: at numbers of the dtype of the elements."""
    dtype = edges_dtype(x, low, high)
    if dtype not in (DOUBLE, np.dtype(np.float32)) or (dtype != DOUBLE and bins > FEW):
        raise NotTaken
    return _count_in_bins(out, x, low, high, dtype, bins)


def _count_in_bins(
    out: Type, x: Atom, low: Atom, high: Atom, dtype: np.dtype[Any], bins: int
) -> Any:
    finite = logical_and(isfinite(low), isfinite(high))
    require(finite, ValueError, "the range of a histogram is not finite")
    raise_where(less(high, low), ValueError, "max must be larger than min in range parameter.")
    same = equal(low, high)
    low, high = select(same, low - 0.5, low), select(same, high + 0.5, high)
    edges = CREATION[np.linspace](low, high, bins + 1, dtype=dtype)
    x = flatten(x)
    counts = zeros(shape=(bins,), dtype=out.dtype)
    inside = cast_to(in_bins(x, edges), out.dtype)
    return add_at(counts, inside, uniform_bins(x, edges, low, high), key=(Slot(0),))
