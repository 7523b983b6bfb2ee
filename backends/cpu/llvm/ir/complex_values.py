"""Computes with complex numbers in LLVM code: a register holds a pair of floats, memory the one
behind the other.

z * w      becomes      (a * c - b * d, a * d + b * c), z = a + bi, w = c + di
"""

from __future__ import annotations

import ast
from typing import Any

from llvmlite import ir


def pair_type(number: Any) -> Any:
    """The type of a pair of floats."""
    return ir.LiteralStructType([number, number])


def parts(builder: Any, z: Any) -> tuple[Any, Any]:
    """The real and the imaginary part."""
    return builder.extract_value(z, 0), builder.extract_value(z, 1)


def make_complex(builder: Any, real: Any, imag: Any) -> Any:
    """The number with these parts."""
    empty = ir.Constant(pair_type(real.type), ir.Undefined)
    return builder.insert_value(builder.insert_value(empty, real, 0), imag, 1)


def is_pair(kind: Any) -> bool:
    return isinstance(kind, ir.LiteralStructType)


# -- memory


def load(builder: Any, place: Any, align: int) -> Any:
    real, imag = (builder.load(at, align=align) for at in _places(builder, place))
    return make_complex(builder, real, imag)


def store(builder: Any, z: Any, place: Any, align: int) -> None:
    for x, at in zip(parts(builder, z), _places(builder, place), strict=True):
        builder.store(x, at, align=align)


def _places(builder: Any, place: Any) -> list[Any]:
    whole = ir.IntType(32)
    return [builder.gep(place, [whole(0), whole(k)], inbounds=True) for k in range(2)]


# -- operators


def is_nonzero(builder: Any, z: Any) -> Any:
    return builder.or_(*(builder.fcmp_unordered("!=", x, x.type(0.0)) for x in parts(builder, z)))


def equal(builder: Any, sign: str, z: Any, w: Any, flags: tuple[str, ...]) -> Any:
    """Whether two numbers are the same (==) or not (!=)."""
    pairs = zip(parts(builder, z), parts(builder, w), strict=True)
    if sign == "==":
        return builder.and_(*(builder.fcmp_ordered("==", x, y, flags=flags) for x, y in pairs))
    return builder.or_(*(builder.fcmp_unordered("!=", x, y, flags=flags) for x, y in pairs))


def negate(builder: Any, z: Any, flags: tuple[str, ...]) -> Any:
    return make_complex(builder, *(builder.fneg(x, flags=flags) for x in parts(builder, z)))


def conjugate(builder: Any, z: Any) -> Any:
    real, imag = parts(builder, z)
    return make_complex(builder, real, builder.fneg(imag))


def add(builder: Any, z: Any, w: Any, flags: tuple[str, ...]) -> Any:
    pairs = zip(parts(builder, z), parts(builder, w), strict=True)
    return make_complex(builder, *(builder.fadd(x, y, flags=flags) for x, y in pairs))


def subtract(builder: Any, z: Any, w: Any, flags: tuple[str, ...]) -> Any:
    pairs = zip(parts(builder, z), parts(builder, w), strict=True)
    return make_complex(builder, *(builder.fsub(x, y, flags=flags) for x, y in pairs))


def multiply(builder: Any, z: Any, w: Any, flags: tuple[str, ...]) -> Any:
    (a, b), (c, d) = parts(builder, z), parts(builder, w)
    ac, bd, ad, bc = (builder.fmul(x, y, flags=flags) for x, y in ((a, c), (b, d), (a, d), (b, c)))
    return make_complex(
        builder, builder.fsub(ac, bd, flags=flags), builder.fadd(ad, bc, flags=flags)
    )


def divide(builder: Any, z: Any, w: Any, flags: tuple[str, ...]) -> Any:
    """The quotient by a number that is not zero. Smith's method (Communications of the ACM 5:435,
    1962), as NumPy: its larger part divides, so that no square overflows."""
    (a, b), (c, d) = parts(builder, z), parts(builder, w)
    sizes = [_size(builder, x) for x in (c, d)]
    turned = builder.fcmp_ordered("<", *sizes)
    larger, smaller = builder.select(turned, d, c), builder.select(turned, c, d)
    first, second = builder.select(turned, b, a), builder.select(turned, a, b)
    ratio = builder.fdiv(smaller, larger, flags=flags)
    scale = _plus_product(builder, larger, smaller, ratio, flags)
    real = _plus_product(builder, first, second, ratio, flags)
    product = builder.fmul(first, ratio, flags=flags)
    imag = builder.fsub(second, product, flags=flags)
    imag = builder.select(turned, builder.fsub(product, second, flags=flags), imag)
    return make_complex(builder, *(builder.fdiv(x, scale, flags=flags) for x in (real, imag)))


def _plus_product(builder: Any, a: Any, x: Any, y: Any, flags: tuple[str, ...]) -> Any:
    return builder.fadd(a, builder.fmul(x, y, flags=flags), flags=flags)


def _size(builder: Any, x: Any) -> Any:
    kind = ir.FunctionType(x.type, [x.type])
    return builder.call(builder.module.declare_intrinsic("llvm.fabs", [x.type], kind), [x])


OPERATORS = {ast.Add: add, ast.Sub: subtract, ast.Mult: multiply, ast.Div: divide}
