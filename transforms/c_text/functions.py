"""Prints calls of functions of numbers as C: those of `math` and NumPy, by name.

exp(x), x of float32      becomes      expf(x)
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence

import numpy as np

from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.dialect import is_c99
from tapeless.transforms.c_text.values import (
    EQUALITY,
    ORDER,
    CValue,
    NotPrintedError,
    cast,
    constant,
    of_complex,
    of_parts,
    of_template,
    part_of,
    truth,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import (
    BOOL,
    DOUBLE,
    INT,
    NARROW,
    SINGLE,
    WIDE,
    Dtype,
)

#: Functions of floats that C has too, with the number of their arguments; for float they end in f.
OF_ONE = """exp expm1 exp2 log log10 log1p log2 sqrt cbrt sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh fabs erf erfc lgamma floor ceil trunc rint tgamma""".split()  # noqa: SIM905
OF_TWO = ["atan2", "hypot", "copysign", "fmax", "fmin", "fmod", "nextafter", "pow"]
OF_FLOATS = {**dict.fromkeys(OF_ONE, 1), **dict.fromkeys(OF_TWO, 2)}
OTHER_NAMES = {"gamma": "tgamma", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
TEMPLATES = {"sign": ("sign_of", 1), "heaviside": ("heaviside", 2)}
TEMPLATES |= {"logaddexp": ("logaddexp", 2), "logaddexp2": ("logaddexp2", 2)}
TESTS = {"isnan": False, "isinf": False, "isfinite": True}  # what they are of integers
CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}
OF_COMPLEX = ("exp", "log", "sqrt")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = {
    **{d: np.dtype(d) for d in INTEGERS},
    "bool": BOOL,
    "bool_": BOOL,
    "complex": WIDE,
    "complex64": NARROW,
    "complex128": WIDE,
    "float": DOUBLE,
    "float32": SINGLE,
    "float64": DOUBLE,
    "int": INT,
    "intp": INT,
}
#: Functions that take long: loops that call them are not unrolled.
SHORT = {"sqrt", "fabs", "floor", "ceil", "trunc", "rint", "copysign", "fmax", "fmin"}
LONG = frozenset({*OF_FLOATS, *OTHER_NAMES} - SHORT)
REINTERPRETED = {
    ("f4", "i4"): "__float_as_int",
    ("f4", "u4"): "__float_as_uint",
    ("f8", "i8"): "__double_as_longlong",
    ("i4", "f4"): "__int_as_float",
    ("u4", "f4"): "__uint_as_float",
    ("i8", "f8"): "__longlong_as_double",
}


def function(name: str) -> Callable[[Sequence[CValue]], CValue] | None:
    """The function of numbers of this name; None if there is none."""
    if OTHER_NAMES.get(name, name) in OF_FLOATS or name in OTHER_NAMES:
        return lambda args: of_floats(OTHER_NAMES.get(name, name), args)
    if name in TEMPLATES:
        return lambda args: of_floats_by_template(*TEMPLATES[name], args)
    if name in TESTS:
        return lambda args: test_of_float(name, args)
    return SPECIAL.get(name)


def of_floats(name: str, args: Sequence[CValue]) -> CValue:
    if len(args) != OF_FLOATS.get(name, 1):
        raise NotPrintedError(f"{name} of {len(args)} numbers")
    if args[0].dtype.kind == "c":
        if name not in OF_COMPLEX:
            raise NotPrintedError(f"{name} of complex numbers")
        text = of_complex(f"c{name}", args[0]) if is_c99() else f"{name}_of_complex({args[0].text})"
        return CValue(text, args[0].dtype)
    dtype = _library_dtype(args)
    texts = ", ".join(cast(x, dtype).text for x in args)
    return CValue(f"{name}{'f' * (dtype == SINGLE)}({texts})", dtype)


def _library_dtype(args: Sequence[CValue]) -> Dtype:
    """The dtype of what a function of `math` gives."""
    small = all(x.dtype == SINGLE or x.dtype.itemsize < 4 for x in args)
    return SINGLE if small and SINGLE in [x.dtype for x in args] else DOUBLE


def of_floats_by_template(name: str, arity: int, args: Sequence[CValue]) -> CValue:
    if len(args) != arity:
        raise NotPrintedError(f"{name} of {len(args)} numbers")
    dtype = _library_dtype(args)
    texts = ", ".join(cast(x, dtype).text for x in args)
    return CValue(of_template(name, dtype, texts), dtype)


def test_of_float(name: str, args: Sequence[CValue]) -> CValue:
    (x,) = args
    if x.dtype.kind in "iub":
        return constant(TESTS[name])
    if x.dtype.kind == "c":
        raise NotPrintedError(f"{name} of complex numbers")
    if name == "isnan" and x.is_plain:
        return CValue(f"{x.operand(ORDER)} != {x.operand(ORDER)}", BOOL, EQUALITY)
    return CValue(f"{name}({x.text})", BOOL)


def absolute(args: Sequence[CValue]) -> CValue:
    (x,) = args
    if x.dtype.kind == "f":
        return of_floats("fabs", args)
    if x.dtype.kind == "c":
        return of_floats("hypot", [part_of(x, "real"), part_of(x, "imag")])
    if x.dtype.kind in "bu":
        return x
    return CValue(f"absolute({x.text})", INT, natural=True)


def plus(args: Sequence[CValue]) -> CValue:
    a, b = args
    return arithmetic.binary(ast.Add(), a, b)


def plus_product(args: Sequence[CValue]) -> CValue:
    total, a, b = args
    return plus([total, arithmetic.binary(ast.Mult(), a, b)])


def complex_number(args: Sequence[CValue]) -> CValue:
    if len(args) == 1:
        return cast(args[0], WIDE)
    real, imag = args
    return of_parts(real, imag, WIDE)


def convert(dtype: Dtype, args: Sequence[CValue]) -> CValue:
    """A number in another dtype; the real part of a complex one is asked for by name."""
    (x,) = args
    if dtype == BOOL:
        return truth(x)
    return cast(x, dtype)


def bitcast(x: CValue, dtype: Dtype) -> CValue:
    """The bits of a number as one of another dtype."""
    have, want = x.dtype.str[1:], dtype.str[1:]
    if (have, want) in REINTERPRETED:
        return CValue(f"{REINTERPRETED[have, want]}({x.text})", dtype)
    if {have, want} == {"u8", "f8"}:
        if want == "f8":
            return CValue(f"__longlong_as_double((i64){x.operand(2)})", dtype)
        return CValue(f"(u64)__double_as_longlong({x.text})", dtype, 2)
    if {have, want} <= {"i4", "u4"} or {have, want} <= {"i8", "u8"}:
        return cast(x, dtype)
    raise NotPrintedError(f"the bits of {x.dtype.name} as {dtype.name}")


def larger(name: str) -> Callable[[Sequence[CValue]], CValue]:
    return lambda args: arithmetic.extreme(name, list(args))


SPECIAL: dict[str, Callable[[Sequence[CValue]], CValue]] = {
    "abs": absolute,
    "max": larger("max"),
    "min": larger("min"),
    "plus": plus,
    "plus_product": plus_product,
    "complex": complex_number,
}
