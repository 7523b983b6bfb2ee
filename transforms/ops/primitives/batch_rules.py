"""Defines batching rules that need no other operation: they only say where the batch axis is.

x.sum(axis=0)      becomes, with the batch in front,      x.sum(axis=1)
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom

Axes = tuple[Any, ...]  # for each argument the batch axis, or None
Batched = tuple[Any, Any]  # the result with its batch axis; or results with their axes


def axis_in_batch(axis: int, batch: int) -> int:
    """Where an axis of an element is in an array with a batch axis."""
    return axis + (axis >= batch)


def only_first(axes: Axes) -> bool:
    """Whether no argument but the first is batched."""
    return axes[0] is not None and all(k is None for k in axes[1:])


def batch_elementwise(op: Any, args: tuple[Atom, ...], axes: Axes, params: Any) -> Batched | None:
    """Of what keeps the shape of its first argument and treats all its elements alike."""
    return (op(*args, **params), axes[0]) if only_first(axes) else None


def reducing(op: Any, args: tuple[Atom, ...], axes: Axes, params: Any) -> Batched | None:
    """Of what works over the axes in `axes`, which then vanish unless it keeps them."""
    if not only_first(axes):
        return None
    batch, over = axes[0], params["axes"]
    reduced = op(*args, **{**params, "axes": tuple(axis_in_batch(k, batch) for k in over)})
    vanish = not params.get("keepdims", True)
    return reduced, batch - sum(axis_in_batch(k, batch) < batch for k in over) * vanish


def batch_along_axis(op: Any, args: tuple[Atom, ...], axes: Axes, params: Any) -> Batched | None:
    """Of what works along the axis `axis`, which stays."""
    if not only_first(axes):
        return None
    return op(*args, **{**params, "axis": axis_in_batch(params["axis"], axes[0])}), axes[0]
