"""Defines products and quotients with a strong zero: 0 times anything is 0, also times inf and nan.

A tangent or cotangent that a choice made exactly zero is scaled by these where the slope may be
infinite. The second factor is the slope; the test of the first is no step, so both have slopes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import mul, neg, truediv
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.make_elementwise import elementwise
from tapeless.transforms.ops.primitives.shapes import Atoms, Params


def _product_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    t, c = primals
    by_t = None if tangents[0] is None else strong_mul(tangents[0], c)
    by_c = None if tangents[1] is None else strong_mul(t, tangents[1])
    return (_total(by_t, by_c, outs[0]),)


def _quotient_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    _, c = primals
    by_t = None if tangents[0] is None else strong_div(tangents[0], c)
    slope = strong_div(neg(outs[0]), c)
    by_c = None if tangents[1] is None else strong_mul(slope, tangents[1])
    return (_total(by_t, by_c, outs[0]),)


def _total(a: Any, b: Any, out: Var) -> Any:
    """The tangent of both operands."""
    total = b if a is None else a if b is None else a + b
    return None if total is None else conform(total, out.type)


def _product_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    """The factor that is tested is the cotangent, or where it is the coefficient, that one."""
    by_t = strong_mul(ct, args[1]) if linear[0] else None
    return by_t, strong_mul(args[0], ct) if linear[1] else None


def _both_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    a, b = primals
    by_a = None if tangents[0] is None else strong_both(tangents[0], b)
    by_b = None if tangents[1] is None else strong_both(tangents[1], a)
    return (_total(by_a, by_b, outs[0]),)


def _both_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return tuple(strong_both(ct, args[1 - k]) if linear[k] else None for k in (0, 1))


def _strong(ufunc: np.ufunc, plain: Op, name: str, jvp: Any, transpose: Any) -> Op:
    op = elementwise(
        ufunc,
        1,
        1,
        name=name,
        transpose=transpose,
        source=f"np.where({{0}} != 0, {{0}} {'*' if plain is mul else '/'} {{1}}, 0.0)",
        operator=True,
    )
    op.jvp = jvp
    return op


#: t * c, and 0 where t is 0.
strong_mul: Op = _strong(np.multiply, mul, "strong_mul", _product_jvp, _product_transpose)
#: t / c, and 0 where t is 0.
strong_div: Op = _strong(
    np.divide,
    truediv,
    "strong_div",
    _quotient_jvp,
    lambda ct, args, linear, params: (strong_div(ct, args[1]), None),
)
#: a * b, and 0 where a or b is 0.
strong_both: Op = _strong(np.multiply, mul, "strong_both", _both_jvp, _both_transpose)
PLAIN: dict[Op, Op] = {strong_mul: mul, strong_div: truediv, strong_both: mul}


def by_strong(t: Atom, c: Atom) -> Any:
    """c * t, and 0 where c is 0."""
    return strong_mul(c, t)


Scaling = Callable[[Atom, Atom], Any]
#: What scales a tangent or cotangent, and the same with a strong zero in the tangent.
STRONG: dict[Scaling, Op] = {mul: strong_mul, truediv: strong_div, by_strong: strong_both}


def scaling(op: Op, k: int) -> tuple[Scaling, int] | None:
    """How an operation scales its argument k, and the argument that it scales it by; None if it
    does something else, or keeps an exact zero as it is."""
    if op is truediv:
        return (truediv, 1) if k == 0 else None
    if op is strong_mul and k == 1:
        return by_strong, 0
    return (mul, 1 - k) if op is mul else None
