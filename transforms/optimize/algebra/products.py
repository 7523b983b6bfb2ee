"""Simplifies products and quotients: constants come first, and meet.

b = 2 * x; c = 3 * b                         becomes      c = 6 * x
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.language import Atom, Let, Literal, Var
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.ops.primitives.arithmetic import mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.constant_folding import constant, is_number
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.optimize.algebra.facts import (
    Uses,
    as_precise,
    coefficient_and_value,
    fits,
    is_float,
    is_integer,
    is_read_once,
    number,
    operand_of_negation,
    short,
)


def quotient_of_ones(s: Let, uses: Uses) -> Any:
    """(a - b) // -1 is b - a."""
    a, b = s.args
    let = defining_statement(a, sub)
    if not is_number(b, -1) or not is_integer(a):
        return None
    return neg(a) if let is None else sub(*let.args[::-1])


def constant_first(s: Let, uses: Uses) -> Any:
    a, b = s.args
    if is_number(a, -1) and is_float(b):
        return neg(b)
    if is_number(a, 1.0) and isinstance(b, Var) and fits(b, s.outs[0].type):
        return b
    if isinstance(b, Literal) and not isinstance(a, Literal) and not b.type.shape:
        return mul(b, a)
    return None


def signs_of_factors(s: Let, uses: Uses) -> Any:
    """-a * b is -(a * b), and the like of quotients."""
    a, b = s.args
    if (x := operand_of_negation(a)) is not None and is_float(*s.outs):
        return neg(s.op(x, b))
    if (y := operand_of_negation(b)) is not None and is_float(*s.outs):
        return neg(s.op(a, y))
    return None


def _meet(x: Literal, c: Literal, rest: Atom) -> bool:
    """Whether the product of two constants is no number out of range, where theirs with a third
    value need not be."""
    factors = x.value, c.value
    if any(np.ndim(v) or isinstance(v, complex | np.complexfloating) for v in factors):
        return True
    if all(isinstance(v, int) for v in factors) and rest.type.dtype.kind in "iu":
        limits = np.iinfo(rest.type.dtype)
        return bool(limits.min <= factors[0] * factors[1] <= limits.max)
    return 0 in factors or _in_range(float(factors[0]) * float(factors[1]), rest)


def _in_range(value: float, like: Atom) -> bool:
    """Whether a constant is a normal number of a dtype of floats."""
    dtype = like.type.dtype
    limits = np.finfo(dtype if dtype.kind in "fc" and not like.type.weak else np.float64)
    return float(limits.tiny) < abs(value) < float(limits.max)


def constants_together(s: Let, uses: Uses) -> Any:
    """c (d x) is (c d) x, and a (c x) is c (a x) if a is not the larger one."""
    a, b = s.args
    for x, y in ((a, b), (b, a)):
        inner = defining_statement(y, mul)
        if inner is None or not isinstance(c := inner.args[0], Literal):
            continue
        if not as_precise(s, y) or (isinstance(x, Literal) and not as_precise(s, inner.args[1])):
            continue
        if isinstance(x, Literal):
            return mul(mul(x, c), inner.args[1]) if _meet(x, c, inner.args[1]) else None
        if is_float(x, y) and y.type.shape == s.outs[0].type.shape and number(c) is not None:
            rest = inner.args[1]
            return mul(c, mul(x, rest) if y is b else mul(rest, x))
    return None


def constant_on_smaller(s: Let, uses: Uses) -> Any:
    """c (x y) is (c x) y where x is smaller than the product, and c (x / n) is (c / n) x."""
    c, product = s.args
    quotient = defining_statement(product, truediv)
    if number(c) is not None and quotient is not None and is_read_once(product, uses):
        x, n = quotient.args
        if x.type.shape and not n.type.shape and is_float(x) and _divides(n, x):
            return mul(truediv(float(number(c)), n), x)
    inner = defining_statement(product, mul)
    if number(c) is None or inner is None or not is_read_once(product, uses):
        return None
    x, y = inner.args
    for small, large in ((x, y), (y, x)):
        if isinstance(small, Literal) and isinstance(c, Literal) and not _meet(c, small, large):
            continue
        if not (is_float(small) and as_precise(s, small)):
            continue
        if large.type.shape == product.type.shape != small.type.shape:
            scaled_part = mul(c, small)
            return mul(scaled_part, large) if small is x else mul(large, scaled_part)
    return None


def _divides(n: Atom, x: Atom) -> bool:
    """Whether a number can be divided by `n`, which for Python's must not be zero, unless there is
    nothing to be multiplied then."""
    if not n.type.weak:
        return True
    if isinstance(n, Literal):
        return bool(n.value)
    let = defining_statement(n, size_value)
    terms = () if let is None else dims.terms_of(let.params["size"])
    if len(terms) != 1:
        return False
    ((factors, _),) = terms
    return set(factors) <= {f for m in x.type.shape for f in dims.symbols(m)}


def times_power(s: Let, uses: Uses) -> Any:
    """x x^k is x^(k + 1) for an integer k > 1."""
    for x, y in (s.args, s.args[::-1]):
        let = defining_statement(y, power)
        if let is None or let.args[0] is not x or not is_read_once(y, uses) or not is_float(x):
            continue
        k = number(let.args[1])
        if isinstance(k, int) and 1 < k < 9 and y.type == s.outs[0].type:
            return power(x, k + 1)
    return None


def of_fraction(s: Let, uses: Uses) -> Any:
    """(1 / n) b is b / n, and (c / n) (d e) is (c d / n) e, unless the reciprocal is there anyway.
    That of a number of Python's is not made for this alone: it may be none where it is not needed.
    """
    for a, b in (s.args, s.args[::-1]):
        quotient, product = defining_statement(a, truediv), defining_statement(b, mul)
        if quotient is None or not is_float(a, b) or a.type.dtype != b.type.dtype:
            continue
        c, n = constant(quotient.args[0]), quotient.args[1]
        if c is None or not (is_read_once(a, uses) or (a.type.weak and not quotient.outs[0].name)):
            continue
        if (d := constant(b)) is not None:
            return truediv(d * c, n)
        if product is not None and (d := constant(product.args[0])) is not None:
            return mul(truediv(d * c, n), product.args[1])
        if c == 1:
            return truediv(b, n)
    return None


def _multiplied_quotient(s: Let, uses: Uses) -> Let | None:
    """The quotient that a product c (x / d) with a number is of, which nothing else reads."""
    c, quotient = s.args
    fits_in = number(c) is not None and is_read_once(quotient, uses) and is_float(quotient)
    return defining_statement(quotient, truediv) if fits_in else None


def multiple_of_fraction(s: Let, uses: Uses) -> Any:
    """c (e / x) is (c e) / x, where c or e is a power of two."""
    c, quotient = s.args
    let = _multiplied_quotient(s, uses)
    e = number(let.args[0]) if let else None
    if let is None or e is None or not any(math.frexp(v)[0] in (0.5, -0.5) for v in (number(c), e)):
        return None
    product = number(c) * float(e)
    return truediv(product, let.args[1]) if _in_range(product, quotient) else None


def multiple_of_quotient(s: Let, uses: Uses) -> Any:
    """c (x / d) is (c / d) x, where c / d is an integer or a power of two."""
    let = _multiplied_quotient(s, uses)
    if let is None:
        return None
    x, d = let.args[0], number(let.args[1])
    if not d or not fits(x, s.outs[0].type) or not is_float(x):
        return None
    factor = number(s.args[0]) / d
    if factor == 1:
        return x
    return mul(factor, x) if math.frexp(factor)[0] in (0.5, -0.5) else None


def constant_of_quotient(s: Let, uses: Uses) -> Any:
    """c x / d is (c / d) x, and x / (d y) is (1 / d) (x / y)."""
    a, b = s.args
    e, y = coefficient_and_value(b)
    if y is not b and e and e != -1 and is_float(a, b) and number(a) is None and short(1 / e, e):
        return mul(1 / e, truediv(a, y)) if as_precise(s, b) and _in_range(1 / e, y) else None
    d, (c, x) = number(b), coefficient_and_value(a)
    if d and x is not a and c != -1 and is_float(a) and short(c / d, c, d):
        return mul(c / d, x) if as_precise(s, x) and _in_range(c / d, x) else None
    return None
