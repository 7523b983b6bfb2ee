"""Elementwise operations on batched operands: axes of length one line them up.

s * v, s a number and v a vector      becomes      s[:, np.newaxis] * v
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Let, Type
from tapeless.transforms.ops.batching import Axes
from tapeless.transforms.ops.promotion import PYTHON
from tapeless.transforms.ops.selection import select
from tapeless.transforms.ops.shapes import Atoms, cast_to, lifted, move, reshape


def elementwise(s: Let, args: Atoms, axes: Axes) -> tuple[Any, int]:
    """The result, with the batch where the first full operand has it."""
    ndim = s.outs[0].type.ndim
    full = [k for a, k in zip(args, axes, strict=True) if k is not None and a.type.ndim == ndim + 1]
    batch = min(full[:1] + [k for k in full if k == 0], default=0)
    after = ndim - batch
    natural = kept_kinds(s, args, axes)
    return s.op(
        *(_placed(a, k, after) for a, k in zip(natural, axes, strict=True)), **s.params
    ), batch


def _placed(a: Atom, batch: int | None, after: int) -> Any:
    """The operand with its batch axis, or a new one of length one, before the last `after` axes."""
    shape = a.type.shape
    if batch is None:
        at = len(shape) - after
        return a if at <= 0 else reshape(a, shape=(*shape[:at], 1, *shape[at:]))
    inner = len(shape) - 1
    if inner < after:
        return lifted(a, batch, after)
    return move(a, (batch,), (inner - after,))


def kept_kinds(s: Let, args: Atoms, axes: Axes) -> Atoms:
    """Python numbers adapt to arrays (NEP 50); a batch of them is an array, which is cast."""
    places = range(1 if s.op is select else 0, len(args))
    types: list[Type] = [s.args[k].type for k in places]
    if not any(s.args[k].type.weak and axes[k] is not None for k in places):
        return args
    firm = [t.dtype for t in types if not t.weak]
    numbers = [PYTHON[t.dtype.kind](0) for t in types if t.weak]
    kind = np.result_type(*firm, *numbers)
    if not firm and kind.kind == "b" and s.outs[0].type.dtype.kind != "b":
        kind = s.outs[0].type.dtype  # True + True is 2
    made = list(args)
    for k in places:
        if s.args[k].type.weak and axes[k] is not None:
            made[k] = cast_to(args[k], kind)
    return tuple(made)
