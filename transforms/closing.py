"""What a part of a program must be given to stand alone: the variables and sizes it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    blocks,
    outputs,
)
from tapeless.transforms.core.reads import reads, sizes_in
from tapeless.transforms.core.sizes import INT


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


def defined(block: Block) -> list[Var]:
    """All variables that get their value in a block."""
    inner = [v for s in block.body for b in blocks(s) for v in (*b.params, *defined(b))]
    return [*inner, *(v for s in block.body for v in outputs(s))]


def axes(variables: Iterable[Var]) -> set[dims.Symbol]:
    """Sizes that are the length of an axis of one of the variables."""
    found: set[dims.Symbol] = set()
    for v in variables:
        for size in getattr(v.type, "shape", ()):
            found |= {s for s in dims.symbols(size) if size == dims.single(s)}
    return found


def missing_sizes(
    block: Block, params: Iterable[Var], elsewhere: set[dims.Symbol]
) -> dict[dims.Symbol, Var]:
    """An integer for each length that a block reads and that neither its parameters show nor what
    is made inside until then, unless it is known `elsewhere`: arrays made of a length do not tell
    it."""
    found: dict[dims.Symbol, Var] = {}
    for symbol in _unknown(block, axes(params), elsewhere):
        if symbol not in found:
            v = found[symbol] = Var(INT, "n")
            v.size = dims.symbol("n", 0, v)
    return found


def _unknown(
    block: Block, known: set[dims.Symbol], elsewhere: set[dims.Symbol]
) -> Iterator[dims.Symbol]:
    """The lengths that statements read and nothing above them shows."""
    known = known | (axes(block.params) - elsewhere)
    for s in block.body:
        if isinstance(s, Let):
            read = sizes_in(tuple(s.params.values()))
            yield from sorted((x for x in read - known if x.var is None), key=lambda x: x.uid)
        for b in blocks(s):
            yield from _unknown(b, known, elsewhere)
        known |= axes(outputs(s)) - elsewhere
