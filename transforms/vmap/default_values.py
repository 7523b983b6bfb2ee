"""Gives default values to what statements may leave undefined, where it is stored for each element.

for _ in range(n[i]): y = x[i]        becomes      y = 0.0
out[i] = y                                         for _ in range(n[i]): y = x[i]
                                                   out[i] = y

Who reads it later asks first whether there was one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core import builder
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Function,
    If,
    Let,
    Statement,
    Type,
    While,
    is_undefined,
    statements,
)
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.ops.primitives.function_calls import functions_called, is_call
from tapeless.transforms.ops.primitives.new_arrays import zero


def with_default_values(body: Iterable[Statement], ends: Iterable[Atom]) -> list[Statement]:
    """The statements, with a value for each of the `ends`."""
    statements_out: list[Statement] = []
    wanted = set(ends)
    for s in reversed(list(body)):
        if isinstance(s, (If, For, While)) and wanted.intersection(s.outs):
            ahead, s = _with_values(s, wanted)
            statements_out += [s, *reversed(ahead)]
        elif is_call(s) and wanted.intersection(s.outs):
            statements_out.append(called_with_values(s))
        else:
            statements_out.append(s)
    return statements_out[::-1]


def called_with_values(s: Let) -> Let:
    """A call, of a function that has a value for each result."""
    function: Function = s.params["function"]
    if not _lacks(function):
        return s
    if "valued" not in function.derived:
        valued = Function(function.name, lambda: _block_with_defaults(function))
        function.derived["valued"] = valued.derived["valued"] = valued
    return replace(s, params={**s.params, "function": function.derived["valued"]})


def _block_with_defaults(function: Function) -> Block:
    block, _ = refresh(function.block)
    with builder.building(builder.Builder()):
        return _side(block, [True] * len(block.results))


def _lacks(function: Function) -> bool:
    """Whether a result may be without a value."""
    functions, lacking = {function, *functions_called(function.block)}, set[Function]()
    while more := {f for f in functions if f not in lacking and _lacks_beside(f, lacking)}:
        lacking |= more
    return function in lacking


def _lacks_beside(function: Function, lacking: set[Function]) -> bool:
    """Whether a result may be without a value, where those of `lacking` may be."""
    block = function.block
    entries = [s for s in statements(block) if isinstance(s, Let) and is_call(s)]
    partial = [v for s in entries if s.params["function"] in lacking for v in s.outs]
    unset = may_lack(block, partial)
    return any(is_undefined(a) or a in unset for a in block.results)


def _with_values(s: If | For | While, wanted: set[Any]) -> tuple[list[Statement], Statement]:
    """Statements that go before it, and the statement; what it hands on is wanted, too."""
    asked = [v in wanted for v in s.outs]
    if isinstance(s, If):
        return [], replace(s, then=_side(s.then, asked), orelse=_side(s.orelse, asked))
    with builder.current().block() as ahead:
        inits = _values(s.inits, asked)
    wanted.update(a for a, on in zip(inits, asked, strict=True) if on)
    yields = s.yields if isinstance(s, For) else s.body.results
    inner = with_default_values(s.body.body, [a for a, on in zip(yields, asked, strict=True) if on])
    return ahead, replace(s, inits=inits, body=replace(s.body, body=tuple(inner)))


def _side(block: Block, asked: list[bool]) -> Block:
    with builder.current().block() as behind:
        results = _values(block.results, asked)
    inner = with_default_values(block.body, [a for a, on in zip(results, asked, strict=True) if on])
    return replace(block, body=(*inner, *behind), results=results)


def _values(atoms: Iterable[Atom], asked: list[bool]) -> tuple[Atom, ...]:
    return tuple(
        zero(a.type) if on and is_undefined(a) and isinstance(a.type, Type) else a
        for a, on in zip(atoms, asked, strict=True)
    )
