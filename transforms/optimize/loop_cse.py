"""Shares what loops and branches compute twice, ahead of derivatives: it is saved once.

for t in range(n):                        for t in range(n):
    p = m * f(u * u)                          v = u * u; p = m * f(v)
    s = p + f(u * u)          becomes         s = p + f(v)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(computed_once, '''
... (x: f8, n: pyi8):
...     y = for i in range(0, n, 1) with a: f8 = x:
...         b = sin(a)
...         c = sin(a)
...         d = mul(b, c)
...         yield d
...     return y
... '''))
(x: f8, n: pyi8):
    y = for i in range(0, n, 1) with a: f8 = x:
        b: f8 = sin(a)
        d: f8 = mul(b, b)
        yield d
    return y
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.structural_hash import params_key
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.optimize.equal_regions import earlier_twin

Known = dict[Any, Any]


def computed_once(block: Block) -> Block:
    """The block, whose loops and branches take an elementwise value or a view from where they, or
    what is around them, made it first; of loops and branches that compute the same the first is
    left."""
    new: dict[Var, Var] = {}
    body = tuple(_statements(block.body, {}, new, top=True))
    return substitute(replace(block, body=body), new) if new else block


def _statements(
    body: Iterable[Statement], available: Known, new: dict[Var, Var], top: bool = False
) -> list[Statement]:
    rewritten: list[Statement] = []

    def rewrite_block(block: Block) -> Block:
        return replace(block, body=tuple(_statements(block.body, dict(available), new)))

    def replace_by(s: Statement, twins: Iterable[Var]) -> None:
        for v, twin in zip(outputs(s), twins, strict=True):
            twin.name = twin.name or v.name
            if top:  # what goes along beside a derivative may read it
                rewritten.append(Let((v,), identity, (twin,), {}, s.origin))
            new[v] = twin

    for s in body:
        if isinstance(s, Let) and _may_be_shared(s):
            args = tuple(new.get(a, a) if isinstance(a, Var) else a for a in s.args)
            (v,) = s.outs
            twin = available.setdefault((s.op, args, params_key(s.params)), v)
            if (s.op.view or not top) and twin is not v and twin.type == v.type:
                replace_by(s, (twin,))
                continue
        if isinstance(s, (If, For, While)):
            s = substitute(Block((), (with_blocks(s, rewrite_block),), ()), new).body[0]
            same = earlier_twin(s, available)  # type: ignore[arg-type]  # it is no other statement
            if same is not None and [v.type for v in same.outs] == [v.type for v in outputs(s)]:
                replace_by(s, same.outs)
                continue
        rewritten.append(s)
    return rewritten


def _may_be_shared(s: Let) -> bool:
    shared = (s.op.elementwise and not s.params) or s.op.view
    return shared and s.op.pure and len(s.outs) == 1 and s.outs[0].size is None
