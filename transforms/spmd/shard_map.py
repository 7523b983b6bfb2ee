"""Maps over some elements of a named axis: where they need the others, shards exchange values.

s = psum(x, "i")      becomes, for the elements of a shard,      s = shards.psum(np.sum(x, axis=0))

What emitted code meets at is an argument of it. `shards.psum`, `pmax` and `pmin` combine a value of
each shard, `shards.all_gather` joins them along the first axis, in the order of the shards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.language import Atom, Let, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, front, move
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather
from tapeless.transforms.spmd import collectives as c
from tapeless.transforms.spmd.axes import Axis

Whole = Callable[[Axis, Let, Atom, Any], Any]


def _meeting(name: str, infer: Any) -> Op:
    """All shards must come to the same meetings: none is dropped, merged or moved."""

    def source(args: Atoms, params: Params) -> str:
        return f"{params['shards']}.{name}({{0}})"

    return Op(name, infer, source, costly=True, pure=False)


def _meet(name: str) -> Op:
    return _meeting(name, lambda x, *, shards: Type(x.type.dtype, x.type.shape))


MEETINGS = {c.psum: _meet("psum"), c.pmax: _meet("pmax"), c.pmin: _meet("pmin")}
gathered = _meeting(
    "all_gather", lambda x, *, shards, size: Type(x.type.dtype, (size, *x.type.shape[1:]))
)


def between_shards(axis: Axis, s: Let, x: Atom, batch: Any, whole: Whole) -> Any:
    """The result of a collective, and the axis that the elements of the shard lie along."""
    assert axis.index is not None
    op, grouped = s.op, s.params["groups"] is not None
    if op is c.axis_index:
        return axis.index, 0
    if batch is None and not grouped:
        return _own(axis, *whole(axis, s, x, None))
    if not grouped and op in MEETINGS:
        here, _ = whole(axis, s, x, batch)
        return MEETINGS[op](here, shards=axis.shards), None
    if not grouped and op is c.psum_scatter:
        here, at = whole(axis, s, x, batch)
        return _own(axis, MEETINGS[c.psum](here, shards=axis.shards), at)
    every = x if batch is None else gathered(front(x, batch), shards=axis.shards, size=axis.size)
    return _own(axis, *whole(axis, s, every, None if batch is None else 0))


def _own(axis: Axis, value: Atom, at: Any) -> Any:
    """Of a value for all elements of the axis, the part for those of the shard."""
    if at is None:
        return value, None
    return gather(move(value, (at,), (0,)), axis.index, key=(Slot(0),)), 0
