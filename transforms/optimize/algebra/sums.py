"""Simplifies sums and differences.

a = -x; b = y + a                            becomes      b = y - x
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.language import Atom, Let, Literal
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_and, logical_or
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.optimize.algebra.facts import (
    Uses,
    as_written,
    coefficient_and_value,
    fits,
    is_float,
    is_integer,
    is_read_once,
    is_zeros,
    number,
    operand_of_negation,
    short,
)


def of_truths(s: Let, uses: Uses) -> Any:
    """Sums and products of two truth values of NumPy's are truth values: in emitted code branches
    may give those of Python's, of which they would be integers."""
    t = s.outs[0].type
    if t.dtype.kind != "b" or t.shape or t.weak or s.op not in (add, mul):
        return None
    return (logical_or if s.op is add else logical_and)(*s.args)


def plus_zeros(s: Let, uses: Uses) -> Any:
    a, b = s.args
    if is_zeros(b) and fits(a, s.outs[0].type):
        return a
    if is_zeros(a) and fits(b, s.outs[0].type):
        return b if s.op is add else neg(b)
    return None


def chosen_apart(s: Let, uses: Uses) -> Any:
    """where(c, a, 0) + where(c, 0, b) is where(c, a, b), also with other terms in between."""
    x, y = s.args
    if (whole := _join_selections(s.op, x, y, uses)) is not None:
        return whole
    let = defining_statement(x, add, sub)
    if let is None or not is_read_once(x, uses):
        return None
    p, q = let.args
    if (part := _join_selections(add if let.op is s.op else sub, q, y, uses)) is not None:
        return let.op(p, part)
    part = _join_selections(s.op, p, y, uses) if let.op is add else None
    return None if part is None else add(part, q)


def _join_selections(op: Op, x: Atom, y: Atom, uses: Uses) -> Any:
    """x + y or x - y, if they are chosen by one test and only one of them is not zero."""
    a, b = defining_statement(x, select), defining_statement(y, select)
    if a is None or b is None or a.args[0] is not b.args[0] or x.type != y.type:
        return None
    if not (is_read_once(x, uses) and is_read_once(y, uses)):
        return None
    for k in (1, 2):
        if is_number(a.args[k], 0) and is_number(b.args[3 - k], 0):
            (left, right) = (a.args[3 - k], b.args[k])
            right = right if op is add else neg(right)
            chosen_term = select(a.args[0], *((right, left) if k == 1 else (left, right)))
            return chosen_term if chosen_term.type == x.type else None
    return None


def signs_of_terms(s: Let, uses: Uses) -> Any:
    """a + -b is a - b, also where -b hides in a constant."""
    a, b = s.args
    opposite = sub if s.op is add else add
    for x, y in ((a, b), (b, a)) if s.op is add else ((a, b),):
        if (positive := operand_of_negation(y)) is not None:
            return opposite(x, positive)
        c, factor = coefficient_and_value(y)
        if factor is not y and c < 0 and is_float(y):
            return opposite(x, mul(-c, factor))
    if s.op is sub and (positive := operand_of_negation(a)) is not None and is_read_once(a, uses):
        return neg(add(positive, b))
    return None


def multiples(s: Let, uses: Uses) -> Any:
    """c x + d x is (c + d) x, of numbers with one sign: 3 x - 2 x may be meant to round."""
    (c, x), (d, y) = map(coefficient_and_value, s.args)
    if x is not y or isinstance(x, Literal) or not is_float(*s.args) or (c, d) == (1, -1):
        return None
    d = d if s.op is add else -d
    if c * d <= 0 or not short(c + d, c, d) or not fits(x, s.outs[0].type):
        return None
    return mul(c + d, x)


def multiples_in_a_row(s: Let, uses: Uses) -> Any:
    """(a + c x) + d x is a + (c + d) x."""
    total, last = s.args
    before = defining_statement(total, add, sub)
    if before is None or not is_read_once(total, uses) or not is_float(total, last):
        return None
    a, b = before.args
    (c, x), (d, y) = coefficient_and_value(b), coefficient_and_value(last)
    if x is not y or isinstance(x, Literal) or not fits(a, s.outs[0].type):
        return None
    c, d = c if before.op is add else -c, d if s.op is add else -d
    return add(a, mul(c + d, x)) if c * d > 0 and short(c + d, c, d) else None


def constants_in_a_row(s: Let, uses: Uses) -> Any:
    """(x + 1) + 2 is x + 3: of numbers with one sign, so that nothing cancels, or of integers."""
    for rest, last in (s.args, s.args[::-1]) if s.op is add else (s.args,):
        let, d = defining_statement(rest, add, sub), number(last)
        if let is None or d is None or not (is_read_once(rest, uses) or is_integer(rest)):
            continue
        for x, c in (let.args, let.args[::-1]) if let.op is add else (let.args,):
            if (c := number(c)) is None or not _same_kind(s, x, c, d):
                continue
            total = (c if let.op is add else -c) + (d if s.op is add else -d)
            small = c == int(c) and d == int(d) and abs(total) < 100
            if is_integer(x) or (let.op is s.op and c * d > 0 and small):
                return add(x, total) if total > 0 else sub(x, -total) if total else x
    return None


def _same_kind(s: Let, x: Atom, *numbers: Any) -> bool:
    """Whether `x` with numbers added has the type of a result."""
    whole = all(isinstance(n, int) for n in numbers)
    rounded = x.type.dtype.kind == "f" and not as_written.get()
    return x.type == s.outs[0].type and (rounded or (is_integer(x) and whole))
