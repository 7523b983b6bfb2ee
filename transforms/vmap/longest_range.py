"""Computes how far the longest of several ranges goes; there may be none of them.

np.max(stop)      raises for an empty batch, where      np.max(stop, initial=0)      does not
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, axis_in_batch
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.shapes import axes_text, batch_first, reduced_shape

LIMITS = np.iinfo(np.int64)


def _extent(name: str, join: Op, neutral: int) -> Op:
    """The largest (smallest) of integers and of a number to start with."""

    def infer(x: Atom, start: Atom, *, axes: tuple[int, ...]) -> Type:
        return Type(x.type.dtype, reduced_shape(x.type.shape, axes, False))

    def source(args: Any, params: Any) -> str:
        axis = axes_text(params["axes"], args[0].type.ndim)
        return f"np.{name}({{0}}{axis}, initial={{1}})"

    def batch(op: Op, args: Any, axes: Axes, params: Any) -> Batched:
        (x, start), (k, j) = args, axes
        if k is None:
            return join(op(x, atom(neutral), **params), start), j
        over = tuple(axis_in_batch(a, k) for a in params["axes"])
        place = k - sum(a < k for a in over)
        extremum = op(x, start if j is None else atom(neutral), axes=over)
        if j is None:
            return extremum, place
        return join(batch_first(extremum, place, 0), batch_first(start, j, 0)), 0

    return Op(f"extent_{name}", infer, source, costly=True, batch=batch)


highest = _extent("max", maximum, LIMITS.min)
lowest = _extent("min", minimum, LIMITS.max)
