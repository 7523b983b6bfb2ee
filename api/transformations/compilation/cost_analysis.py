"""Estimates what a program costs: operations on numbers, and bytes of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    blocks,
    statements,
)
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS, mean

Lengths = Mapping[dims.Symbol, int]
PRODUCTS = (matmul, einsum)


def flops(block: Block, lengths: Lengths, times: int = 1) -> tuple[float, float]:
    """How many numbers are computed by arithmetic, and how many by transcendental functions.

    An elementwise operation counts once for each element of its result, a reduction once for each
    of its argument, a product of matrices twice for each product of numbers. Other operations count
    nothing; of the branches of an `if` the more costly one counts, and a loop whose length depends
    on values counts as one pass.
    """
    homes = {out: s for s in statements(block) if isinstance(s, Let) for out in s.outs}
    return _of_block(block, lengths, homes)


def _of_block(block: Block, lengths: Lengths, homes: dict[Var, Let]) -> tuple[float, float]:
    total, transcendental = 0.0, 0.0
    for s in block.body:
        plain, special = _of_statement(s, lengths, homes)
        total, transcendental = total + plain, transcendental + special
    return total, transcendental


def _of_statement(s: Statement, lengths: Lengths, homes: dict[Var, Let]) -> tuple[float, float]:
    match s:
        case Let():
            count = float(operations(s, lambda n: _length(n, lengths)))
            return (0.0, count) if (s.op.elementwise and s.op.costly) else (count, 0.0)
        case If():
            return max((_of_block(b, lengths, homes) for b in blocks(s)), key=sum)
        case For():
            plain, special = _of_block(s.body, lengths, homes)
            passes = _passes(s, lengths, homes)
            return passes * plain, passes * special
        case _:
            inner = [_of_block(b, lengths, homes) for b in blocks(s)]
            return sum(p for p, _ in inner), sum(t for _, t in inner)


def _passes(loop: For, lengths: Lengths, homes: dict[Var, Let]) -> int:
    ends = [_number(a, lengths, homes) for a in (loop.start, loop.stop, loop.step)]
    if loop.until or None in ends:
        return 1
    start, stop, step = (int(n) for n in ends if n is not None)
    return len(range(start, stop, step))


def _number(a: Atom, lengths: Lengths, homes: dict[Var, Let]) -> int | None:
    if isinstance(a, Literal):
        return a.value if isinstance(a.value, int) else None
    let = homes.get(a)
    return dims.evaluate(let.params["size"], lengths) if let and "size" in let.params else None


def operations(s: Let, length: Callable[[Size], int]) -> int:
    """How many numbers a statement computes, where it is elementwise, a reduction or a product."""
    if not s.outs or not isinstance(s.outs[0].type, Type) or s.outs[0].type.dtype.kind not in "fc":
        return 0
    out = elements(s.outs[0].type, length)
    if s.op in PRODUCTS and s.args:
        first = s.args[0].type
        return 2 * out * length(first.shape[-1]) if first.shape else out
    if s.op in (mean, *REDUCTIONS) and s.args:
        return elements(s.args[0].type, length)
    return out if s.op.elementwise else 0


def elements(kind: Type, length: Callable[[Size], int]) -> int:
    """How many elements a value of a type has."""
    return math.prod(map(length, kind.shape))


def _length(n: Any, lengths: Lengths) -> int:
    return dims.evaluate(n, lengths) or 0


@dataclass(frozen=True)
class MemoryStats:
    """Bytes of arrays, under the names of JAX's statistics."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int = 0
    alias_size_in_bytes: int = 0


def memory(
    argument_leaves: Sequence[Any],
    result_leaves: Sequence[Any],
    driver: Block | None = None,
    lengths: Lengths | None = None,
) -> MemoryStats:
    """The bytes of arguments and results, and of the arrays that the driver makes beside them.

    These are added up as if all were alive at once; memory that a kernel takes for itself does not
    count.
    """
    arguments, results = (sum(map(_bytes, values)) for values in (argument_leaves, result_leaves))
    if driver is None:
        return MemoryStats(arguments, results)
    kinds = [s.outs[0].type for s in statements(driver) if _makes(s)]
    all_of_them = sum(
        elements(t, lambda n: _length(n, lengths or {})) * t.dtype.itemsize for t in kinds
    )
    return MemoryStats(arguments, results, max(0, all_of_them - results))


def _makes(s: Statement) -> bool:
    return (
        isinstance(s, Let)
        and bool(s.outs)
        and not s.op.view
        and isinstance(s.outs[0].type, Type)
        and bool(s.outs[0].type.shape)
    )


def _bytes(x: Any) -> int:
    if not hasattr(x, "dtype"):
        return np.asarray(x).nbytes if isinstance(x, (bool, int, float, complex)) else 0
    return int(math.prod(x.shape)) * int(x.dtype.itemsize)
