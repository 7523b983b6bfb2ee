"""Removes statements whose results nobody reads, also carries of loops and results of branches.

y = sin(x); z = cos(x); return z      becomes      z = cos(x); return z

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(dead_code, '''
... (x: f8, n: pyi8):
...     unread = exp(x)
...     y, z = for i in range(0, n, 1) with a: f8 = x, b: f8 = 0.0:
...         a_2 = sin(a)
...         b_2 = add(b, a)
...         yield a_2, b_2
...     return y
... '''))
(x: f8, n: pyi8):
    y = for i in range(0, n, 1) with a: f8 = x:
        a_2: f8 = sin(a)
        yield a_2
    return y
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.core.dims import symbols
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    operands,
    outputs,
)
from tapeless.transforms.core.uses import NONE, read_params, sizes_in
from tapeless.transforms.ops.primitives.function_calls import acts


def dead_code(block: Block) -> Block:
    live: set[Var] = {a for a in block.results if isinstance(a, Var)}
    homes: dict[Any, Any] = {x: None for p in block.params for x in sizes_in(p.type)}
    body = _sweep(block, live, homes)
    return Block(block.params, tuple(body), block.results)


def _homes(
    body: tuple[Statement, ...], params: tuple[Var, ...], around: dict[Any, Any]
) -> tuple[dict[Any, Any], dict[Statement, dict[Any, Any]]]:
    """The variable whose shape shows each size that is made at run time: one that can be read in
    this body, not in the blocks inside; and those that can be read in the blocks of a statement."""
    own: dict[Any, Any] = {}  # those of this pass, whatever else has been as long
    for p in params:
        _home(p, own)
    table = {**around, **{x: p for x, p in own.items() if not (x.given and x in around)}}
    inside: dict[Statement, dict[Any, Any]] = {}
    for s in body:
        if not isinstance(s, (Let, Effect)):
            inside[s] = dict(table)
        for v in outputs(s):
            _home(v, table)
    return table, inside


def _home(v: Var, table: dict[Any, Any]) -> None:
    for size in getattr(v.type, "shape", ()):
        if (
            not isinstance(size, int)
            and len(size.terms) == 1
            and len(size.terms[0][0]) == 1
            and size.terms[0][1] == 1
        ):
            for symbol in symbols(size):
                if symbol.var is None:
                    table.setdefault(symbol, v)


def needs(s: Statement, homes: dict[Any, Any]) -> set[Var]:
    """The variables that show the sizes that a statement names."""
    if not isinstance(s, Let) or not s.params:
        return set()
    shown_by: set[Var] = set()
    for symbol in NONE.union(*map(sizes_in, read_params(s))):
        v = homes.get(symbol) if symbol.var is None else symbol.var
        if v is not None:
            shown_by.add(v)
    return shown_by


def _sweep(block: Block, live: set[Var], around: dict[Any, Any]) -> list[Statement]:
    """The statements of a block that somebody needs; notes in `live` what they read."""
    homes, homes_inside = _homes(block.body, block.params, around)
    kept: list[Statement] = []
    for s in reversed(block.body):
        match s:
            case Let():
                if not any(v in live for v in s.outs) and s.op.pure:
                    continue
            case Effect():
                pass
            case If():
                keep = [k for k, v in enumerate(s.outs) if v in live]
                sides = []
                for side in (s.then, s.orelse):
                    inner = set(live) | {a for k in keep if isinstance(a := side.results[k], Var)}
                    statements = _sweep(side, inner, homes_inside[s])
                    live |= inner
                    sides.append(Block((), tuple(statements), tuple(side.results[k] for k in keep)))
                if not keep and not sides[0].body and not sides[1].body:
                    continue
                s = replace(s, outs=tuple(s.outs[k] for k in keep), then=sides[0], orelse=sides[1])
            case For():
                swept = _sweep_for(s, live, homes_inside[s])
                if swept is None:
                    continue
                s = swept
            case While():
                if live.isdisjoint(s.outs) and not (acts(s.test) or acts(s.body)):
                    continue
                s = _sweep_while(s, live, homes_inside[s])
        live |= {a for a in operands(s) if isinstance(a, Var)} | needs(s, homes)
        kept.append(s)
    return kept[::-1]


def _sweep_for(s: For, live: set[Var], homes: dict[Any, Any]) -> For | None:
    keep = [v in live for v in s.outs]
    flag = s.body.results[:1] if s.until else ()
    while True:
        inner = set(live) | {
            a for a, on in zip(s.yields, keep, strict=True) if on and isinstance(a, Var)
        }
        inner |= {a for a in flag if isinstance(a, Var)}
        statements = _sweep(s.body, inner, homes)
        new = [on or p in inner for on, p in zip(keep, s.carries, strict=True)]
        if new == keep:
            break
        keep = new
    effects = acts(Block((), tuple(statements), ()))
    if not any(keep) and not effects and (s.count is None or s.count not in live):
        return None
    live |= inner
    pick = [k for k, on in enumerate(keep) if on]
    body = Block(
        (s.index, *(s.carries[k] for k in pick)),
        tuple(statements),
        (*flag, *(s.yields[k] for k in pick)),
    )
    return replace(
        s, outs=tuple(s.outs[k] for k in pick), inits=tuple(s.inits[k] for k in pick), body=body
    )


def _sweep_while(s: While, live: set[Var], homes: dict[Any, Any]) -> While:
    keep = [v in live for v in s.outs]
    while True:
        inner = set(live) | {
            a for a, on in zip(s.body.results, keep, strict=True) if on and isinstance(a, Var)
        }
        inner |= {a for a in s.test.results if isinstance(a, Var)}
        tests = _sweep(s.test, inner, homes)
        statements = _sweep(s.body, inner, homes)
        new = [
            on or p in inner or q in inner
            for on, p, q in zip(keep, s.body.params, s.test.params, strict=True)
        ]
        if new == keep:
            break
        keep = new
    live |= inner
    pick = [k for k, on in enumerate(keep) if on]
    test = Block(tuple(s.test.params[k] for k in pick), tuple(tests), s.test.results)
    body = Block(
        tuple(s.body.params[k] for k in pick),
        tuple(statements),
        tuple(s.body.results[k] for k in pick),
    )
    return replace(
        s,
        outs=tuple(s.outs[k] for k in pick),
        inits=tuple(s.inits[k] for k in pick),
        test=test,
        body=body,
    )
