"""Hands lists of numbers from one loop to another, between which a library works, as arrays.

for ...: push(s, x)               for ...: push(s, x)
y = solve(a, b)                   u = to_array(s); y = solve(a, b); t = unstack(u)
for ...: x = pop(s)     becomes   for ...: x = pop(t)

A kernel gives back arrays, and takes them; lists are Python's.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import reads
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.lowering.schedule.stack_capacity import of_numbers
from tapeless.transforms.ops.primitives.new_arrays import new_stack
from tapeless.transforms.ops.primitives.stacks import extend, push, to_array, unstack

SHORT = 8  # statements that begin a list


def handed_on(block: Block) -> Block:
    """The block with arrays between such loops, also in the blocks inside of it; the same block if
    there are none."""
    if not any(isinstance(v.type, StackType) for s in statements(block) for v in outputs(s)):
        return block
    inner = [_with_inner(s) for s in _with_own_beginnings(block.body)]
    body = _body(inner, {*block.results})
    is_same = len(body) == len(block.body) and all(map(operator.is_, body, block.body))
    return block if is_same else replace(block, body=tuple(body))


def _with_own_beginnings(body: Iterable[Statement]) -> Iterator[Statement]:
    """Statements in which a list with its first items that several loops go on with is begun for
    each of them: one kernel may have the one, and another kernel the other."""
    begins: dict[Atom, list[Let]] = {}
    used: set[Atom] = set()
    for s in body:
        if isinstance(s, Let) and s.op is new_stack:
            begins[s.outs[0]] = [s]
        elif isinstance(s, Let) and s.op in (push, extend) and s.args[0] in begins:
            begins[s.outs[0]] = [*begins[s.args[0]], s]
        if isinstance(s, (For, While)):
            inits: list[Atom] = []
            for a in s.inits:
                is_short = len(begins.get(a, ())) in range(1, SHORT)
                if isinstance(a, Var) and a in used and is_short:
                    inits.append(Var(a.type, a.name))
                    yield from _begin_again(begins[a], inits[-1])
                else:
                    inits.append(a)
            used |= {*s.inits}
            yield replace(s, inits=tuple(inits)) if tuple(inits) != s.inits else s
        else:
            yield s


def _begin_again(begin: list[Let], copied: Any) -> Iterator[Let]:
    """The same statements, which make another list."""
    before: tuple[Atom, ...] = ()
    for k, s in enumerate(begin):
        after = copied if k == len(begin) - 1 else Var(copied.type, copied.name)
        yield replace(s, outs=(after,), args=(*before, *s.args[1:]))
        before = (after,)


def _with_inner(s: Statement) -> Statement:
    """A statement, with the blocks inside of it that are others then; the same one if none is."""
    inner = {id(b): handed_on(b) for b in blocks(s)}
    same = all(inner[id(b)] is b for b in blocks(s))
    return s if same else with_blocks(s, lambda b: inner[id(b)])


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
