"""Loops under vmap: one loop for all elements, which runs while any of them goes on.

while x > 1: x = x / 2      becomes      going = x > 1
                                         while np.any(going):
                                             x[going] = x[going] / 2
                                             going[going] = x[going] > 1
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Literal,
    StackType,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.sizes import INT
from tapeless.transforms.ops.elementwise import (
    add,
    floordiv,
    greater,
    less,
    logical_and,
    logical_not,
    maximum,
    mul,
    sign,
    sub,
)
from tapeless.transforms.ops.fresh import ones, zeros
from tapeless.transforms.ops.reductions import amax, amin, any_
from tapeless.transforms.vmap.branches import enter, leave

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

BOOL = np.dtype(bool)


# -- all elements make the same passes


def while_(batch: Batch, s: While) -> None:
    batched = [batch.batched(a) for a in s.inits]
    while True:
        if _test_differs(batch, s, batched):
            _masked_while(batch, s)
            return
        body, found, env = _pass(batch, s.body, (), s.body.params, s.inits, batched)
        if found == batched:
            break
        batched = found
    test_env = _parameters(batch, s.test.params, batched)
    with batch.scoped() as statements:
        batch.env |= test_env
        batch.block(s.test.body)
        going = batch.value(s.test.results[0])[0]
    test = Block(tuple(a for a, _ in test_env.values()), tuple(statements), (going,))
    inits, outs = _ends(batch, s.inits, s.outs, batched)
    builder.current().emit(replace(s, outs=outs, inits=inits, test=test, body=body))
    _bind(batch, s.outs, outs, batched, s.inits, env)


def _test_differs(batch: Batch, s: While, batched: list[bool]) -> bool:
    with batch.scoped():
        batch.env |= _parameters(batch, s.test.params, batched)
        batch.block(s.test.body)
        return batch.batched(s.test.results[0])


def for_(batch: Batch, s: For) -> None:
    if any(batch.batched(a) for a in (s.start, s.stop, s.step)):
        _masked_for(batch, s)
        return
    batched = [batch.batched(a) for a in s.inits]
    while True:
        made = _pass(batch, s.body, (s.index,), s.carries, s.inits, batched, flags=int(s.until))
        if made is None:
            _masked_for(batch, s)
            return
        body, found, env = made
        if found == batched:
            break
        batched = found
    inits, outs = _ends(batch, s.inits, s.outs, batched)
    span = [batch.value(a)[0] for a in (s.start, s.stop, s.step)]
    builder.current().emit(
        replace(s, outs=outs, start=span[0], stop=span[1], step=span[2], inits=inits, body=body)
    )
    _bind(batch, s.outs, outs, batched, s.inits, env)


def _parameters(batch: Batch, params: tuple[Var, ...], batched: list[bool]) -> dict[Var, Any]:
    """Parameters of a block, with a batch for some of them."""
    return {
        p: (Var(batch.kind(p.type), p.name), 0) if on else (p, None)
        for p, on in zip(params, batched, strict=True)
    }


def _pass(
    batch: Batch,
    block: Block,
    index: tuple[Var, ...],
    params: tuple[Var, ...],
    inits: tuple[Atom, ...],
    batched: list[bool],
    flags: int = 0,
) -> Any:
    """The body of a loop, and which carries are batched after a pass; None if the flag that ends
    the loop is."""
    env = _parameters(batch, params, batched)
    _mark_lists(batch, params, inits)
    batch.tried |= {p for p, on in zip(params, batched, strict=True) if not on}
    with batch.scoped() as statements:
        batch.env |= env
        batch.block(block.body)
        if any(batch.batched(a) for a in block.results[:flags]):
            return None
        yields = block.results[flags:]
        found = [on or batch.batched(a) for a, on in zip(yields, batched, strict=True)]
        results = tuple(
            batch.front(a) if on else batch.value(a)[0]
            for a, on in zip(yields, batched, strict=True)
        )
        head = tuple(batch.value(a)[0] for a in block.results[:flags])
        grown = [a in batch.uneven for a in yields]
    made = Block((*index, *(a for a, _ in env.values())), tuple(statements), (*head, *results))
    return made, found, grown


def _mark_lists(batch: Batch, params: Any, inits: Any) -> None:
    for p, a in zip(params, inits, strict=True):
        if a in batch.uneven:
            batch.uneven.add(p)


def _ends(
    batch: Batch, inits: tuple[Atom, ...], outs: tuple[Var, ...], batched: list[bool]
) -> tuple[tuple[Atom, ...], tuple[Var, ...]]:
    starts = tuple(_start(batch, a, on) for a, on in zip(inits, batched, strict=True))
    ends = tuple(
        Var(batch.kind(v.type), v.name) if on else v for v, on in zip(outs, batched, strict=True)
    )
    return starts, ends


def _start(batch: Batch, a: Atom, batched: bool) -> Atom:
    if not batched:
        return batch.value(a)[0]
    if isinstance(a, Literal) and a.value is None and not batch.masked:
        return batch.literal(a.type)
    return batch.front(a)


def _bind(
    batch: Batch,
    vars_: tuple[Var, ...],
    outs: tuple[Var, ...],
    batched: list[bool],
    inits: tuple[Atom, ...],
    grown: list[bool],
) -> None:
    for v, out, on, a, more in zip(vars_, outs, batched, inits, grown, strict=True):
        batch.env[v] = (out, 0 if on else None)
        if a in batch.uneven or more:
            batch.uneven.add(v)


# -- each element makes its own


def _masked_while(batch: Batch, s: While) -> None:
    with batch.scoped() as statements:
        batch.env |= {p: batch.value(a) for p, a in zip(s.test.params, s.inits, strict=True)}
        batch.block(s.test.body)
        going = batch.front(s.test.results[0])
    for each in statements:
        builder.current().emit(each)
    going = _named(going, "going")
    mask, tested = (Var(going.type, "going") for _ in range(2))
    changed = [p is not a for p, a in zip(s.body.params, s.body.results, strict=True)]
    env = _carried(batch, s.body.params, s.inits, changed)

    with batch.scoped() as body:
        batch.env |= env
        region, inner = enter(batch, mask, (s.body, s.test))
        inner.block(s.body.body)
        inner.env |= {p: inner.value(a) for p, a in zip(s.test.params, s.body.results, strict=True)}
        inner.block(s.test.body)
        news = _left(batch, inner, region, s.body.params, s.body.results, changed)
        following = leave(inner, region, mask, s.test.results[0])
    params = [a for (a, _), on in zip(env.values(), changed, strict=True) if on]
    others = [Var(p.type, p.name) for p in params]
    with batch.scoped() as test:
        result = any_(tested, axes=(0,), keepdims=False)
    inits = _inits(batch, s.inits, changed)
    outs = tuple(Var(p.type, p.name) for p in params)
    builder.current().emit(
        While(
            (Var(going.type, "going"), *outs),
            (going, *inits),
            Block((tested, *others), tuple(test), (result,)),
            Block((mask, *params), tuple(body), (following, *news)),
            s.origin,
        )
    )
    _bind_masked(batch, s.outs, s.inits, outs, changed)


def _named(a: Atom, name: str) -> Atom:
    if isinstance(a, Var) and not a.name:
        a.name = name
    return a


def _carried(
    batch: Batch, params: tuple[Var, ...], inits: tuple[Atom, ...], changed: list[bool]
) -> dict[Var, Any]:
    """The carries in a pass; those that never change are what they were before the loop."""
    found = {}
    for p, a, on in zip(params, inits, changed, strict=True):
        found[p] = (Var(batch.kind(p.type), p.name), 0) if on else batch.value(a)
        if isinstance(p.type, StackType):
            batch.uneven.add(p)
    return found


def _inits(batch: Batch, inits: tuple[Atom, ...], changed: list[bool]) -> tuple[Atom, ...]:
    return tuple(batch.front(a) for a, on in zip(inits, changed, strict=True) if on)


def _left(
    batch: Batch, inner: Batch, region: Any, params: Any, yields: Any, changed: list[bool]
) -> list[Atom]:
    return [
        leave(inner, region, batch.value(p)[0], y)
        for p, y, on in zip(params, yields, changed, strict=True)
        if on
    ]


def _bind_masked(
    batch: Batch, vars_: Any, inits: Any, outs: tuple[Var, ...], changed: list[bool]
) -> None:
    left = iter(outs)
    for v, a, on in zip(vars_, inits, changed, strict=True):
        if on:
            batch.env[v] = (next(left), 0)
        else:
            batch.env[v] = batch.value(a)
        if isinstance(v.type, StackType):
            batch.uneven.add(v)


def _masked_for(batch: Batch, s: For) -> None:
    """Elements take part in a pass while their own range lasts, and until they break."""
    changed = [p is not a for p, a in zip(s.carries, s.yields, strict=True)]
    env = _carried(batch, s.carries, s.inits, changed)
    start, stop, step, index, here, shared = _span(batch, s)
    size = (batch.size,)
    k = s.index if shared else Var(INT, s.index.name)
    going = Var(Type(BOOL, size), "going") if s.until else None
    count = Var(Type(INT.dtype, size), "count") if s.count is not None else None

    with batch.scoped() as body:
        batch.env |= env
        batch.env[s.index] = index(k)
        batch.bind(s.index, *batch.env[s.index])
        mask = here(k)
        if going is not None:
            mask = going if mask is None else logical_and(going, mask)
        region, inner = enter(batch, mask, (s.body,))
        inner.block(s.body.body)
        head: list[Atom] = []
        news = _left(batch, inner, region, s.carries, s.yields, changed)
        if going is not None:
            stopped = Var(Type(BOOL), "")
            inner.env[stopped] = _negated(inner, s.body.results[0])
            following = leave(inner, region, going, stopped)
            over = any_(following, axes=(0,), keepdims=False)
            head = [logical_not(over), following]
        if count is not None:
            head.append(add(count, mask))
    params = [a for (a, _), on in zip(env.values(), changed, strict=True) if on]
    outs = tuple(Var(p.type, p.name) for p in params)
    extra = [v for v in (going, count) if v is not None]
    starts: list[Atom] = []
    if going is not None:
        starts.append(ones(shape=size, dtype=BOOL))
    if count is not None:
        starts.append(zeros(shape=size, dtype=INT.dtype))
    inits = (*starts, *_inits(batch, s.inits, changed))
    made = tuple(Var(v.type, v.name) for v in extra)
    builder.current().emit(
        For(
            (*made, *outs),
            start,
            stop,
            step,
            inits,
            Block((k, *extra, *params), tuple(body), (*head, *news)),
            s.reverse,
            s.until,
            Var(INT, "passes") if s.until else None,
            s.mirror,
            s.origin,
        )
    )
    _bind_masked(batch, s.outs, s.inits, outs, changed)
    if s.count is not None:
        batch.env[s.count] = (made[-1], 0)


def _negated(inner: Batch, flag: Atom) -> Any:
    value, axis = inner.value(flag)
    return logical_not(value), axis


def _span(batch: Batch, s: For) -> Any:
    """start, stop and step of the loop over all passes; the index of the elements in a pass, and
    which of them make it (None: all)."""
    (start, a), (stop, b), (step, c) = (batch.value(x) for x in (s.start, s.stop, s.step))
    if a is b is c is None:
        return start, stop, step, lambda k: (k, None), lambda k: None, True
    if a is c is None and isinstance(step, Literal):
        up = step.value > 0
        most = (amax if up else amin)(stop, axes=(0,), keepdims=False)
        compare = less if up else greater
        return start, most, step, lambda k: (k, None), lambda k: compare(k, stop), True
    sense = atom(1 if step.value > 0 else -1) if isinstance(step, Literal) else sign(step)
    passes = maximum(floordiv(sub(add(sub(stop, start), step), sense), step), 0)
    most = amax(passes, axes=(0,), keepdims=False)
    axis = None if a is c is None else 0
    at = lambda k: (add(start, mul(k, step)), axis)  # noqa: E731
    return atom(0), most, atom(1), at, lambda k: less(k, passes), False
