"""Prints operators of Python on numbers as C: they compute what Numba does by NumPy's error model.

a // b, of int64      becomes      floor_div(a, b)
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.c_text.dialect import is_c99
from tapeless.transforms.c_text.values import (
    AND,
    BOTH,
    CHOICE,
    EQUALITY,
    OR,
    ORDER,
    POSTFIX,
    PRODUCT,
    SHIFT,
    SUM,
    UNARY,
    XOR,
    CValue,
    NotPrintedError,
    cast,
    constant,
    meet,
    of_template,
    truth,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import (
    BOOL,
    DOUBLE,
    INT,
    SINGLE,
    UINT,
    Dtype,
    common,
    common_dtype,
    integer_sum_dtype,
)

SIGNS: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("/", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.BitAnd: ("&", AND),
    ast.BitXor: ("^", XOR),
    ast.BitOr: ("|", OR),
    ast.LShift: ("<<", SHIFT),
    ast.RShift: (">>", SHIFT),
}
ORDERS: dict[type[ast.cmpop], tuple[str, int]] = {
    ast.Lt: ("<", ORDER),
    ast.LtE: ("<=", ORDER),
    ast.Gt: (">", ORDER),
    ast.GtE: (">=", ORDER),
    ast.Eq: ("==", EQUALITY),
    ast.NotEq: ("!=", EQUALITY),
}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
WORD = np.dtype(np.uint32)
KNOWN: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
#: Products and quotients of C differ from NumPy's where numbers are infinite.
OF_COMPLEX: dict[type[ast.operator], str] = {ast.Mult: "times", ast.Div: "over"}
BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
SHIFTS = (ast.LShift, ast.RShift)
LARGEST_POWER = 64  # that is made of products
HALVES = frozenset((-1.5, -0.5, 0.5, 1.5, 2.5))
SMALL_POWERS, DIVISORS = frozenset(range(5)), frozenset((-1, -2))
UNWRITTEN = {"b": "booleans", "f": "floats", "c": "complex numbers"}


def binary(op: ast.operator, a: CValue, b: CValue) -> CValue:
    kinds = a.dtype.kind + b.dtype.kind
    if isinstance(op, ast.Pow):
        return power(a, b)
    if isinstance(op, SHIFTS):
        return shift(op, a, b)
    if isinstance(op, BITS):
        return bits(op, a, b)
    if type(op) not in SIGNS:
        raise NotPrintedError(f"the operator {type(op).__name__}")
    dtype = DOUBLE if isinstance(op, ast.Div) and not set(kinds) & set("fc") else _common(a, b)
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        return floor_divide(op, a, b, dtype)
    if a.known is not None and b.known is not None and dtype == INT:
        folded = {ast.Add: a.known + b.known, ast.Sub: a.known - b.known}
        return constant(folded.get(type(op), a.known * b.known), INT)
    if isinstance(op, ast.Add) and dtype.kind in "iu":
        for x, zero in ((a, b), (b, a)):
            if zero.known == 0 and x.dtype == dtype:
                return x
    natural = a.natural and b.natural and dtype == INT and not isinstance(op, ast.Sub)
    return _infix(op, *meet(a, b, dtype), dtype, natural)


def _common(a: CValue, b: CValue) -> Dtype:
    if {a.dtype.kind, b.dtype.kind} == {"b", "u"}:
        raise NotPrintedError("arithmetic with booleans and unsigned integers")
    return common(a.dtype, b.dtype)


def _infix(op: ast.operator, a: CValue, b: CValue, dtype: Dtype, natural: bool = False) -> CValue:
    """An operator of C."""
    if isinstance(op, (ast.Add, ast.Sub)) and _is_negative(b):  # a + -1
        op = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
        b = constant(-b.known, b.dtype)  # type: ignore[operator]  # it is known
    if dtype.kind == "c" and is_c99() and type(op) in OF_COMPLEX:
        return CValue(of_template(OF_COMPLEX[type(op)], dtype, f"{a.text}, {b.text}"), dtype)
    sign, level = SIGNS[type(op)]
    whole_sum = isinstance(op, ast.Add) and a.dtype == b.dtype == dtype and dtype in (INT, UINT)
    return CValue(
        f"{a.operand(level)} {sign} {b.operand(level - (not whole_sum))}",
        dtype,
        level,
        natural,
    )


def _is_negative(x: CValue) -> bool:
    """Whether a number is written with a sign that an operator can take."""
    return x.known is not None and x.level == UNARY and x.text.startswith("-") and x.known < 0


def floor_divide(op: ast.FloorDiv | ast.Mod, a: CValue, b: CValue, dtype: Dtype) -> CValue:
    """Towards minus infinity; of integers zero where the divisor is."""
    if dtype.kind == "c":
        raise NotPrintedError("a remainder of complex numbers")
    natural = dtype == UINT or (a.natural and b.natural)
    if dtype.kind != "f" and natural and b.known:
        return _infix(op, *meet(a, b, dtype), dtype, True)
    x, y = cast(a, dtype), cast(b, dtype)
    name = "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
    if dtype.kind == "f":
        return CValue(of_template(f"{name}_of_floats", dtype, f"{x.text}, {y.text}"), dtype)
    name += "_of_unsigned" * (dtype.kind == "u")
    return CValue(f"{name}({x.text}, {y.text})", dtype, natural=natural)


def power(a: CValue, b: CValue) -> CValue:
    """Small powers that are written in the text by squaring, those of halves by square roots,
    others by a function."""
    n, kinds = b.known, a.dtype.kind + b.dtype.kind
    if isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= LARGEST_POWER:
        return whole_power(a, n)
    if "c" in kinds or "f" not in kinds or "b" in kinds:
        raise NotPrintedError("a power of integers or complex numbers that is not known before")
    single = a.dtype == SINGLE and (b.dtype == SINGLE or b.dtype.kind in "iu")
    x, y = (cast(v, SINGLE if single else DOUBLE) for v in (a, b))
    if n in HALVES:
        return CValue(of_template("power_of_halves", x.dtype, x.text, int(2 * n)), x.dtype)
    if n in SMALL_POWERS:
        return whole_power(x, int(n))
    if n in DIVISORS:
        return whole_power(binary(ast.Div(), constant(1, x.dtype), x), -int(n))
    return CValue(f"{'powf' if single else 'pow'}({x.text}, {y.text})", x.dtype)


def whole_power(a: CValue, n: int) -> CValue:
    dtype = a.dtype if a.dtype.kind in "fc" else integer_sum_dtype(a.dtype)
    x = cast(a, dtype)
    if n == 0:
        return cast(constant(1), dtype)
    if n == 1:
        return x
    if dtype.kind == "c" and is_c99():
        half = binary(ast.Mult(), *[whole_power(x, n // 2)] * 2)
        return binary(ast.Mult(), half, x) if n % 2 else half
    if n <= 3 and x.is_plain:
        return CValue(" * ".join([x.operand(UNARY)] * n), dtype, PRODUCT, x.natural)
    return CValue(of_template("power", dtype, x.text, n), dtype, natural=x.natural)


def shift(op: ast.operator, a: CValue, b: CValue) -> CValue:
    if not {a.dtype.kind, b.dtype.kind} <= {"i", "u"}:
        raise NotPrintedError("a shift of what is no integer")
    return _infix(op, cast(a, integer_sum_dtype(a.dtype)), b, integer_sum_dtype(a.dtype))


def wrapping(op: ast.operator, a: CValue, b: CValue) -> CValue | None:
    """An operator of two integers of 32 bits without a sign, of which the last 32 bits are asked
    for; None where more are needed for them."""
    if a.dtype != WORD:
        return None
    if isinstance(op, SHIFTS):
        few = b.known is not None and 0 <= b.known < 8 * WORD.itemsize
        return _infix(op, a, b, WORD, True) if few else None
    if b.dtype != WORD or not isinstance(op, (ast.Add, ast.Sub, ast.Mult, *BITS)):
        return None
    if isinstance(op, BITS):
        return _bits(op, a, b, WORD, True)
    return _infix(op, a, b, WORD, True)


def bits(op: ast.operator, a: CValue, b: CValue) -> CValue:
    kinds = a.dtype.kind + b.dtype.kind
    if set(kinds) & set("fc"):
        raise NotPrintedError("bits of floats")
    dtype = BOOL if kinds == "bb" else _common(a, b)
    x, y = (a, b) if dtype == BOOL else meet(a, b, dtype)
    return _bits(op, x, y, dtype, a.natural and b.natural)


def _bits(op: ast.operator, a: CValue, b: CValue, dtype: Dtype, natural: bool) -> CValue:
    """&, | or ^, whose operands are in brackets unless they are the same operator."""
    sign, level = SIGNS[type(op)]
    first = a.text if a.level == level else a.operand(UNARY)
    return CValue(f"{first} {sign} {b.operand(UNARY)}", dtype, level, natural)


def unary(op: ast.unaryop, x: CValue) -> CValue:
    match op:
        case ast.Not():
            return CValue(f"!{truth(x).operand(UNARY)}", BOOL, UNARY)
        case ast.USub() if x.known is not None and x.dtype in (INT, DOUBLE):
            return constant(-x.known, x.dtype)
        case ast.USub() if x.dtype == UINT and x.known == -np.iinfo(INT).min:
            return constant(int(np.iinfo(INT).min), INT)
        case ast.USub() if x.dtype.kind in "fc":
            return CValue(f"-{x.operand(POSTFIX)}", x.dtype, UNARY)
        case ast.USub() if x.dtype.kind == "i":
            return CValue(f"-{cast(x, INT).operand(POSTFIX)}", INT, UNARY)
        case ast.UAdd() if x.dtype.kind != "b":
            return x
        case ast.Invert() if x.dtype.kind in "iu":
            wide = cast(x, integer_sum_dtype(x.dtype))
            return CValue(f"~{wide.operand(POSTFIX)}", wide.dtype, UNARY)
    raise NotPrintedError(f"the operator {type(op).__name__} of {x.dtype.name}")


def compare(op: ast.cmpop, a: CValue, b: CValue) -> CValue:
    if type(op) not in ORDERS:
        raise NotPrintedError(f"the comparison {type(op).__name__}")
    sign, level = ORDERS[type(op)]
    kinds = {a.dtype.kind, b.dtype.kind}
    if a.known is not None and b.known is not None and kinds == {"i"}:
        return constant(KNOWN[type(op)](a.known, b.known))
    if (a.text, a.dtype) == (b.text, b.dtype) and kinds <= set("iub"):  # a test for nan, say
        return constant(KNOWN[type(op)](0, 0))
    if "c" in kinds:
        if level != EQUALITY:
            raise NotPrintedError("an order of complex numbers")
        a, b = (cast(x, common(a.dtype, b.dtype)) for x in (a, b))
    elif kinds == {"i", "u"} and UINT in (a.dtype, b.dtype):
        return _with_unsigned(sign, level, a, b)
    elif not kinds <= set("bu") or len(kinds) > 1:
        a, b = _as_compared(a, b, INT if kinds <= set("biu") else common(a.dtype, b.dtype))
    return CValue(f"{a.operand(SHIFT)} {sign} {b.operand(SHIFT)}", BOOL, level)


def opposite(op: ast.cmpop, a: CValue, b: CValue) -> CValue:
    """Whether a comparison of integers does not hold: k < -n, of `-n <= k`."""
    other = OPPOSITE[type(op)]
    if a.text[0] in "-0123456789" and other in MIRRORED:
        return compare(MIRRORED[other](), b, a)
    return compare(other(), a, b)


def _as_compared(a: CValue, b: CValue, dtype: Dtype) -> tuple[CValue, CValue]:
    """As C compares them: integers that it makes both signed ones keep their values."""
    a, b = (cast(x, dtype) if x.known is not None else x for x in (a, b))
    signed = all(x.dtype.kind in "ib" or x.dtype.itemsize < 4 for x in (a, b))
    return (a, b) if dtype == INT and signed else meet(a, b, dtype)


def _with_unsigned(sign: str, level: int, a: CValue, b: CValue) -> CValue:
    """Of a signed and an unsigned integer: a negative one is below all others."""
    signed, smaller = (a, "<") if a.dtype.kind == "i" else (b, ">")
    x, y = (cast(v, UINT) for v in (a, b))
    text = f"{x.operand(SHIFT)} {sign} {y.operand(SHIFT)}"
    if signed.natural:
        return CValue(text, BOOL, level)
    if sign in (smaller, f"{smaller}=", "!="):
        return CValue(f"{signed.operand(SHIFT)} < 0 || {text}", BOOL, BOTH + 1)
    return CValue(f"{signed.operand(SHIFT)} >= 0 && {text}", BOOL, BOTH)


def unified_dtype(a: Dtype, b: Dtype) -> Dtype:
    """The dtype of what is one or the other."""
    dtype = common_dtype(a, b)
    if dtype is None and "c" in a.kind + b.kind:
        return common(a, b)
    if dtype is None and a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    if dtype is None and "u" not in a.kind + b.kind:
        return common(a, b)
    if dtype is None:
        raise NotPrintedError(f"{a.name} and {b.name} in one variable")
    return dtype


def select(test: CValue, a: CValue, b: CValue) -> CValue:
    """One of two numbers."""
    dtype = unified_dtype(a.dtype, b.dtype)
    x, y = cast(a, dtype), cast(b, dtype)
    text = f"{truth(test).operand(CHOICE - 1)} ? {x.operand(CHOICE - 1)} : {y.operand(CHOICE)}"
    return CValue(text, dtype, CHOICE, a.natural and b.natural and dtype == INT)


def extreme(name: str, args: list[CValue]) -> CValue:
    """max or min of Python: of each pair the second, if it is the larger or smaller one."""
    best, *others = args
    for other in others:
        dtype = common_dtype(best.dtype, other.dtype)
        if dtype is None or dtype.kind == "u" or dtype.itemsize < 4:
            raise NotPrintedError(f"{name} of {best.dtype.name} and {other.dtype.name}")
        natural = (any if name == "max" else all)((best.natural, other.natural))
        x, y = cast(best, dtype), cast(other, dtype)
        if x.is_plain and y.is_plain:
            sign = ">" if name == "max" else "<"
            best = select(
                CValue(f"{y.operand(SHIFT)} {sign} {x.operand(SHIFT)}", BOOL, ORDER), y, x
            )
        else:
            function = "larger" if name == "max" else "smaller"
            best = CValue(of_template(function, dtype, f"{x.text}, {y.text}"), dtype)
        best = CValue(best.text, dtype, best.level, natural and dtype == INT)
    return best
