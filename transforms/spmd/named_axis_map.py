"""Maps over a named axis: collectives over it become array code.

s = psum(x, "i")      becomes, for all elements of i,      s = np.sum(x, axis=0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Function,
    Let,
    Statement,
    Type,
    Var,
    statements,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.numpy.reductions import amax, amin
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.new_arrays import count_up, zeros
from tapeless.transforms.ops.primitives.shapes import (
    broadcast_to,
    cast_to,
    front,
    move,
    repeat_batch,
    reshape,
)
from tapeless.transforms.ops.primitives.shapes import sum as add_up
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, update
from tapeless.transforms.spmd import collectives as c
from tapeless.transforms.spmd.axes import Axis, bound
from tapeless.transforms.spmd.shard_map import between_shards
from tapeless.transforms.vmap.batch import Batch, Pair

KEY = (Slot(0),)
Rule = Callable[[Axis, Atom, Any, Any], Pair]


class NamedAxisBatch(Batch):
    """A batch whose axis has a name."""

    axis: Axis

    def let(self, s: Let) -> None:
        if s.params.get("axis") is not self.axis or s.op not in RULES:
            super().let(s)
            return
        if self.masked:
            raise UnsupportedError(
                f"{s.op.name} over the axis {self.axis!r} in a branch or loop that some of its "
                "elements do not take part in",
                "use it before the branch, on values of all elements",
            )
        x, batch = self.value(s.args[0]) if s.args else (atom(0), None)
        value, at = self.talk(s, x, batch)
        out = s.outs[0]
        self.bind(out, cast_to(value, out.type.dtype), at)

    def can_be_apart(self, s: Statement) -> bool:
        """Elements that come one after the other do not meet."""
        inside = statements(Block((), (s,), ()))
        talks = any(isinstance(t, Let) and t.params.get("axis") is self.axis for t in inside)
        return not talks and super().can_be_apart(s)

    @contextmanager
    def for_elements(self) -> Iterator[None]:
        with bound(self.axis), super().for_elements():
            yield

    def talk(self, s: Let, x: Atom, batch: Any) -> Pair:
        """The result of a collective for all elements of the axis."""
        if self.axis.index is None:
            return apply_to_whole_axis(self.axis, s, x, batch)
        exchanged: Pair = between_shards(self.axis, s, x, batch, apply_to_whole_axis)
        return exchanged


def batch_class(axis: Axis | None) -> type[Batch]:
    """The kind of batch that knows the axis by its name."""
    return Batch if axis is None else type("NamedAxisBatch", (NamedAxisBatch,), {"axis": axis})


def _all_blocks(block: Block) -> list[Block]:
    """The block, and those of all functions that it calls."""
    blocks_found = [block]
    seen: set[Function] = set()
    for each in blocks_found:  # which grows
        new = [f for f in calls(each) if f not in seen]
        seen.update(new)
        blocks_found += [f.block for f in new]
    return blocks_found


def refuse_left(body: list[Statement], axis: Axis | None) -> None:
    """Refuses collectives over the axis that the map did not come to."""
    for each in _all_blocks(Block((), tuple(body), ())) if axis is not None else ():
        for s in statements(each):
            if isinstance(s, Let) and s.params.get("axis") is axis:
                raise UnsupportedError(
                    f"{s.op.name} over the axis {axis!r} in a function that the program calls by "
                    "name",
                    "use it outside of functions that call themselves to a depth that data decides",
                )


def apply_to_whole_axis(axis: Axis, s: Let, x: Atom, batch: Any) -> Pair:
    """A collective where all elements are at hand; `batch` is the axis that they lie along."""
    if s.params["groups"] is not None:
        return _in_groups(axis, s, x, batch)
    return RULES[s.op](axis, x, batch, s.params)


# -- rules


def _psum(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    if batch is None:
        return mul(x, atom_of_size(axis.size)), None
    return add_up(x, axes=(batch,), keepdims=False), None


def _extremum(op: Op) -> Rule:
    def rule(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
        return (x if batch is None else op(x, axes=(batch,), keepdims=False)), None

    return rule


def _all_gather(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    dim = params["dim"]
    if batch is not None:
        return move(x, (batch,), (dim,)), None
    shape = x.type.shape
    wide = reshape(x, shape=(*shape[:dim], 1, *shape[dim:]))
    return broadcast_to(wide, shape=(*shape[:dim], axis.size, *shape[dim:])), None


def _psum_scatter(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    return _psum(axis, x, batch, params)[0], params["dim"]


def _all_to_all(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    every = repeat_batch(x, batch, axis.size)
    split, concat = params["split"], params["concat"]
    return move(every, (split + 1, 0), (0, concat + 1)), 0


def _ppermute(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    n, perm = axis.length, dict(params["perm"])
    full = len(perm) == n
    if full and batch is None:
        return x, None
    every = repeat_batch(x, batch, axis.size)
    source = {j: i for i, j in perm.items()}
    if full:
        return _permute(every, [source[j] for j in range(n)]), 0
    there = sorted(source)
    received = zeros(shape=every.type.shape, dtype=every.type.dtype)
    moved = _permute(every, [source[j] for j in there]) if there else None
    return (received if moved is None else update(received, moved, as_array(there), key=KEY)), 0


def _permute(x: Atom, places: list[int]) -> Any:
    """x[places], where a turn of the axis is written as one."""
    n = x.type.shape[0]
    if places == list(range(len(places))) and len(places) == n:
        return x
    turn = -places[0]
    if isinstance(n, int) and n > 2 and places == [(k - turn) % n for k in range(n)]:
        return roll(x, turn if 2 * -turn <= n else turn + n, axis=0)
    return gather(x, as_array(places), key=KEY)


def _axis_index(axis: Axis, x: Atom, batch: Any, params: Any) -> Pair:
    return count_up(atom_of_size(axis.size)), 0


RULES: dict[Op, Rule] = {
    c.psum: _psum,
    c.pmax: _extremum(amax),
    c.pmin: _extremum(amin),
    c.all_gather: _all_gather,
    c.psum_scatter: _psum_scatter,
    c.all_to_all: _all_to_all,
    c.ppermute: _ppermute,
    c.axis_index: _axis_index,
}


# -- groups


def _in_groups(axis: Axis, s: Let, x: Atom, batch: Any) -> Pair:
    """Each group by itself: its elements along an axis of their own, in a batch of groups."""
    groups = s.params["groups"]
    n, size = len(groups), len(groups[0])
    order = [k for group in groups for k in group]
    every = _permute(repeat_batch(x, batch, axis.size), order)
    inner = every.type.shape[1:]
    rows = reshape(every, shape=(n, size, *inner))
    shard = Var(Type(rows.type.dtype, (size, *inner)))
    params = {**s.params, "groups": None}
    with builder.current().block() as body:
        value, at = RULES[s.op](Axis(axis.name, size), shard, 0, params)
        result = repeat_batch(value, at, size)
    output = _for_each(n, shard, rows, body, result)
    flat = reshape(output, shape=(axis.size, *output.type.shape[2:]))
    back = sorted(range(len(order)), key=order.__getitem__)
    return _permute(flat, back), 0


def _for_each(n: int, element: Var, rows: Atom, body: list[Statement], result: Atom) -> Any:
    """A block for one group, for all groups."""
    batch = Batch(n, nested=True)
    batch.env[element] = (rows, 0)
    batch.block(body, (result,))
    return front(*batch.value(result)) if batch.is_batched(result) else batch.front(result)
