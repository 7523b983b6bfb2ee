"""Batches branches: each element gets the values of its own side.

if x > 0: y = 2 * x           becomes      y = np.where(x > 0, 2 * x, x)
else: y = x

A side that may raise, or has no finite derivative, is computed for its own elements only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    If,
    Literal,
    StackType,
    Statement,
    Var,
    is_undefined,
)
from tapeless.transforms.core.uses import measured_sizes, sizes_in
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    logical_and,
    logical_not,
    logical_or,
)
from tapeless.transforms.ops.primitives.new_arrays import zero
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import batch_first
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.vmap.lists import refuse_uneven, spread_changed
from tapeless.transforms.vmap.lists import whole_value as whole_list
from tapeless.transforms.vmap.masked_parts import (
    env_kept,
    has_axes,
    made_inside,
    part,
    read_in,
)
from tapeless.transforms.vmap.masked_region import is_calm

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch


def branch(batch: Batch, s: If) -> None:
    test, axis = batch.value(s.test)
    if axis is None:
        _same_for_all(batch, replace(s, test=test))
    else:
        _by_element(batch, s, test)


# -- a test that does not depend on the element


def _same_for_all(batch: Batch, s: If) -> None:
    sides = []
    for block in (s.then, s.orelse):
        with batch.scope() as block_scope:
            batch.block(block.body, block.results, by_element=True)
            sides.append((block_scope, [batch.value(a) for a in block.results], dict(batch.env)))
    pairs = zip(sides[0][1], sides[1][1], strict=True)
    places = [b[1] if a[1] is None else a[1] for a, b in pairs]
    blocks = []
    for (block_scope, _, env), block in zip(sides, (s.then, s.orelse), strict=True):
        with reopen_block(batch, block_scope, env):
            results = tuple(
                _result(batch, a, k) for a, k in zip(block.results, places, strict=True)
            )
        blocks.append(Block((), tuple(block_scope), results))
    outs = tuple(
        v if k is None else Var(batch.kind(v.type, k), v.name)
        for v, k in zip(s.outs, places, strict=True)
    )
    builder.current().emit(replace(s, outs=outs, then=blocks[0], orelse=blocks[1]))
    for v, out, k, *ends in zip(
        s.outs, outs, places, s.then.results, s.orelse.results, strict=True
    ):
        batch.env[v] = (out, k)
        if any(a in batch.uneven for a in ends):
            batch.uneven.add(v)
        if k is None and any(is_undefined(a) or a in batch.unset for a in ends):
            batch.unset.add(v)


def _result(batch: Batch, a: Atom, place: int | None) -> Atom:
    """A result of one side; where it is read for all elements, it must have some value."""
    if not is_undefined(a) or not has_axes(a.type):
        return batch.value(a)[0] if place is None else batch.with_batch_axis_at(a, place)
    kind = batch.longest(a.type)
    if place is None:
        return zero(kind) if batch.valued else Literal(None, kind)
    if measured_sizes(kind):
        return Literal(None, batch.kind(kind, place))
    return batch.with_batch_axis_at(Literal(None, kind), place)


class reopen_block:  # noqa: N801 (a context manager)
    """Statements are appended to a block that was closed before, in its scope."""

    def __init__(self, batch: Batch, statements: list[Statement], env: Any) -> None:
        self.batch, self.statements, self.env = batch, statements, env

    def __enter__(self) -> None:
        self.before, self.batch.env = self.batch.env, self.env
        builder.current().blocks.append(self.statements)

    def __exit__(self, *error: object) -> None:
        builder.current().blocks.pop()
        self.batch.env = self.before


# -- a test that does


def _by_element(batch: Batch, s: If, test: Atom) -> None:
    results = list(zip(s.then.results, s.orelse.results, strict=True))
    for pair in results:
        _refuse_lengths(*pair)
    sides = (s.then, s.orelse)
    for side in sides:
        spread_changed(batch, side)
    calm = [is_calm(side.body) and batch.unset.isdisjoint(read_in(side)) for side in sides]
    ends: list[Any] = [
        None if has_axes(v.type) else _list_passed_through(batch, s, j)
        for j, v in enumerate(s.outs)
    ]
    order = sorted((0, 1), key=lambda k: not calm[k])  # a part is stored into the other side
    whole: list[list[Any]] = [[], []]
    for k in order:
        block = sides[k]
        if calm[k]:
            with env_kept(batch):
                batch.block(block.body, block.results)
                whole[k] = [batch.value(a) for a in block.results]
            ends = _join_with_whole_side(batch, s, test, ends, whole, k)
        else:
            mask = test if k == 0 else logical_not(test)
            ends = part(batch, s, mask, block, ends)
    for v, side_end, pair in zip(s.outs, ends, results, strict=True):
        end = batch_of_nothing(batch, v) if side_end is None else side_end
        if isinstance(v.type, StackType):
            batch.uneven.add(v)
        if v.size is not None and end[1] is None:
            builder.current().let((v,), index, (end[0],), {"key": ()})  # sizes are made of it
            end = (v, None)
        batch.bind(v, *end)
        if end[1] is None and any(map(is_undefined, pair)):
            batch.unset.add(v)


def _refuse_lengths(then: Atom, orelse: Atom) -> None:
    """Sides may not give arrays that differ in length; arguments are taken to be of one length."""
    shapes = [a.type.shape for a in (then, orelse) if has_axes(a.type) and not is_undefined(a)]
    if len({*map(len, shapes)}) != 1 or len(shapes) != 2:
        return
    for p, q in zip(*shapes, strict=True):
        if p != q and not (_of_argument(p) and _of_argument(q)):
            raise UnevenError(
                "vmap: the sides of a branch give arrays of different lengths",
                "use np.where, or an array with a place for each item",
            )


def _of_argument(n: Size) -> bool:
    """Whether a length is that of an argument."""
    return any(n == dims.single(s) for s in sizes_in(n) if s.given)


def _join_with_whole_side(
    batch: Batch, s: If, test: Atom, ends: list[Any], whole: list[list[Any]], k: int
) -> list[Any]:
    """The values after a side that was computed for all elements."""
    results = (s.then.results, s.orelse.results)
    joined_values = []
    for j, (value, axis) in enumerate(whole[k]):
        dead = is_undefined(results[k][j])
        if not has_axes(s.outs[j].type):
            joined_values.append(ends[j])
        elif not whole[1 - k]:
            joined_values.append(None if dead else (value, axis))
        elif dead or ends[j] is None:
            joined_values.append(ends[j] if dead else (value, axis))
        else:
            joined_values.append(_select(batch, s.outs[j], test, whole[0][j], whole[1][j]))
    return joined_values


def _select(batch: Batch, v: Var, test: Atom, then: Any, orelse: Any) -> Any:
    if then == orelse:
        return then
    ndim = v.type.ndim
    a, b = (batch_first(x, axis, ndim) for x, axis in (then, orelse))
    mask = batch_first(test, 0, ndim)
    logical = _logic(mask, a, b) if v.type.dtype.kind == "b" else None
    return select(mask, a, b) if logical is None else logical, 0


def _logic(test: Atom, a: Atom, b: Atom) -> Any:
    """a where the test holds, else b, of flags of which one is known; None if neither is."""
    constants = [x.value if isinstance(x, Literal) else None for x in (a, b)]
    match constants:
        case (True, False):
            return test
        case (True, _):
            return logical_or(test, b)
        case (_, False):
            return logical_and(test, a)
        case (False, _):
            return logical_and(logical_not(test), b)
        case (_, True):
            return logical_or(logical_not(test), a)
    return None


def batch_of_nothing(batch: Batch, v: Var) -> Any:
    return batch.literal(v.type), 0


def _list_passed_through(batch: Batch, s: If, j: int) -> Any:
    """A list or tape as it was before, where a side hands it on; both sides may not change it."""
    sides = ((s.then, s.then.results[j]), (s.orelse, s.orelse.results[j]))
    live = [(block, a) for block, a in sides if not is_undefined(a)]
    through = [a for block, a in live if a not in made_inside(block)]
    if len(live) == 2 and not through:
        refuse_uneven()
    return whole_list(batch, through[0]) if through else None
