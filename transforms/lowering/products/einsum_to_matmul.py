"""Rewrites sums of products of arrays as products of matrices, two arrays at a time.

einsum("ij,kj->ik", a, b)            becomes      a @ b.T
einsum("ij,jk,k->i", a, b, c)        becomes      a @ (b @ c)
einsum("ij,ij->i", a, b)             becomes      sum(a * b, axis=1)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    statements,
    with_blocks,
)
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.linalg.einsum import einsum
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.shapes import cast_to, reshape, transpose
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.optimize.simplify import simplify

Term = tuple[Atom, str]  # an array, and a letter for each of its axes
Order = list[tuple[int, int]]  # which two of the terms are next; what they give goes to the end
UNKNOWN = 64  # the length of an axis that this call does not tell
MANY = 6  # arrays of which all orders are tried


def contractions(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block, simplified again if anything was taken apart.

    hints  the sizes of this call: they decide in which order arrays are multiplied
    """
    if not any(isinstance(s, Let) and s.op is einsum for s in statements(block)):
        return block
    return simplify(_rewritten(block, hints))


def _rewritten(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    rewritten: list[Statement] = []
    for s in block.body:
        if isinstance(s, Let) and s.op is einsum:
            rewritten.extend(_decompose(s, hints))
        else:
            rewritten.append(with_blocks(s, lambda b: _rewritten(b, hints)))
    return replace(block, body=tuple(rewritten))


def _decompose(s: Let, hints: Mapping[dims.Symbol, int]) -> Iterator[Statement]:
    try:
        yield from parts_of(
            s, lambda *args, **params: _contract(s.outs[0].type, hints, *args, **params)
        )
    except NotTaken:
        yield s


def _contract(
    out: Type, hints: Mapping[dims.Symbol, int], *arrays: Atom, subscripts: str, **_: Any
) -> Any:
    operands, _arrow, output = subscripts.partition("->")
    inputs = operands.split(",")
    lengths = _lengths(inputs, arrays)
    if out.dtype.kind not in "fc" or (len(inputs) == 1 and len(inputs[0]) == len(output)):
        raise NotTaken  # integers have no library, and what is left is a view
    terms = [(cast_to(x, out.dtype), letters) for x, letters in zip(arrays, inputs, strict=True)]
    sizes = {c: dims.evaluate(n, hints) or UNKNOWN for c, n in lengths.items()}
    for i, j in _cheapest(inputs, output, sizes)[1]:
        pair = terms[i], terms[j]
        terms = [t for k, t in enumerate(terms) if k not in (i, j)]
        terms.append(_multiply(*pair, _output_letters(terms, output), output if not terms else ""))
    return _transpose_to(*_sum_out(*terms[0], output), output)


def _lengths(inputs: list[str], arrays: Sequence[Atom]) -> dict[str, Size]:
    """The length of the axis that each letter stands for."""
    lengths: dict[str, Size] = {}
    for letters, x in zip(inputs, arrays, strict=True):
        if len({*letters}) < len(letters):
            raise NotTaken  # a diagonal
        for c, n in zip(letters, x.type.shape, strict=True):
            if lengths.setdefault(c, n) != n and 1 in (n, lengths[c]):
                raise NotTaken  # an axis that is broadcast
    return lengths


def _output_letters(terms: list[Term], output: str) -> str:
    return output + "".join(letters for _, letters in terms)


# -- two arrays


def _multiply(a: Term, b: Term, kept: str, output: str) -> Term:
    """The product of two terms, summed over the axes that are not kept.

    output  the order in which axes are wanted, where it is known
    """
    (x, p), (y, q) = _sum_out(*a, kept + b[1]), _sum_out(*b, kept + a[1])
    if output and (first := next((c for c in output if (c in p) != (c in q)), "")) and first in q:
        (x, p), (y, q) = (y, q), (x, p)
    common = [c for c in p if c in q]
    batch, summed = (
        _joined(c for c in common if c in kept),
        _joined(c for c in common if c not in kept),
    )
    left, right = _joined(c for c in p if c not in q), _joined(c for c in q if c not in p)
    if summed and (left and right if batch else left or right):
        product = matmul(_matrix(x, p, batch, left, summed), _matrix(y, q, batch, summed, right))
        letters = batch + left + right
        if max(len(left), len(right)) < 2:
            return product, letters
        lengths = {
            **dict(zip(p, x.type.shape, strict=True)),
            **dict(zip(q, y.type.shape, strict=True)),
        }
        return reshape(product, shape=tuple(lengths[c] for c in letters)), letters
    order = batch + left + right + summed
    product = mul(_broadcast_to_letters(x, p, order), _broadcast_to_letters(y, q, order))
    return _sum_out(product, order, batch + left + right)


def _matrix(x: Atom, letters: str, batch: str, rows: str, columns: str) -> Atom:
    """The array with an axis for all rows, and one for all columns; without one where none are."""
    x = _transpose_to(x, letters, batch + rows + columns)
    shape, n, m = x.type.shape, len(batch), len(batch) + len(rows)
    ends = [dims.product(part) for part in (shape[n:m], shape[m:]) if part]
    return reshape(x, shape=(*shape[:n], *ends))  # type: ignore[no-any-return]


def _transpose_to(x: Atom, letters: str, order: str) -> Atom:
    axes = tuple(map(letters.index, order))
    return x if axes == tuple(range(len(axes))) else transpose(x, axes=axes)


def _broadcast_to_letters(x: Atom, letters: str, order: str) -> Atom:
    """The array with an axis for each letter, of length one for those that it lacks."""
    lengths = dict(zip(letters, x.type.shape, strict=True))
    x = _transpose_to(x, letters, "".join(c for c in order if c in letters))
    return reshape(x, shape=tuple(lengths.get(c, 1) for c in order))  # type: ignore[no-any-return]


def _sum_out(x: Atom, letters: str, kept: str) -> Term:
    axes = tuple(k for k, c in enumerate(letters) if c not in kept)
    if not axes:
        return x, letters
    return total_of(x, axes=axes, keepdims=False), _joined(c for c in letters if c in kept)


_joined: Callable[..., str] = "".join


# -- in which order


def _cheapest(terms: list[str], output: str, sizes: Mapping[str, int]) -> tuple[int, Order]:
    """The fewest multiplications, and the order that takes them; of many terms, the cheapest pair
    is next."""
    if len(terms) < 2:
        return 0, []

    def cost(pair: tuple[int, int]) -> int:
        return math.prod(sizes[c] for c in {*terms[pair[0]], *terms[pair[1]]})

    pairs = [*itertools.combinations(range(len(terms)), 2)]
    costs = []
    for i, j in pairs if len(terms) <= MANY else [min(pairs, key=cost)]:
        rest = [t for k, t in enumerate(terms) if k not in (i, j)]
        kept = output + _joined(rest)
        joint = _joined(c for c in dict.fromkeys(terms[i] + terms[j]) if c in kept)
        total, order = _cheapest([*rest, joint], output, sizes)
        costs.append((cost((i, j)) + total, [(i, j), *order]))
    return min(costs)
