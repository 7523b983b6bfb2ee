"""Marks factorisations of which nothing reads the vectors together with the values, before the
program is differentiated: then equal values have tangents.

    w, v = eigh(a); y = sum(w)      becomes      w, v = eigh(a, free=True); y = sum(w)

Vectors of equal eigenvalues are arbitrary within the space that they span, so a function that reads
values and vectors may have a derivative that no formula for either gives. Functions of values alone
are right for sums over equal ones. A sum of such a function and one of the vectors alone is split:
the factorisation is there twice until the program is finished.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    blocks,
    free_variables,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.linalg.factorisations import eigh, svd
from tapeless.transforms.ops.linalg.spectral_functions import spectral
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import cast, reshape
from tapeless.transforms.ops.primitives.shapes import sum as add_up

#: Factorisations, and which of their results are values.
VECTORS = {eigh: 0, svd: 1}
LINEAR = (add, sub, neg, mul, truediv, add_up, real, cast, reshape, identity)


def with_free_vectors(block: Block) -> Block:
    """The block with factorisations marked `free` where only their values are read."""
    read = _read(block)

    def mark_block(block: Block) -> Block:
        body: list[Statement] = []
        new: dict[Var, Any] = {}
        for k, s in enumerate(block.body):
            if not (isinstance(s, Let) and s.op in VECTORS):
                body.append(with_blocks(s, mark_block))
            elif read.isdisjoint(_vectors(s)):
                body.append(_with_flag(s, free=True))
            else:
                body.append(_with_flag(s, free=False))  # a derivative may read the vectors
                value = s.outs[VECTORS[s.op]]
                if value in read and _are_separate(s, block.body[k + 1 :]):
                    new[value] = Var(value.type, value.name)
                    outs = (new.get(v, Var(v.type, v.name)) for v in s.outs)
                    body.append(replace(_with_flag(s, free=True), outs=tuple(outs)))
        return substitute(replace(block, body=tuple(body)), new)

    return mark_block(block)


def _with_flag(s: Let, free: bool) -> Let:
    return replace(s, params={**s.params, "free": free})


def _vectors(s: Let) -> set[Var]:
    return {v for k, v in enumerate(s.outs) if k != VECTORS[s.op]}


def _read(block: Block) -> set[Any]:
    """What is read, but for vectors by functions of a matrix as a whole."""
    read: set[Any] = set(block.results)
    for s in statements(block):
        skipped = 2 if isinstance(s, Let) and s.op is spectral else None
        read.update(a for k, a in enumerate(operands(s)) if k != skipped)
        read.update(a for inner in blocks(s) for a in inner.results)
    return read


def _are_separate(s: Let, rest: Iterable[Statement]) -> bool:
    """Whether all results are sums of what depends on values and what depends on vectors."""
    values, vectors = {s.outs[VECTORS[s.op]]}, _vectors(s)
    for later in rest:
        if isinstance(later, Let) and later.op is spectral and later.args[0] is s.args[0]:
            continue  # a function of the matrix as a whole
        inputs = {*operands(later), *(v for b in blocks(later) for v in free_variables(b))}
        of_values, of_vectors = inputs & values, inputs & vectors
        if of_values and of_vectors and not _is_linear(later, of_values | of_vectors):
            return False
        values.update(outputs(later) if of_values else ())
        vectors.update(outputs(later) if of_vectors else ())
    return True


def _is_linear(s: Statement, dependent: set[Atom]) -> bool:
    """Whether a statement is linear in what depends on the factorisation."""
    if not isinstance(s, Let) or s.op not in LINEAR:
        return False
    if s.op in (add, sub):
        return True
    once = [a in dependent for a in s.args].count(True) == 1
    return once and (s.op is mul or s.args[0] in dependent)
