"""Aligns the batched operands of elementwise operations by axes of length one.

s * v, s a number and v a vector      becomes      s[:, np.newaxis] * v
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom, Let
from tapeless.transforms.ops.primitives.batch_rules import Axes
from tapeless.transforms.ops.primitives.shapes import Atoms, batch_first, move, reshape
from tapeless.transforms.vmap.python_integers import (
    check_divisor,
    check_growth,
    check_shift,
    kept_kinds,
)


def elementwise(s: Let, args: Atoms, axes: Axes) -> tuple[Any, int]:
    """The result, with the batch where the first full operand has it."""
    ndim = s.outs[0].type.ndim
    full = [k for a, k in zip(args, axes, strict=True) if k is not None and a.type.ndim == ndim + 1]
    batch = min(full[:1] + [k for k in full if k == 0], default=0)
    after = ndim - batch
    natural = kept_kinds(s, args, axes)
    check_growth(s, natural)
    check_divisor(s, args)
    check_shift(s, args)
    return s.op(
        *(_with_batch_axis_before(a, k, after) for a, k in zip(natural, axes, strict=True)),
        **s.params,
    ), batch


def _with_batch_axis_before(a: Atom, batch: int | None, after: int) -> Any:
    """The operand with its batch axis, or a new one of length one, before the last `after` axes."""
    shape = a.type.shape
    if batch is None:
        at = len(shape) - after
        return a if at <= 0 else reshape(a, shape=(*shape[:at], 1, *shape[at:]))
    inner = len(shape) - 1
    if inner < after:
        return batch_first(a, batch, after)
    return move(a, (batch,), (inner - after,))
