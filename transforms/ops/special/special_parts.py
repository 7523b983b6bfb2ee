"""Expresses functions of scipy.special by simpler operations, which share loops in kernels.

softmax(x)      becomes, in kernels,      e = exp(x - max(x)); e / sum(e)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom
from tapeless.transforms.ops.numpy.reductions import amax
from tapeless.transforms.ops.primitives.arithmetic import add, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, isfinite
from tapeless.transforms.ops.primitives.elementwise import exp, log, log1p
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.shapes import sum as total_of


def softmax_parts(x: Atom, axes: tuple[int, ...]) -> Any:
    powers = exp(sub(x, amax(x, axes=axes, keepdims=True)))
    return truediv(powers, total_of(powers, axes=axes, keepdims=True))


def log_softmax_parts(x: Atom, axes: tuple[int, ...]) -> Any:
    moved = sub(x, _if_finite(amax(x, axes=axes, keepdims=True)))
    return sub(moved, log(total_of(exp(moved), axes=axes, keepdims=True)))


def _floats(x: Atom) -> Any:
    return x if x.type.dtype.kind == "f" else cast_to(x, np.dtype(float))


def _if_finite(top: Atom) -> Any:
    return select(isfinite(top), top, top.type.dtype.type(0))


def logsumexp_parts(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    """As scipy: the largest elements are counted, and those below them added up."""
    wide = _floats(x)
    top = amax(wide, axes=axes, keepdims=True)
    among = equal(wide, top)
    below = select(among, wide.type.dtype.type(0), exp(sub(wide, _if_finite(top))))
    rest = total_of(below, axes=axes, keepdims=keepdims)
    number = total_of(cast_to(among, wide.type.dtype), axes=axes, keepdims=keepdims)
    largest = top if keepdims else amax(wide, axes=axes, keepdims=False)
    return add(add(log1p(truediv(rest, number)), log(number)), largest)
