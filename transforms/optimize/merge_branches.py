"""Merges adjacent branches by one test: derivatives branch again as their function did.

if t: y = 2 * x              if t: y = 2 * x; z = sin(y)
else: y = x          becomes
if t: z = sin(y)             else: y = x; z = y
else: z = y

Statements between them that can neither raise nor warn, and read none of what the first gives, go
ahead of it. Branches whose arrays get lengths that only one arm knows stay apart.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(merge_branches, '''
... (t: b1, x: f8):
...     y = if t:
...         a = mul(2.0, x)
...         yield a
...     else:
...         yield x
...     z = if t:
...         b = sin(y)
...         yield b
...     else:
...         yield y
...     return z
... '''))
(t: b1, x: f8):
    y, z = if t:
        a: f8 = mul(2.0, x)
        b: f8 = sin(a)
        yield a, b
    else:
        yield x, x
    return z
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    If,
    Let,
    Statement,
    Var,
    blocks,
    statements,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import reads, sizes_in


def merge_branches(block: Block) -> Block:
    """The block with such branches merged, also inside of others; itself if there are none."""
    return _merge_block(block) if any(type(s) is If for s in statements(block)) else block


def _merge_block(block: Block) -> Block:
    body = [_merge_in_blocks(s) for s in _merge_statements(block.body)]
    same = len(body) == len(block.body) and all(map(_is, body, block.body))
    return block if same else replace(block, body=tuple(body))


def _is(a: object, b: object) -> bool:
    return a is b


def _merge_in_blocks(s: Statement) -> Statement:
    new = with_blocks(s, _merge_block)
    return s if all(map(_is, blocks(s), blocks(new))) else new


def _merge_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """The statements, with one branch in the place of several by one test."""
    run: list[If] = []
    waiting: list[Statement] = []  # between the last branch of the run and the next
    outs: set[Var] = set()
    for s in body:
        if isinstance(s, If) and run and s.test is run[0].test and _may_join(waiting, outs):
            yield from (t for t in waiting if isinstance(t, Let))
            waiting = []
        elif run and (isinstance(s, Let) or is_blank(s)):
            waiting.append(s)
            continue
        else:
            yield from _close_run(run, waiting)
            run, waiting, outs = [], [], set()
        if isinstance(s, If) and isinstance(s.test, Var) and _are_alike(s):
            run.append(s)
            outs.update(s.outs)
        else:
            yield from _close_run(run, waiting)
            run, waiting, outs = [], [], set()
            yield s
    yield from _close_run(run, waiting)


def _close_run(run: list[If], waiting: list[Statement]) -> Iterator[Statement]:
    if run:
        yield _merge_run(run) if len(run) > 1 else run[0]
    yield from waiting


def is_blank(s: Statement) -> bool:
    """Whether a statement is an empty line of emitted code, such as the one ahead of a backward
    part."""
    return isinstance(s, Effect) and s.kind == "blank"


def _may_join(between: list[Statement], outs: set[Var]) -> bool:
    """Whether statements behind branches may stand ahead of them."""
    return all(
        is_blank(s)
        or (
            isinstance(s, Let)
            and s.op.speculative
            and outs.isdisjoint(reads(s))
            and not any(n.var in outs for n in sizes_in([v.type for v in s.outs]))
        )
        for s in between
    )


def _are_alike(s: If) -> bool:
    """Whether arms give arrays of the lengths that the results have."""
    return all(
        getattr(a.type, "shape", None) == getattr(v.type, "shape", None)
        for b in (s.then, s.orelse)
        for a, v in zip(b.results, s.outs, strict=True)
    )


def _merge_run(run: list[If]) -> If:
    """Several branches by one test as one: later arms read what the same arm gave before."""
    outs = tuple(v for s in run for v in s.outs)
    arms = (_arm(run, [s.then for s in run]), _arm(run, [s.orelse for s in run]))
    return replace(run[0], outs=outs, then=arms[0], orelse=arms[1])


def _arm(run: list[If], arms: list[Block]) -> Block:
    value_of: dict[Var, Atom] = {}
    body: list[Statement] = []
    results: list[Atom] = []
    for s, arm in zip(run, arms, strict=True):
        inside = substitute(arm, value_of) if value_of else arm
        value_of.update(zip(s.outs, inside.results, strict=True))
        body += inside.body
        results += inside.results
    return Block((), tuple(body), tuple(results))
