"""Defines the removal of axes of length one: where the length is known at run time only, the
program relies on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import Atom
from tapeless.transforms.ops.numpy.run_time_errors import require_other_size, require_size
from tapeless.transforms.ops.primitives.joining import as_array, axes_of, refuse_truth
from tapeless.transforms.ops.primitives.shapes import reshape

NOT_ONE = "cannot select an axis to squeeze out which has size not equal to one"
UNKNOWN_RANK = "the number of axes would depend on data: an axis has length one in this call"


def _squeeze(a: Any, axis: Any = None) -> Any:
    a = as_array(a)
    refuse_truth(axis, "an integer is required for the axis")
    ones = [k for k, s in enumerate(a.type.shape) if current().lacks_extent(s)]
    places = ones if axis is None else axes_of(axis, max(a.type.ndim, 1))  # 0 is one of no axes
    for k, n in enumerate(a.type.shape):
        if k in places and k not in ones:
            require_size(n, 1, ValueError, NOT_ONE)
        elif k not in places and axis is None:
            require_other_size(n, 1, ValueError, UNKNOWN_RANK)
    return reshape(a, shape=tuple(s for k, s in enumerate(a.type.shape) if k not in places))


def squeeze_axes(a: Atom, axes: tuple[int, ...]) -> Any:
    """Without those of some axes that have length one, which must be known of each."""
    for k in axes:
        if a.type.shape[k] != 1:
            require_other_size(a.type.shape[k], 1, ValueError, UNKNOWN_RANK)
    kept = (s for k, s in enumerate(a.type.shape) if k not in axes or s != 1)
    return reshape(a, shape=tuple(kept))


NUMPY = {np.squeeze: _squeeze}
METHODS = {"squeeze": _squeeze}
