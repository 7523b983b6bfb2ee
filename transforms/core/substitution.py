"""Substitutes variables in blocks: copies in which they are replaced or renamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_undefined,
    outputs,
    statements,
)


def substitute(block: Block, new: Mapping[Var, Atom]) -> Block:
    """`block` with free variables replaced; also inside sizes that stand for them."""
    if not new:
        return block
    return Block(
        block.params,
        tuple(_statement(s, new) for s in block.body),
        tuple(_atom(a, new) for a in block.results),
    )


def _atom(a: Atom, new: Mapping[Var, Atom]) -> Atom:
    return new.get(a, a) if isinstance(a, Var) else a


def _statement(s: Statement, new: Mapping[Var, Atom]) -> Statement:
    match s:
        case Let():
            return replace(
                s, args=tuple(_atom(a, new) for a in s.args), params=map_sizes(s.params, new)
            )
        case Effect():
            return replace(s, args=tuple(_atom(a, new) for a in s.args))
        case If():
            return replace(
                s,
                test=_atom(s.test, new),
                then=substitute(s.then, new),
                orelse=substitute(s.orelse, new),
            )
        case For():
            return replace(
                s,
                start=_atom(s.start, new),
                stop=_atom(s.stop, new),
                step=_atom(s.step, new),
                inits=tuple(_atom(a, new) for a in s.inits),
                body=substitute(s.body, new),
            )
        case While():
            return replace(
                s,
                inits=tuple(_atom(a, new) for a in s.inits),
                test=substitute(s.test, new),
                body=substitute(s.body, new),
            )
    raise TypeError(s)


def map_sizes(params: dict[str, Any], new: Mapping[Var, Atom]) -> dict[str, Any]:
    """Params in which sizes that are values of replaced variables follow the replacement."""
    return {k: _sizes(v, new) for k, v in params.items()}


def _sizes(value: Any, new: Mapping[Var, Atom]) -> Any:
    if isinstance(value, dims.Dim):
        return size(value, new)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_sizes(v, new) for v in value)
    return retype(value, new) if isinstance(value, (Type, StackType)) else value


def size(s: dims.Size, new: Mapping[Var, Atom]) -> dims.Size:
    """A size that follows the replacement; what is as long as an undefined number is never looked
    at, and empty."""

    def get(symbol: dims.Symbol) -> dims.Size | None:
        other: Any = new.get(symbol if symbol.var is None else symbol.var)  # type: ignore[arg-type]
        if other is None or isinstance(other, (int, dims.Dim)):
            return other
        if isinstance(other, Literal):
            return 0 if is_undefined(other) else int(other.value)
        if other.size is None:
            upper = None if symbol.upper is None else size(symbol.upper, new)
            other.size = dims.symbol(other.name or "n", symbol.lower, other, upper=upper)
        return other.size  # type: ignore[no-any-return]

    return dims.substitute(s, get)


def retype(t: Any, new: Mapping[Var, Atom]) -> Any:
    if isinstance(t, StackType):
        return StackType(retype(t.item, new))
    return Type(t.dtype, tuple(size(s, new) for s in t.shape), t.weak)


def refresh(
    block: Block, substitution: Mapping[Var, Atom] | None = None
) -> tuple[Block, dict[Var, Atom]]:
    """A copy in which every variable that is defined inside is a new one; and the renaming."""
    new: dict[Var, Atom] = dict(substitution or {})
    return _refresh(block, new), new


def _fresh(v: Var, new: dict[Var, Atom]) -> Var:
    primal: Any = new.get(v.primal, v.primal) if v.primal is not None else None
    variable = Var(retype(v.type, new), v.name, v.origin, partial=v.partial, primal=primal)
    new[v] = variable
    return variable


def _refresh(block: Block, new: dict[Var, Atom]) -> Block:
    lengths = {p: _fresh(p, new) for p in block.params if p.size is not None}  # types name them
    params = tuple(lengths[p] if p in lengths else _fresh(p, new) for p in block.params)
    body = []
    for s in block.body:
        match s:
            case If():
                copied: Statement = replace(
                    s,
                    test=_atom(s.test, new),
                    then=_refresh(s.then, new),
                    orelse=_refresh(s.orelse, new),
                )
            case For():
                copied = replace(
                    s,
                    start=_atom(s.start, new),
                    stop=_atom(s.stop, new),
                    step=_atom(s.step, new),
                    inits=tuple(_atom(a, new) for a in s.inits),
                    body=_refresh(s.body, new),
                )
                if s.count is not None:
                    copied = replace(copied, count=_fresh(s.count, new))
            case While():
                copied = replace(
                    s,
                    inits=tuple(_atom(a, new) for a in s.inits),
                    test=_refresh(s.test, new),
                    body=_refresh(s.body, new),
                )
            case _:
                copied = _statement(s, new)
        if not isinstance(copied, Effect):
            copied = replace(copied, outs=tuple(_fresh(v, new) for v in s.outs))
        body.append(copied)
    return Block(params, tuple(body), tuple(_atom(a, new) for a in block.results))


def replace_symbols(block: Block, new: Mapping[dims.Symbol, dims.Size]) -> Block:
    """`block` with size symbols replaced in the params of operations; variables stay the same."""
    body: list[Statement] = []
    for s in block.body:
        match s:
            case Let():
                body.append(replace(s, params=map_symbols(s.params, new)))
            case If():
                body.append(
                    replace(
                        s, then=replace_symbols(s.then, new), orelse=replace_symbols(s.orelse, new)
                    )
                )
            case For():
                body.append(replace(s, body=replace_symbols(s.body, new)))
            case While():
                test, inner = replace_symbols(s.test, new), replace_symbols(s.body, new)
                body.append(replace(s, test=test, body=inner))
            case _:
                body.append(s)
    return Block(block.params, tuple(body), block.results)


def replace_sizes(block: Block, new: Mapping[dims.Symbol, dims.Size]) -> Block:
    """`block` with size symbols replaced in the params of operations, and in the types of its
    variables, which nothing else may have."""
    block = replace_symbols(block, new)
    for s in statements(block):
        for v in (*outputs(s), *(p for b in blocks(s) for p in b.params)):
            v.type = map_symbols({"type": v.type}, new)["type"]
    return block


def map_symbols(params: dict[str, Any], new: Mapping[dims.Symbol, dims.Size]) -> dict[str, Any]:
    return {k: _map_symbols(v, new) for k, v in params.items()}


def _map_symbols(value: Any, new: Mapping[dims.Symbol, dims.Size]) -> Any:
    if isinstance(value, dims.Dim):
        return dims.substitute(value, new.get)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_map_symbols(v, new) for v in value)
    if isinstance(value, Type):
        return Type(value.dtype, _map_symbols(value.shape, new), value.weak)
    return StackType(_map_symbols(value.item, new)) if isinstance(value, StackType) else value
