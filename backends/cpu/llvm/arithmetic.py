"""Compiles Python's operators on numbers, as Numba has them with the error model of NumPy."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir import complex_values
from tapeless.backends.cpu.llvm.ir.values import (
    BIT,
    WIDEST,
    LlvmUnsupportedError,
    Number,
    cast,
    constant,
    truth,
)
from tapeless.backends.cpu.llvm.math.composed_functions import floor_divide, remainder
from tapeless.backends.cpu.llvm.math.formula_language import intrinsic
from tapeless.backends.cpu.llvm.math.simd_calls import call_math
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import (
    BOOL,
    DOUBLE,
    INT,
    SINGLE,
    UINT,
    common,
    integer_sum_dtype,
)

FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
WHOLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
BITS = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SMALLEST = -(2**63)  # of integers
LARGEST_POWER = 64
#: Exponents for which products, quotients and square roots are quicker than a function, and lose
#: no more than one unit more; those of the first two also where they are written as floats.
SMALL_POWERS = frozenset(range(5))
DIVISORS = frozenset((-1, -2))
HALVES = frozenset((-1.5, -0.5, 0.5, 1.5, 2.5))


class ArithmeticBuilder:
    """Operators at a place of a function; `flags` are those of its sums and products, `features`
    what the CPU has, `fail` leaves the function with an error."""

    features = ""
    fail: Callable[[type, tuple[Any, ...]], None]

    def __init__(self, builder: Any, flags: tuple[str, ...], numpy_errors: bool) -> None:
        self.builder, self.flags, self.numpy_errors = builder, flags, numpy_errors

    def binary(self, op: ast.operator, a: Number, b: Number) -> Number:
        kind = type(op)
        if kind in (ast.Div, ast.FloorDiv, ast.Mod) and not (self.numpy_errors or b.known):
            raise LlvmUnsupportedError("a division that raises errors")
        if kind is ast.Pow:
            return self.power(a, b)
        if kind in (ast.LShift, ast.RShift):
            return self.shift(kind is ast.LShift, a, b)
        if kind in BITS:
            return self.bits(BITS[kind], a, b)
        dtype = self.common(a, b)
        if dtype.kind == "c":
            return self.of_complex(kind, cast(self.builder, a, dtype), cast(self.builder, b, dtype))
        if kind is ast.Div and "f" not in _kinds(a, b):
            dtype = DOUBLE
        if dtype.kind == "f" and kind in FLOATS:
            x, y = (cast(self.builder, v, dtype).value for v in (a, b))
            return Number(dtype, getattr(self.builder, FLOATS[kind])(x, y, flags=self.flags))
        if dtype.kind == "f":
            x, y = (cast(self.builder, v, dtype).value for v in (a, b))
            by = floor_divide if kind is ast.FloorDiv else remainder
            return Number(dtype, by(self.builder, x, y, self.features))
        return self.of_integers(kind, cast(self.builder, a, dtype), cast(self.builder, b, dtype))

    @staticmethod
    def common(a: Number, b: Number) -> Any:
        if _kinds(a, b) in ("bu", "ub"):
            raise LlvmUnsupportedError("booleans and unsigned integers")
        return common(a.dtype, b.dtype)

    def of_complex(self, kind: Any, a: Number, b: Number) -> Number:
        """Division by zero is an error, as in Python, whatever the model of errors."""
        function = complex_values.OPERATORS.get(kind)
        if function is None:
            raise LlvmUnsupportedError(f"{kind.__name__} of complex numbers")
        if kind is ast.Div and not b.known:
            zero = self.builder.not_(complex_values.is_nonzero(self.builder, b.value))
            with self.builder.if_then(zero, likely=False):
                self.fail(ZeroDivisionError, (_of_division_by_zero(),))
        return Number(a.dtype, function(self.builder, a.value, b.value, self.flags))

    def of_integers(self, kind: Any, a: Number, b: Number) -> Number:
        bits = a.bits + b.bits if kind is ast.Mult else max(a.bits, b.bits) + 1
        fits = a.natural and b.natural and bits <= WIDEST
        if kind in (ast.FloorDiv, ast.Mod):
            return self.floor_divide_integers(kind is ast.FloorDiv, a, b)
        if a.known is not None and b.known is not None:
            values = {ast.Add: a.known + b.known, ast.Sub: a.known - b.known}
            return constant(values.get(kind, a.known * b.known), a.dtype)
        signed = ("nsw",) if a.dtype == INT and fits else ()
        value = getattr(self.builder, WHOLE[kind])(a.value, b.value, flags=signed)
        return Number(a.dtype, value, natural=fits and kind is not ast.Sub, bits=bits)

    def floor_divide_integers(self, quotient: bool, a: Number, b: Number) -> Number:
        """Towards minus infinity; zero where the divisor is."""
        builder, zero, unit = (
            self.builder,
            ir.Constant(a.value.type, 0),
            ir.Constant(a.value.type, 1),
        )
        if a.dtype == UINT or (a.natural and b.natural):
            safe = self.guarded_divisor(builder.icmp_signed("==", b.value, zero), unit, b)
            result = (builder.udiv if quotient else builder.urem)(a.value, safe)
            natural = a.natural and b.natural
            return Number(a.dtype, self.unless_zero(b, result), natural=natural, bits=a.bits)
        minus = builder.icmp_signed("==", b.value, ir.Constant(a.value.type, -1))
        special = builder.or_(minus, builder.icmp_signed("==", b.value, zero))
        safe = self.guarded_divisor(special, unit, b)
        q, r = builder.sdiv(a.value, safe), builder.srem(a.value, safe)
        apart = builder.icmp_signed("<", builder.xor(r, safe), zero)
        low = builder.and_(builder.icmp_signed("!=", r, zero), apart)
        if quotient:
            result = builder.select(low, builder.sub(q, unit), q)
            result = builder.select(minus, builder.sub(zero, a.value), result)
        else:
            result = builder.select(low, builder.add(r, safe), r)
        return Number(a.dtype, self.unless_zero(b, result))

    def guarded_divisor(self, special: Any, instead: Any, b: Number) -> Any:
        usual = b.known is not None and b.known not in (0, -1)
        return b.value if usual else self.builder.select(special, instead, b.value)

    def unless_zero(self, b: Number, quotient: Any) -> Any:
        if b.known:
            return quotient
        zero = ir.Constant(quotient.type, 0)
        return self.builder.select(self.builder.icmp_signed("==", b.value, zero), zero, quotient)

    def power(self, a: Number, b: Number) -> Number:
        """Small powers that are written in the text by squaring, those of halves by square roots,
        others by a function."""
        n = b.known
        real = a.dtype.kind != "c"
        if real and isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= LARGEST_POWER:
            return self.whole_power(a, n)
        if "f" not in _kinds(a, b) or set("bc") & set(_kinds(a, b)):
            raise LlvmUnsupportedError("a power of integers or complex numbers")
        single = a.dtype == SINGLE and (b.dtype == SINGLE or b.dtype.kind in "iu")
        x, y = (cast(self.builder, v, SINGLE if single else DOUBLE) for v in (a, b))
        if n in HALVES:
            return Number(x.dtype, self.half_power(x.value, float(n)))
        if n in SMALL_POWERS:
            return self.whole_power(x, int(n))
        if n in DIVISORS:
            unit = cast(self.builder, constant(1), x.dtype)
            return self.whole_power(self.binary(ast.Div(), unit, x), -int(n))
        return Number(x.dtype, call_math(self.builder, "pow", [x.value, y.value], self.features))

    def whole_power(self, a: Number, n: int) -> Number:
        dtype = a.dtype if a.dtype.kind == "f" else integer_sum_dtype(a.dtype)
        square, power = cast(self.builder, a, dtype), None
        while n:
            if n & 1:
                power = square if power is None else self.binary(ast.Mult(), power, square)
            n >>= 1
            square = self.binary(ast.Mult(), square, square) if n else square
        return power or cast(self.builder, constant(1), dtype)

    def half_power(self, x: Any, n: float) -> Any:
        """x ** n for a half of an odd number, as pow has it also at -0.0 and -inf."""
        builder, kind = self.builder, x.type
        size = intrinsic(builder, "fabs", x)
        root = intrinsic(builder, "fabs", intrinsic(builder, "sqrt", x))
        power = root if n > 0 else builder.fdiv(ir.Constant(kind, 1.0), root)
        for _ in range(int(abs(n))):
            power = builder.fmul(power, size) if n > 0 else builder.fdiv(power, size)
        infinite = builder.fcmp_ordered("==", x, ir.Constant(kind, -math.inf))
        return builder.select(infinite, ir.Constant(kind, math.inf if n > 0 else 0.0), power)

    def shift(self, left: bool, a: Number, b: Number) -> Number:
        if not {a.dtype.kind, b.dtype.kind} <= {"i", "u"}:
            raise LlvmUnsupportedError("a shift of what is no integer")
        dtype, builder = integer_sum_dtype(a.dtype), self.builder
        x, y = (cast(builder, v, dtype).value for v in (a, b))
        right = builder.ashr if dtype == INT else builder.lshr
        return Number(dtype, (builder.shl if left else right)(x, y))

    def bits(self, name: str, a: Number, b: Number) -> Number:
        kinds = _kinds(a, b)
        if set("fc") & set(kinds):
            raise LlvmUnsupportedError("bits of floats")
        dtype = BOOL if kinds == "bb" else self.common(a, b)
        x, y = (cast(self.builder, v, dtype).value for v in (a, b))
        return Number(dtype, getattr(self.builder, name)(x, y))

    def unary(self, op: ast.unaryop, x: Number) -> Number:
        match op:
            case ast.Not():
                return Number(BOOL, self.builder.xor(truth(self.builder, x), BIT(1)))
            case ast.USub() if x.known is not None and x.dtype in (INT, DOUBLE):
                return constant(-x.known, x.dtype)
            case ast.USub() if x.dtype == UINT and x.known == -SMALLEST:
                return constant(SMALLEST, INT)
            case ast.USub() if x.dtype.kind == "f":
                return Number(x.dtype, self.builder.fneg(x.value, flags=self.flags))
            case ast.USub() if x.dtype.kind == "c":
                return Number(x.dtype, complex_values.negate(self.builder, x.value, self.flags))
            case ast.USub() if x.dtype.kind == "i":
                return self.binary(ast.Sub(), constant(0), x)
            case ast.USub() if x.dtype.kind == "u":
                negative = self.of_integers(ast.Sub, constant(0, UINT), cast(self.builder, x, UINT))
                return cast(self.builder, negative, x.dtype)
            case ast.UAdd() if x.dtype.kind != "b":
                return x
            case ast.Invert() if x.dtype.kind in "iu":
                operand = cast(self.builder, x, integer_sum_dtype(x.dtype))
                return Number(operand.dtype, self.builder.not_(operand.value))
        raise LlvmUnsupportedError(f"{type(op).__name__} of {x.dtype}")

    def compare(self, op: ast.cmpop, a: Number, b: Number) -> Number:
        sign = ORDER.get(type(op))
        if sign is None:
            raise LlvmUnsupportedError(type(op).__name__)
        dtype = self.compared_as(a, b)
        x, y = (cast(self.builder, v, dtype).value for v in (a, b))
        builder = self.builder
        if dtype.kind == "c":
            if sign not in ("==", "!="):
                raise LlvmUnsupportedError("an order of complex numbers")
            return Number(BOOL, complex_values.equal(builder, sign, x, y, self.flags))
        if dtype.kind == "f":
            by = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
            return Number(BOOL, by(sign, x, y, flags=self.flags))
        by = builder.icmp_unsigned if dtype == UINT else builder.icmp_signed
        result = by(sign, x, y)
        for v, value, smaller in ((a, x, "<"), (b, y, ">")):
            if dtype == UINT and v.dtype.kind == "i" and not v.natural:
                negative = builder.icmp_signed("<", value, ir.Constant(value.type, 0))
                result_if_negative = sign in (smaller, f"{smaller}=", "!=")
                result = builder.select(negative, BIT(int(result_if_negative)), result)
        return Number(BOOL, result)

    def compared_as(self, a: Number, b: Number) -> Any:
        if {a.dtype.kind, b.dtype.kind} == {"i", "u"}:
            return UINT
        return self.common(a, b)


def _kinds(a: Number, b: Number) -> str:
    return a.dtype.kind + b.dtype.kind


def _of_division_by_zero() -> str:
    """What Python says, which differs by its version."""
    try:
        return str(1j / complex(0))
    except ZeroDivisionError as error:
        return str(error)
