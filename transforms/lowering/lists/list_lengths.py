"""Computes the number of items of a list as an integer: kernels may make an array of the list that
nobody else needs, though its length is needed.

a = to_array(out); s = sum(a); b = ones(a.shape)      becomes      n = len(out); ...; b = ones(n)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Let,
    Statement,
    Var,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh, replace_sizes, size
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.ops.primitives.stacks import to_array


def list_lengths(block: Block) -> Block:
    """The block, where lengths of arrays that are made of lists are those of the lists, if some
    other operation names them."""
    lets = [s for s in statements(block) if isinstance(s, Let)]
    named = sizes_in([list(s.params.values()) for s in lets if s.op is not to_array])
    told_first = told_by_lists(block)
    lengths = {x: _length() for x in told_first if x in named}
    if not lengths:
        return block
    fresh = in_new_variables(block)
    fresh = _with_lengths(fresh, dict(lengths))
    return replace_sizes(fresh, {x: n.size for x, n in lengths.items()})


def told_by_lists(block: Block) -> list[dims.Symbol]:
    """The lengths that no value has before an array which is made of a list."""
    told_first: dict[dims.Symbol, bool] = {}
    for s in statements(block):
        symbol = measured_length(s)
        if symbol is not None:
            told_first.setdefault(symbol, True)
        values = (*outputs(s), *(p for b in blocks(s) for p in b.params))
        for x in sizes_in([v.type for v in values]):
            told_first.setdefault(x, False)
    return [x for x, by_list in told_first.items() if by_list]


def with_sizes(block: Block, sizes: Mapping[dims.Symbol, dims.Size]) -> Block:
    """The block with sizes in the place of symbols, also in the types of variables."""
    if not sizes:
        return block
    fresh, renamed = refresh(replace(block, params=()))
    sizes = {x: size(n, renamed) for x, n in sizes.items()}
    return replace_sizes(replace(fresh, params=block.params), sizes)


def in_new_variables(block: Block) -> Block:
    """The block with new variables, parameters apart: their types may be changed then."""
    fresh, _ = refresh(replace(block, params=()))
    return replace(fresh, params=block.params)


def measured_length(s: Statement) -> dims.Symbol | None:
    """The length that an array which is made of a list has, and nothing else says."""
    if not isinstance(s, Let) or s.op is not to_array:
        return None
    symbol = single_symbol(s.params["size"])
    return symbol if symbol is not None and symbol.var is None and not symbol.given else None


def _length() -> Var:
    n = Var(INT, "n")
    n.size = dims.symbol("n", 0, n)
    return n


def _with_lengths(block: Block, pending: dict[dims.Symbol, Var]) -> Block:
    """The block with each of these integers, in front of the first array that is so long."""
    body: list[Statement] = []
    for s in block.body:
        symbol = measured_length(s)
        if isinstance(s, Let) and symbol in pending:
            body.append(Let((pending.pop(symbol),), stack_length, s.args[:1], {}, s.origin))
        body.append(with_blocks(s, lambda b: _with_lengths(b, pending)))
    return replace(block, body=tuple(body))
