"""Hands lists of numbers from one loop to another, between which a library works, as arrays.

for ...: push(s, x)               for ...: push(s, x)
y = solve(a, b)                   u = to_array(s); y = solve(a, b); t = unstack(u)
for ...: x = pop(s)     becomes   for ...: x = pop(t)

A kernel gives back arrays, and takes them; lists are Python's.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import reads
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.lowering.schedule.stack_capacity import of_numbers
from tapeless.transforms.ops.primitives.stacks import to_array, unstack


def handed_on(block: Block) -> Block:
    """The block with arrays between such loops, also in the blocks inside of it; the same block if
    there are none."""
    if not any(isinstance(v.type, StackType) for s in statements(block) for v in outputs(s)):
        return block
    inner = [replace(s, **changed) if (changed := _blocks_of(s)) else s for s in block.body]
    body = _body(inner, {*block.results})
    is_same = len(body) == len(block.body) and all(map(operator.is_, body, block.body))
    return block if is_same else replace(block, body=tuple(body))


def _blocks_of(s: Statement) -> dict[str, Block]:
    """The blocks of a statement that are others then, by their names in it."""
    names = ("then", "orelse", "body", "test")
    old = {name: b for name in names if isinstance(b := getattr(s, name, None), Block)}
    after = {name: handed_on(b) for name, b in old.items()}
    return {name: b for name, b in after.items() if b is not old[name]}


def _body(body: list[Statement], results: set[object]) -> list[Statement]:
    readers: dict[Var, list[int]] = {}
    for k, s in enumerate(body):
        for v in reads(s):
            readers.setdefault(v, []).append(k)
    calls = [k for k, s in enumerate(body) if isinstance(s, Let) and is_apart(s)]
    behind: dict[int, list[Statement]] = {}
    ahead: dict[int, list[Statement]] = {}
    names: dict[int, dict[Var, Var]] = {}
    for k, s in enumerate(body):
        for v in outputs(s) if blocks(s) else ():
            where = readers.get(v, [])
            if not of_numbers(v.type) or v in results or len(where) != 1:
                continue
            (reader,) = where
            if not blocks(body[reader]) or not any(k < call < reader for call in calls):
                continue
            item: Type = v.type.item
            array = Var(Type(item.dtype, (dims.symbol("n", 0),)), v.name)
            again = Var(v.type, v.name)
            size = {"size": array.type.shape[0]}
            behind.setdefault(k, []).append(Let((array,), to_array, (v,), size, s.origin))
            weak = {"weak": item.weak}
            ahead.setdefault(reader, []).append(Let((again,), unstack, (array,), weak, s.origin))
            names.setdefault(reader, {})[v] = again
    whole: list[Statement] = []
    for k, s in enumerate(body):
        new = names.get(k)
        whole += ahead.get(k, ())
        whole.append(substitute(Block((), (s,), ()), new).body[0] if new else s)
        whole += behind.get(k, ())
    return whole
