"""Replaces several quotients by one number that is never near zero by products with its reciprocal.

d = 1 + exp(x); a / d; b / d; c / d      becomes      r = 1 / d; a * r; b * r; c * r
a / 12; b / 12; c / 3                    becomes      a * (1 / 12); b * (1 / 12); c * (1 / 3)

Vectors divide at a tenth of the speed at which they multiply. Derivatives of one quotient have many
of them, and so have differences of high order, by constants; two are left as they are, with the
digits that NumPy gives. Products are off by one unit in the last place more, and by four where the
reciprocal is subnormal, which needs d beyond 2**126.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(reciprocals, '''
... (a: f8[n], b: f8[n], c: f8[n], x: f8[n]):
...     e = exp(x)
...     d = add(1.0, e)
...     u = truediv(a, d)
...     v = truediv(b, d)
...     w = truediv(c, d)
...     return u, v, w
... '''))
(a: f8[n], b: f8[n], c: f8[n], x: f8[n]):
    e: f8[n] = exp(x)
    d: f8[n] = add(1.0, e)
    t1: f8[n] = truediv(1.0, d)
    u: f8[n] = mul(a, t1)
    v: f8[n] = mul(b, t1)
    w: f8[n] = mul(c, t1)
    return u, v, w
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.activity import last_digit_decides
from tapeless.transforms.core.language import (
    Block,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.scalar_form import FLOAT
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.ops.primitives.arithmetic import add, mul, truediv
from tapeless.transforms.ops.primitives.elementwise import absolute, cosh, exp, exp2, sqrt, square

ENOUGH = 3  # quotients
LEAST = 1e-30  # its reciprocal is a number also in single precision
MOST = 1e30  # its reciprocal is no subnormal number, also in single precision
POSITIVE = frozenset([exp, exp2, square, absolute, sqrt, cosh])
ONE = Literal(1.0, Type(FLOAT, (), True))


def reciprocals(block: Block) -> Block:
    memory = Dependences()
    memory.learn(block)
    return _block(block, memory, block)


def _block(block: Block, memory: Dependences, program: Block) -> Block:
    quotients = [s for s in block.body if isinstance(s, Let) and _quotient(s)]
    count = Counter(s.args[1] for s in quotients if isinstance(s.args[1], Var))
    shared: set[Any] = {
        d for d, n in count.items() if n >= ENOUGH and _is_away_from_zero(d, memory)
    }
    reciprocal_of: dict[Any, Any] = _of_constants(quotients, program)
    shared.update(reciprocal_of)
    new: dict[Var, Any] = {}
    body: list[Statement] = []
    for s in block.body:
        if not _quotient(s) or s.args[1] not in shared:  # type: ignore[union-attr]
            body.append(with_blocks(s, lambda b: _block(b, memory, program)))
            continue
        assert isinstance(s, Let)
        x, d = s.args
        if d not in reciprocal_of:
            reciprocal_of[d] = Var(d.type)
            body.append(Let((reciprocal_of[d],), truediv, (ONE, d), {}, s.origin))
        if isinstance(x, Literal) and x.value == 1 and s.outs[0].type == d.type:
            new[s.outs[0]] = reciprocal_of[d]
        else:
            body.append(Let(s.outs, mul, (x, reciprocal_of[d]), {}, s.origin))
    return substitute(replace(block, body=tuple(body)), new)


def _of_constants(quotients: list[Let], program: Block) -> dict[Any, Literal]:
    """The reciprocals of the constants that enough numbers are divided by: of numbers that sums and
    products are made of, as 49 / 49 is 1, and 49 * (1 / 49) is less, of which `floor` is 0."""
    by_constants = [s for s in quotients if _inexact_reciprocal(s.args[1])]
    results = [s.outs[0] for s in by_constants]
    if len(by_constants) < ENOUGH or not set(results).isdisjoint(program.results):
        return {}
    if last_digit_decides(program, results):
        return {}
    divisors: list[Any] = [s.args[1] for s in by_constants]
    return {d: Literal(1 / d.value, ONE.type) for d in divisors}


def _quotient(s: Statement) -> bool:
    """Whether it divides numbers by others of the same dtype, or by a constant."""
    if not isinstance(s, Let) or s.op is not truediv:
        return False
    out, divisor = s.outs[0].type, s.args[1]
    alike = isinstance(divisor, Literal) or out.dtype == divisor.type.dtype
    return bool(alike and out.dtype.kind == "f" and not out.weak)


def _inexact_reciprocal(a: Any) -> bool:
    """Whether it is a constant that a division by is not a product anyway, as one by 2 is."""
    if not isinstance(a, Literal) or isinstance(a.value, complex):
        return False
    value = abs(float(a.value))
    return LEAST <= value <= MOST and math.frexp(value)[0] != 0.5


def _is_away_from_zero(a: Any, memory: Dependences) -> bool:
    """Whether a number is never near zero: a constant, and something that is not negative."""
    s = memory.defs.get(a) if isinstance(a, Var) else None
    if not isinstance(s, Let):
        return isinstance(a, Literal) and not isinstance(a.value, complex) and a.value >= LEAST
    if s.op is cosh:
        return True
    if s.op is not add:
        return False
    x, y = s.args
    return (_is_away_from_zero(x, memory) and _positive(y, memory)) or (
        _is_away_from_zero(y, memory) and _positive(x, memory)
    )


def _positive(a: Any, memory: Dependences) -> bool:
    """Whether a number is known not to be negative, or is NaN."""
    s = memory.defs.get(a) if isinstance(a, Var) else None
    if not isinstance(s, Let):
        real = isinstance(a, Literal) and not isinstance(a.value, complex)
        return real and bool(a.value >= 0)
    if s.op in POSITIVE:
        return bool(s.outs[0].type.dtype.kind == "f")
    if s.op is mul and s.args[0] is s.args[1]:
        return True
    return s.op in (add, mul, truediv) and all(_positive(x, memory) for x in s.args)
