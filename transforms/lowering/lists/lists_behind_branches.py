"""Makes lists of arrays behind branches that choose between new lists: both sides give arrays.

s = if t: u = unstack(x); yield u               a = if t: yield x
    else: v = zero_items(n); yield v   becomes      else: y = zeros(n); yield y
                                                s = unstack(a)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(lists_behind_branches, '''
... (t: b1, x: f8[n], n: pyi8):
...     s = if t:
...         u = unstack(x)
...         yield u
...     else:
...         v = zero_items(n, shape=(), dtype=float64)
...         yield v
...     y = peek(s, 0)
...     return y
... '''))
(t: b1, x: f8[n], n: pyi8):
    s = if t:
        yield x
    else:
        t1: f8[n] = zeros(shape=(n,), dtype=float64)
        yield t1
    s_2: stack(f8) = unstack(s, weak=False)
    y: f8 = peek(s_2, 0)
    return y
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.primitives.new_arrays import has_zeros, new_stack, zero_items, zeros
from tapeless.transforms.ops.primitives.stacks import unstack

NEW = (unstack, zero_items, new_stack)


def lists_behind_branches(block: Block) -> Block:
    """The block in which such lists are made behind the branches."""
    uses = reads_of(block)

    def in_block(block: Block) -> Block:
        body = tuple(t for s in block.body for t in in_statement(s))
        return block if body == block.body else replace(block, body=body)

    def in_statement(s: Statement) -> Iterator[Statement]:
        s = with_blocks(s, in_block)
        if not isinstance(s, If) or not any(isinstance(v.type, StackType) for v in s.outs):
            yield s
            return
        lists = [
            k
            for k, (a, b) in enumerate(zip(s.then.results, s.orelse.results, strict=True))
            if _is_new(a, s.then, uses) and _is_new(b, s.orelse, uses)
        ]
        yield from _with_arrays(s, lists)

    return in_block(block)


def _is_new(a: Any, side: Block, uses: Any) -> bool:
    """Whether a side of a branch makes a list only to give it."""
    let = next((s for s in side.body if isinstance(s, Let) and a in s.outs), None)
    if let is None or let.op not in NEW or uses[a] != 1:
        return False
    return has_zeros(a.type.item)


def _with_arrays(s: If, lists: list[int]) -> Iterator[Statement]:
    """A branch that gives arrays in these places, and lists of them."""
    outs, then, orelse = list(s.outs), s.then, s.orelse
    behind: list[Statement] = []
    for k in lists:
        item = s.outs[k].type.item
        then, orelse = (_with_array(side, k, item) for side in (then, orelse))
        lengths = [side.results[k].type.shape[0] for side in (then, orelse)]
        length = lengths[0] if lengths[0] == lengths[1] else dims.symbol("n", 0)
        outs[k] = Var(Type(item.dtype, (length, *item.shape)), s.outs[k].name)
        behind.append(Let((s.outs[k],), unstack, (outs[k],), {"weak": item.weak}, s.origin))
    yield replace(s, outs=tuple(outs), then=then, orelse=orelse) if lists else s
    yield from behind


def _with_array(side: Block, k: int, item: Type) -> Block:
    """A side of a branch that gives the array of the numbers of a list."""
    body: list[Statement] = []
    results = list(side.results)
    for s in side.body:
        if not isinstance(s, Let) or side.results[k] not in s.outs:
            body.append(s)
        elif s.op is unstack:
            results[k] = s.args[0]
        else:
            length: Size = 0 if s.op is new_stack else _size(s.args[0])
            shape = (length, *item.shape)
            array = results[k] = Var(Type(item.dtype, shape))
            params = {"shape": shape, "dtype": item.dtype}
            body.append(Let((array,), zeros, (), params, s.origin))
    return replace(side, body=tuple(body), results=tuple(results))


def _size(count: Atom) -> Size:
    return int(count.value) if isinstance(count, Literal) else var_size(count, 0)
