"""Finds floats that are made of the bits of other floats: no rule knows their derivative.

x.view(int).view(float)                 is x, and its derivative is not zero
(x.view(int) >> 52).astype(float)       is the exponent of x, whose derivative is zero
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeless.transforms.analysis.activity import dependents, handed_on
from tapeless.transforms.core.language import Block, Let, Literal, Var, statements
from tapeless.transforms.ops.numpy.bits import bits, resized_bits
from tapeless.transforms.ops.primitives.comparisons_and_rounding import bitwise_and, right_shift
from tapeless.transforms.ops.primitives.slices_and_gathers import FIRST_PLACE

#: How many bits of a float of so many bytes say where it lies between two powers of two.
MANTISSA = {2: 10, 4: 23, 8: 52}


def made_of_bits(block: Block, inputs: Iterable[Var]) -> Let | None:
    """The first statement that makes floats of integers which hold the bits of inputs, or of what
    depends on them; tests of such integers, and their uses as indices, are piecewise constant."""
    body = list(statements(block))
    if not any(isinstance(s, Let) and _gives_bits(s) for s in body):
        return None
    active = dependents(block, inputs)
    patterns: set[Var] = set()
    while True:
        before = len(patterns)
        for s in body:
            if not isinstance(s, Let):
                patterns.update(v for v, a in handed_on(s) if a in patterns)
            elif _gives_bits(s) and s.args[0] in active:
                patterns.update(s.outs)
            elif not patterns.isdisjoint(s.args[: FIRST_PLACE.get(s.op)]) and not _constant(s):
                if any(v.type.differentiable for v in s.outs):
                    return s
                patterns.update(v for v in s.outs if v.type.dtype.kind in "iu")
        if len(patterns) == before:
            return None


def _gives_bits(s: Let) -> bool:
    """Whether a statement gives the bits of its argument as integers."""
    return s.op in (bits, resized_bits) and s.outs[0].type.dtype.kind in "iu"


def _constant(s: Let) -> bool:
    """Whether what is left of the bits stays the same between two powers of two."""
    if s.op not in (right_shift, bitwise_and) or not isinstance(s.args[1], Literal):
        return False
    have, number = MANTISSA.get(s.args[0].type.dtype.itemsize, 0), int(s.args[1].value)
    return 0 < have <= number if s.op is right_shift else have > 0 == number % 2**have
