"""What loops and branches compute twice is one value, before it is derived: it is saved once.

for t in range(n):                        for t in range(n):
    p = m * f(u * u)                          v = u * u; p = m * f(v)
    s = p + f(u * u)          becomes         s = p + f(v)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import Block, Let, Statement, Var, blocks, with_blocks
from tapeless.transforms.core.substitution import substitute

Known = dict[Any, Var]


def computed_once(block: Block) -> Block:
    """The block, whose loops and branches take an elementwise value from where they, or what is
    around them, made it first."""
    new: dict[Var, Var] = {}
    body = tuple(_statements(block.body, {}, new, top=True))
    return substitute(replace(block, body=body), new) if new else block


def _statements(
    body: Iterable[Statement], available: Known, new: dict[Var, Var], top: bool = False
) -> list[Statement]:
    rewritten: list[Statement] = []

    def inside(block: Block) -> Block:
        return replace(block, body=tuple(_statements(block.body, dict(available), new)))

    for s in body:
        if isinstance(s, Let) and _may_be_shared(s):
            args = tuple(new.get(a, a) if isinstance(a, Var) else a for a in s.args)
            (v,), twin = s.outs, available.setdefault((s.op, args), s.outs[0])
            if not top and twin is not v and twin.type == v.type:
                twin.name = twin.name or v.name
                new[v] = twin
                continue
        rewritten.append(with_blocks(s, inside) if blocks(s) else s)
    return rewritten


def _may_be_shared(s: Let) -> bool:
    return s.op.elementwise and s.op.pure and not s.params and s.outs[0].size is None
