"""Branches under vmap: each element gets the values of its own side.

if x > 0: y = 2 * x           becomes      y = np.where(x > 0, 2 * x, x)
else: y = x

A side that may raise, or has no finite derivative, is computed for its own elements only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    free_variables,
    outputs,
    statements,
)
from tapeless.transforms.core.reads import sizes_in
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.ops.calls import is_call
from tapeless.transforms.ops.fresh import empty, zero
from tapeless.transforms.ops.parts import index
from tapeless.transforms.ops.reductions import any_
from tapeless.transforms.ops.selection import select
from tapeless.transforms.ops.shapes import front, lifted
from tapeless.transforms.ops.stacks import pop, push
from tapeless.transforms.ops.steps import logical_and, logical_not, logical_or
from tapeless.transforms.vmap.flow import read_by
from tapeless.transforms.vmap.lists import refuse_uneven
from tapeless.transforms.vmap.region import Chosen, Filled, is_calm

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch, Pair


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
        with batch.scoped() as made:
            batch.block(block.body, block.results, by_element=True)
            sides.append((made, [batch.value(a) for a in block.results], dict(batch.env)))
    pairs = zip(sides[0][1], sides[1][1], strict=True)
    places = [b[1] if a[1] is None else a[1] for a, b in pairs]
    blocks = []
    for (made, _, env), block in zip(sides, (s.then, s.orelse), strict=True):
        with reopened(batch, made, env):
            results = tuple(
                _result(batch, a, k) for a, k in zip(block.results, places, strict=True)
            )
        blocks.append(Block((), tuple(made), results))
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
        if k is None and any(is_dead(a) or a in batch.unset for a in ends):
            batch.unset.add(v)


def _result(batch: Batch, a: Atom, place: int | None) -> Atom:
    """A result of one side; where it is read for all elements, it must have some value."""
    if place is not None:
        return batch.placed(a, place)
    return zero(a.type) if is_dead(a) and batch.masked else batch.value(a)[0]


class reopened:  # noqa: N801 (a context manager)
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
    for ends in zip(s.then.results, s.orelse.results, strict=True):
        _refuse_lengths(*ends)
    sides = (s.then, s.orelse)
    calm = [is_calm(side.body) and batch.unset.isdisjoint(_read(side)) for side in sides]
    ends: list[Any] = [
        None if has_axes(v.type) else _passed(batch, s, j) for j, v in enumerate(s.outs)
    ]
    order = sorted((0, 1), key=lambda k: not calm[k])  # a part is stored into the other side
    whole: list[list[Any]] = [[], []]
    for k in order:
        block = sides[k]
        if calm[k]:
            with env_kept(batch):
                batch.block(block.body, block.results)
                whole[k] = [batch.value(a) for a in block.results]
            ends = _joined(batch, s, test, ends, whole, k)
        else:
            mask = test if k == 0 else logical_not(test)
            ends = part(batch, s, mask, block, ends)
    pairs = zip(s.then.results, s.orelse.results, strict=True)
    for v, end, pair in zip(s.outs, ends, pairs, strict=True):
        if isinstance(v.type, StackType):
            batch.uneven.add(v)
        if v.size is not None and end[1] is None:
            builder.current().let((v,), index, (end[0],), {"key": ()})  # sizes are made of it
            end = (v, None)
        batch.bind(v, *end)
        if end[1] is None and any(map(is_dead, pair)):
            batch.unset.add(v)


def _refuse_lengths(then: Atom, orelse: Atom) -> None:
    """Sides may not give arrays that differ in length; arguments are taken to be of one length."""
    shapes = [a.type.shape for a in (then, orelse) if has_axes(a.type) and not is_dead(a)]
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


class env_kept:  # noqa: N801 (a context manager)
    """What is bound inside is not seen afterwards; the statements stay in the open block."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __enter__(self) -> None:
        self.before = dict(self.batch.env)

    def __exit__(self, *error: object) -> None:
        self.batch.env = self.before


def _joined(
    batch: Batch, s: If, test: Atom, ends: list[Any], whole: list[list[Any]], k: int
) -> list[Any]:
    """The values after a side that was computed for all elements."""
    results = (s.then.results, s.orelse.results)
    made = []
    for j, (value, axis) in enumerate(whole[k]):
        dead = is_dead(results[k][j])
        if not has_axes(s.outs[j].type):
            made.append(ends[j])
        elif not whole[1 - k]:
            made.append(None if dead else (value, axis))
        elif dead or ends[j] is None:
            made.append(ends[j] if dead else (value, axis))
        else:
            made.append(_chosen(batch, s.outs[j], test, whole[0][j], whole[1][j]))
    if whole[1 - k]:
        return [
            batch_of_nothing(batch, v) if e is None else e
            for v, e in zip(s.outs, made, strict=True)
        ]
    return made


def _chosen(batch: Batch, v: Var, test: Atom, then: Any, orelse: Any) -> Any:
    if then == orelse:
        return then
    ndim = v.type.ndim
    a, b = (lifted(x, axis, ndim) for x, axis in (then, orelse))
    mask = lifted(test, 0, ndim)
    known = _logic(mask, a, b) if v.type.dtype.kind == "b" else None
    return select(mask, a, b) if known is None else known, 0


def _logic(test: Atom, a: Atom, b: Atom) -> Any:
    """a where the test holds, else b, of flags of which one is known; None if neither is."""
    known = [x.value if isinstance(x, Literal) else None for x in (a, b)]
    match known:
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


def has_axes(t: Any) -> bool:
    """Whether values of a type are arrays or numbers, rather than lists or tapes."""
    return isinstance(t, Type) and t != TAPE


def _made_inside(block: Block) -> set[Any]:
    return {v for s in block.body for v in outputs(s)}


def _passed(batch: Batch, s: If, j: int) -> Any:
    """A list or tape as it was before, where a side hands it on; both sides may not change it."""
    sides = ((s.then, s.then.results[j]), (s.orelse, s.orelse.results[j]))
    live = [(block, a) for block, a in sides if not is_dead(a)]
    through = [a for block, a in live if a not in _made_inside(block)]
    if len(live) == 2 and not through:
        refuse_uneven()
    return (batch.front(through[0]), 0) if through else None


# -- parts of a batch


def part(batch: Batch, s: If, mask: Atom, block: Block, ends: list[Any]) -> list[Any]:
    """The values after a side that is computed for its own elements; what is the same for them, and
    has no value where the other side is taken, stays one value."""
    other = s.orelse if block is s.then else s.then
    alone = [is_dead(a) and has_axes(a.type) for a in other.results]
    rows = [
        j
        for j, (a, end) in enumerate(zip(block.results, ends, strict=True))
        if end is None or not is_dead(a)
    ]
    own, inside = _own_sizes(block), _made_inside(block)
    olds = {
        j: None
        if alone[j] and own & sizes_in(s.outs[j].type)
        else _before(batch, s.outs[j], ends[j])
        for j in rows
    }

    def taken() -> dict[int, Pair]:
        region, inner = enter(batch, mask, (block,))
        inner.block(block.body, block.results)
        made: dict[int, Pair] = {}
        for j in rows:
            a = block.results[j]
            if alone[j] and not is_dead(a) and not inner.batched(a):
                made[j] = inner.value(a)
            elif has_axes(a.type) or a in inside:
                made[j] = leave(inner, region, olds[j], a), 0
            else:
                made[j] = olds[j], 0
        return made

    counts = any(map(_is_counted, statements(block)))
    guarded = batch.nested or counts or not batch.unset.isdisjoint(_read(block))
    news = _if_any(batch, s, mask, taken, olds) if guarded else taken()
    return [news.get(j, end) for j, end in enumerate(ends)]


def _is_counted(s: Statement) -> bool:
    """Whether it matters how often a statement is made: a recursion must end, and backward parts
    take from lists what was put there."""
    return is_call(s) or (isinstance(s, Let) and s.op in (push, pop))


def _own_sizes(block: Block) -> set[dims.Symbol]:
    """Lengths that are known inside of a block only."""
    around = sizes_in([v.type for v in _read(block)])
    made = _made_inside(block)
    found = sizes_in([v.type for v in made])
    return {n for n in found - around if n.var in made or (n.var is None and not n.given)}


def _before(batch: Batch, v: Var, end: Any) -> Atom:
    if not has_axes(v.type):
        return end[0] if end is not None else batch.literal(v.type)
    kind = batch.kind(v.type)
    if end is None:
        return empty(shape=kind.shape, dtype=kind.dtype)  # type: ignore[no-any-return]
    value, axis = end
    if axis is None:
        from_all = Var(v.type)
        with env_kept(batch):
            batch.env[from_all] = end
            return batch.front(from_all)
    return front(value, axis)  # type: ignore[no-any-return]


def _if_any(
    batch: Batch,
    s: If,
    mask: Atom,
    taken: Callable[[], dict[int, Pair]],
    olds: dict[int, Any],
) -> dict[int, Pair]:
    test = any_(mask, axes=(0,), keepdims=False)
    with batch.scoped() as made:
        news = taken()
    rows = [(j, *news[j], s.outs[j]) for j in news]
    outs = tuple(Var(v.type if k is None else batch.kind(v.type), v.name) for _, _, k, v in rows)
    kept = tuple(
        Literal(None, out.type) if k is None or olds[j] is None else olds[j]
        for out, (j, _, k, _) in zip(outs, rows, strict=True)
    )
    then = Block((), tuple(made), tuple(a for _, a, _, _ in rows))
    builder.current().emit(If(outs, test, then, Block((), (), kept), s.mirror, s.origin))
    return {j: (out, k) for out, (j, _, k, _) in zip(outs, rows, strict=True)}


def enter(batch: Batch, mask: Atom, blocks: tuple[Block, ...]) -> tuple[Chosen, Batch]:
    """The elements under a mask, and a batch of them: what the blocks read of it is there."""
    region = (Filled if batch.nested else Chosen).of(mask)
    inner = type(batch)(region.size, batch.nested, masked=True)
    inner.mask = mask
    inner.uneven, inner.tried = set(batch.uneven), batch.tried
    inner.unset = set(batch.unset)
    inner.lengths, inner.most = dict(batch.lengths), batch.most
    inner.env = {v: pair for v, pair in batch.env.items() if pair[1] is None}
    for v in dict.fromkeys(v for b in blocks for v in _read(b)):
        value, axis = batch.value(v)
        if not has_axes(v.type):
            inner.uneven.add(v)
            inner.env[v] = (value, axis)
        elif axis is not None and v not in inner.env:
            inner.bind(v, *region.enter(value, axis))
    return region, inner


def _read(b: Block) -> dict[Any, None]:
    """The variables that a block reads, also its parameters."""
    return free_variables(replace(b, params=())) | read_by(b.body)


def leave(inner: Batch, region: Chosen, old: Any, a: Atom) -> Atom:
    """The whole batch of what was `old`, after the region made its part `a`; where there was
    nothing, the other elements have no value."""
    new, axis = inner.value(a)
    if is_dead(a):
        return old  # type: ignore[no-any-return]
    if not has_axes(a.type):
        return new
    return region.leave(old, new, axis)  # type: ignore[no-any-return]
