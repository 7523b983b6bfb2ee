"""Finds the free variables of a part of a program: the variables and sizes that it reads and does
not define.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    blocks,
    free_variables,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.uses import reads, sizes_in, written_params


def close(body: Iterable[Statement], results: Iterable[Atom]) -> Block:
    """A block whose parameters are all the variables that it reads, also through sizes."""
    block = Block((), tuple(body), tuple(results))
    return replace(block, params=tuple(dict.fromkeys(_outer(block, set()))))


def _outer(block: Block, defined: set[Var]) -> Iterator[Var]:
    defined = defined | set(block.params)
    for s in block.body:
        yield from (v for v in reads(s) if v not in defined)
        for b in blocks(s):
            yield from _outer(b, defined)
        defined |= set(outputs(s))
    yield from (a for a in block.results if isinstance(a, Var) and a not in defined)


def defined_variables(block: Block) -> list[Var]:
    """All variables that get their value in a block."""
    inner = [v for s in block.body for b in blocks(s) for v in (*b.params, *defined_variables(b))]
    return [*inner, *(v for s in block.body for v in outputs(s))]


def read_from_around(block: Block) -> set[Var]:
    """Variables of a program around a block that it reads. One that is defined inside of it, but
    not where it is read, is none of them."""
    return free_variables(block).keys() - set(defined_variables(block))


def dropped_lengths(block: Block) -> dict[Var, Any]:
    """A size of its own for each integer that types name and that the block no longer defines,
    since no statement reads it; the derivative of the block may read the length."""
    own = {*block.params, *defined_variables(block)}
    lengths: dict[Var, Any] = {}
    for t in (*(v.type for v in own), *_param_types(block)):
        for x in sizes_in(t):
            if x.var is not None and x.var not in own and x.var not in lengths:
                lengths[x.var] = dims.symbol(x.name, x.lower)
    return lengths


def _param_types(block: Block) -> Iterator[tuple[object, ...]]:
    return (tuple(s.params.values()) for s in statements(block) if isinstance(s, Let))


def axes(variables: Iterable[Var]) -> set[dims.Symbol]:
    """Sizes that are the length of an axis of one of the variables."""
    axis_symbols: set[dims.Symbol] = set()
    for v in variables:
        for size in getattr(v.type, "shape", ()):
            axis_symbols |= {s for s in dims.symbols(size) if size == dims.single(s)}
    return axis_symbols


def told_by_axes(variables: Iterable[Var]) -> set[dims.Symbol]:
    """Sizes that axes of the variables tell: they are as long, or longer by a number."""
    return {
        symbol
        for v in variables
        for size in getattr(v.type, "shape", ())
        for symbol in dims.symbols(size)
        if isinstance(size - dims.single(symbol), int)
    }


def parts_of_axes(variables: Iterable[Var]) -> dict[dims.Symbol, dims.Size]:
    """What sizes are in terms of new ones, where axes show them only as part of a sum: with an
    axis as long as n - 1, which is m from now on, n is m + 1."""
    variables = list(variables)
    axis_symbols = axes(variables)
    in_terms_of_new: dict[dims.Symbol, dims.Size] = {}
    for size in (n for v in variables for n in getattr(v.type, "shape", ())):
        hidden = dims.symbols(size) - axis_symbols - in_terms_of_new.keys()
        if len(hidden) != 1 or any(s.var is not None for s in dims.symbols(size)):
            continue
        (symbol,) = hidden
        rest = size - dims.single(symbol)
        if symbol not in dims.symbols(rest):
            whole = dims.symbol("n", dims.lower_bound(size))
            in_terms_of_new[symbol] = whole - dims.substitute(rest, in_terms_of_new.get)
    return in_terms_of_new


def hidden_sizes(
    block: Block, params: Iterable[Var], elsewhere: set[dims.Symbol], shown: set[dims.Symbol]
) -> dict[dims.Symbol, Var]:
    """An integer for each length in a block of its own that its parameters do not show, but for
    those that are `shown`: its derivative may read what it does not read itself."""
    params = list(params)
    lengths = missing_sizes(block, params, elsewhere)
    types = sizes_in(tuple(v.type for v in params)) - axes(params)
    for symbol in sorted((s for s in types if s.var is None), key=lambda s: s.uid):
        lengths.setdefault(symbol, _integer())
    return {s: n for s, n in lengths.items() if s not in shown}


def missing_sizes(
    block: Block, params: Iterable[Var], elsewhere: set[dims.Symbol]
) -> dict[dims.Symbol, Var]:
    """An integer for each length that a block reads and that neither its parameters show nor what
    is made inside until then, unless it is known `elsewhere`: arrays made of a length do not tell
    it."""
    integers: dict[dims.Symbol, Var] = {}
    for symbol in _unknown(block, axes(params), elsewhere):
        if symbol not in integers:
            integers[symbol] = _integer()
    return integers


def _integer() -> Var:
    v = Var(INT, "n")
    v.size = dims.symbol("n", 0, v)
    return v


def _unknown(
    block: Block, shown: set[dims.Symbol], elsewhere: set[dims.Symbol]
) -> Iterator[dims.Symbol]:
    """The lengths that statements read and nothing above them shows."""
    shown = shown | (axes(block.params) - elsewhere)
    for s in block.body:
        if isinstance(s, Let):
            read = sizes_in(tuple(written_params(s).values()))
            yield from sorted((x for x in read - shown if x.var is None), key=lambda x: x.uid)
        for b in blocks(s):
            yield from _unknown(b, shown, elsewhere)
        shown |= axes(outputs(s)) - elsewhere
