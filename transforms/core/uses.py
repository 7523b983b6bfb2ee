"""Finds what statements read: variables, and the sizes in types and parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    operands,
    statements,
)

NONE: frozenset[dims.Symbol] = frozenset()


PLAIN = frozenset((type(None), bool, int, str, float))


def sizes_in(value: Any) -> frozenset[dims.Symbol]:
    kind = type(value)
    if kind is Type:
        value, kind = value.shape, tuple
    if kind is tuple or kind is list:
        parts = [sizes_in(x) for x in value if type(x) not in PLAIN]
        return NONE.union(*parts) if parts else NONE
    if kind is dims.Dim:
        symbols: frozenset[dims.Symbol] = value.symbols
        return symbols
    return sizes_in(value.item) if kind is StackType else NONE


def measured_sizes(value: Any) -> set[dims.Symbol]:
    """The lengths in a type or in parameters that are measured when the program runs."""
    return {x for x in sizes_in(value) if x.var is None and not x.given}


def written_params(s: Let) -> dict[str, Any]:
    """The parameters of an operation that its source shows."""
    text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
    text = text[0] if isinstance(text, tuple) else text
    return {key: value for key, value in s.params.items() if f"{{{key}" in text}


def reads(s: Statement) -> list[Var]:
    """Variables a statement reads itself, also through sizes."""
    variables = [a for a in operands(s) if isinstance(a, Var)]
    if isinstance(s, Let):
        for v in read_params(s):
            variables += [x.var for x in sizes_in(v) if x.var is not None]
    return variables


def nested_reads(s: Statement) -> Iterator[Var]:
    """Variables a statement reads, also inside of its blocks and through sizes."""
    yield from reads(s)
    for b in blocks(s):
        yield from (a for a in b.results if isinstance(a, Var))
        for inner in b.body:
            yield from nested_reads(inner)


def read_params(s: Let) -> list[Any]:
    """The parameters whose sizes an operation reads."""
    return [v for key, v in s.params.items() if key not in s.op.of_results]


def reads_of(block: Block) -> Counter[Var]:
    """How often each variable is read."""
    counts: Counter[Var] = Counter()

    def walk(b: Block) -> None:
        for s in b.body:
            for a in operands(s):
                if type(a) is Var:
                    counts[a] += 1
            for inner in blocks(s):
                walk(inner)
        for a in b.results:
            if type(a) is Var:
                counts[a] += 1

    walk(block)
    return counts


def all_reads(block: Block, sizes: Mapping[Any, set[Var]]) -> set[Var]:
    """All variables that something reads."""
    variables = {a for a in block.results if isinstance(a, Var)}
    for s in statements(block):
        variables.update(a for a in operands(s) if isinstance(a, Var))
        variables |= sizes.get(s, set())
        for b in blocks(s):
            variables.update(a for a in b.results if isinstance(a, Var))
    return variables
