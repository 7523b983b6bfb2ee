"""Turns a new array that some passes of a loop put in the place of an old one into a store to that.

for k in range(n): trial = x + step[k]; if better(trial): x = trial
    becomes      for k in range(n): trial = x + step[k]; if better(trial): x[:] = trial

Where nothing else reads the old array, no pass copies what it keeps.

>>> from operator import eq
>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(recognise_conditional_stores, equal=eq), '''
... (x: f8[n], step: f8[m, n], m: pyi8):
...     y = for k in range(0, m, 1) with a: f8[n] = x:
...         d = index(step, k, key=(Slot(0),))
...         trial = add(a, d)
...         e = sum(trial, axes=(0,), keepdims=False)
...         t = greater(e, 0.0)
...         b = if t:
...             yield trial
...         else:
...             yield a
...         yield b
...     return y
... '''))
(x: f8[n], step: f8[m, n], m: pyi8):
    y = for k in range(0, m, 1) with a: f8[n] = x:
        d: f8[n] = index(step, k, key=(Slot(0),))
        trial: f8[n] = add(a, d)
        e: f8 = sum(trial, axes=(0,), keepdims=False)
        t: b1 = greater(e, 0.0)
        b = if t:
            a_2: f8[n] = update(a, trial, key=(slice(None, None, None),))
            yield a_2
        else:
            yield a
        yield b
    return y
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Type,
    Var,
    While,
    with_blocks,
)
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.memory.aliasing import uses
from tapeless.transforms.ops.primitives.slices_and_gathers import update
from tapeless.transforms.optimize.loop_carries import carries, yields

Equal = Callable[[Size, Size], bool]


def recognise_conditional_stores(block: Block, equal: Equal) -> Block:
    """The block with such stores; `ownership.py` decides which of them are in place."""
    return replace(block, body=tuple(_statement(s, equal) for s in block.body))


def _statement(s: Statement, equal: Equal) -> Statement:
    s = with_blocks(s, lambda b: recognise_conditional_stores(b, equal))
    if isinstance(s, (For, While)):
        for k, (p, y) in enumerate(zip(carries(s), yields(s), strict=True)):
            is_array = isinstance(p.type, Type) and p.type.shape
            if is_array and y is not p and _test_of(s.body, y) and yields(s).count(y) == 1:
                memory = Dependences()
                memory.learn(Block((), (s,), ()))
                if not memory.in_place(s, k):
                    s = replace(s, body=_store_conditionally(s.body, y, p, equal, memory) or s.body)
    return s


def _test_of(block: Block, y: Atom) -> If | None:
    """The test that says what `y` is."""
    return next((s for s in block.body if isinstance(s, If) and y in s.outs), None)


def _store_conditionally(
    block: Block, y: Atom, p: Var, equal: Equal, memory: Dependences
) -> Block | None:
    """The block with the result `y` in the memory of `p`, where a test says whether it is `p`."""
    s = _test_of(block, y)
    if s is None:
        return None
    at, k = block.body.index(s), s.outs.index(y)
    if p in block.results or any(p in uses(t) for t in block.body[at + 1 :]):
        return None
    sides = [(b, b.results[k]) for b in (s.then, s.orelse)]
    inner = [
        b if _is(a, p, memory) else _store_conditionally(b, a, p, equal, memory) for b, a in sides
    ]
    if not any(inner):
        return None
    then, orelse = (
        b or _with_final_store(*side, k, p, equal) for b, side in zip(inner, sides, strict=True)
    )
    if then is None or orelse is None or max(b.results.count(p) for b in (then, orelse)) > 1:
        return None
    branch = replace(s, then=then, orelse=orelse)
    body = (*block.body[:at], branch, *block.body[at + 1 :])
    return replace(block, body=body)


def _is(a: Atom, p: Var, memory: Dependences) -> bool:
    """Whether an array is in the memory of `p` as it is: `p` itself, or with parts stored to it."""
    return a is p or (isinstance(a, Var) and memory.cell(a) is p)


def _with_final_store(block: Block, a: Atom, k: int, p: Var, equal: Equal) -> Block | None:
    """The block with `a` stored into `p` at its end, as its result `k`."""
    others = (*block.results[:k], *block.results[k + 1 :])
    if p in others or not isinstance(a, Var) or not _have_same_type(a.type, p.type, equal):
        return None
    out = Var(p.type, p.name)
    whole = (slice(None),) * p.type.ndim
    store = Let((out,), update, (p, a), {"key": whole})
    results = (*block.results[:k], out, *block.results[k + 1 :])
    return replace(block, body=(*block.body, store), results=results)


def _have_same_type(a: Any, p: Any, equal: Equal) -> bool:
    same = a.dtype == p.dtype and len(a.shape) == len(p.shape)
    return same and all(map(equal, a.shape, p.shape))
