"""Defines sums, products and quotients of elements, simplified where a number or a sign allows
it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import broadcast, defining_statement
from tapeless.transforms.core.language import ARITHMETIC, Atom
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives import scalar_forms
from tapeless.transforms.ops.primitives.comparisons_and_rounding import trunc
from tapeless.transforms.ops.primitives.constant_folding import (
    constant,
    fold,
    is_number,
    keeps_type,
)
from tapeless.transforms.ops.primitives.make_elementwise import Over, Times, as_given, elementwise
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, broadcast_to


def _simplify_add(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 0) and keeps_type(a, b):
        return a
    if is_number(a, 0) and keeps_type(b, a):
        return b
    for x, y in ((a, b), (b, a)):
        if (positive := _without_sign(y)) is not None:
            return sub(x, positive)
    return fold(lambda x, y: x + y, args)


def _without_sign(a: Atom) -> Any:
    """x / y for -x / y, else None."""
    quotient = defining_statement(a)
    if quotient is None or quotient.op is not truediv or a.type.dtype.kind != "f":
        return None
    over = defining_statement(quotient.args[0])
    if over is not None and over.op is neg and over.outs[0].type.dtype.kind == "f":
        return truediv(over.args[0], quotient.args[1])
    return None


def _simplify_sub(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 0) and keeps_type(a, b):
        return a
    if (positive := _without_sign(b)) is not None:
        return add(a, positive)
    return fold(lambda x, y: x - y, args)


def _simplify_mul(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 1) and keeps_type(a, b):
        return a
    if is_number(a, 1) and keeps_type(b, a):
        return b
    if (
        fold(lambda x, y: x * y, args) is not None
        or not a.type.dtype.kind == "f" == b.type.dtype.kind
    ):
        return fold(lambda x, y: x * y, args)
    spread = _spread_of_ones(a, b)
    return _spread_of_ones(b, a) if spread is None else spread


def _spread_of_ones(a: Atom, b: Atom) -> Any:
    """a * b for ones a that are spread over axes: b, spread over them."""
    let = defining_statement(a, broadcast_to)
    if let is None or not is_number(let.args[0], 1) or a.type.dtype != b.type.dtype:
        return None
    return broadcast_to(b, shape=broadcast(a.type.shape, b.type.shape))


def _simplify_div(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 1) and keeps_type(a, b) and a.type.dtype.kind in "fc":
        return a
    c, product = constant(a), defining_statement(b)
    if c is not None and product is not None and product.op is mul and b.type.dtype.kind == "f":
        d = constant(product.args[0])
        if d and len(repr(c / d)) <= len("0.125"):
            return truediv(c / d, product.args[1])
    return fold(lambda x, y: x / y, args)


def _simplify_neg(args: Atoms, params: Params) -> Any:
    quotient = defining_statement(args[0])
    if quotient is not None and quotient.op is truediv:
        c = constant(quotient.args[0])
        if c is not None:
            return truediv(-c, quotient.args[1])
    return fold(lambda x: -x, args)


def _mul_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return tuple(mul(ct, args[1 - k]) if linear[k] else None for k in (0, 1))


def _quotient_of_sizes(n: Any, m: Any) -> Any:
    return None if m == 0 else n // m


def _remainder_of_sizes(n: Any, m: Any) -> Any:
    return None if m == 0 else n % m


add = elementwise(
    np.add,
    1,
    1,
    infix="+",
    scalar=scalar_forms.infix("+", scalar_forms.NUMBERS, of_complex="same"),
    simplify=_simplify_add,
    transpose=lambda ct, args, linear, params: (ct, ct),
    of_sizes=operator.add,
    finite="always",
    speculative=True,
    word="total",
)
sub = elementwise(
    np.subtract,
    1,
    -1,
    infix="-",
    scalar=scalar_forms.infix("-", of_complex="same"),
    name="sub",
    simplify=_simplify_sub,
    transpose=lambda ct, args, linear, params: (ct, neg(ct)),
    of_sizes=operator.sub,
    finite="always",
    speculative=True,
    word="difference",
)
neg: Op = elementwise(
    np.negative,
    -1,
    source="-{0}",
    operator=True,
    name="neg",
    scalar=scalar_forms.NEGATION,
    simplify=_simplify_neg,
    transpose=lambda ct, args, linear, params: (neg(ct),),
    of_sizes=operator.neg,
    finite="always",
    speculative=True,
)
mul = elementwise(
    np.multiply,
    lambda x, y, z: y,
    lambda x, y, z: x,
    infix="*",
    scalar=scalar_forms.infix("*", scalar_forms.NUMBERS, of_complex="same"),
    name="mul",
    operands=as_given,
    simplify=_simplify_mul,
    transpose=_mul_transpose,
    of_sizes=operator.mul,
    finite="always",
    speculative=True,
    word="product",
)
truediv: Op = elementwise(
    np.divide,
    lambda x, y, z: Over(y),
    lambda x, y, z: neg(mul(z, z)) if is_number(x, 1) else Times(neg(z), y),
    infix="/",
    scalar=scalar_forms.QUOTIENT,
    name="truediv",
    operands=as_given,
    simplify=_simplify_div,
    transpose=lambda ct, args, linear, params: (truediv(ct, args[1]), None),
    word="ratio",
)
floordiv = elementwise(
    np.floor_divide,
    None,
    None,
    infix="//",
    scalar=scalar_forms.infix("//"),
    name="floordiv",
    simplify=lambda args, params: fold(lambda x, y: x // y, args),
    of_sizes=_quotient_of_sizes,
    word="quotient",
)
mod = elementwise(
    np.remainder,
    1,
    lambda x, y, z: -floordiv(x, y),
    infix="%",
    scalar=scalar_forms.infix("%"),
    name="mod",
    operands=as_given,
    simplify=lambda args, params: fold(lambda x, y: x % y, args),
    of_sizes=_remainder_of_sizes,
)
fmod = elementwise(
    np.fmod,
    1,
    lambda x, y, z: -trunc(x / y),
    operands=as_given,
    scalar=scalar_forms.of_numpy("fmod", 2),
)
positive = elementwise(
    np.positive,
    1,
    source="+{0}",
    operator=True,
    scalar=scalar_forms.SAME,
    finite="always",
    speculative=True,
)
ARITHMETIC.update(add=add, sub=sub, mul=mul, truediv=truediv, neg=neg)
