"""Elementwise operations on single numbers, as compiled code spells them.

mul(2, x), x of float32      becomes      np.float32(2) * x

Numba types a scalar expression as Python does, which is not always what NumPy makes of arrays:
operands are cast where the two differ, so the value has the dtype of the core program.
"""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let, Literal, Type
from tapeless.transforms.lowering.scalars.fixed_width_integers import (
    COMPARISONS,
    SHIFTS,
    compared,
    fits,
    shifted,
)
from tapeless.transforms.python_text.python_source import number, template

FLOAT, INT, BOOL = np.dtype(float), np.dtype(int), np.dtype(bool)
WIDE = np.dtype(complex)
DTYPES = frozenset(
    map(
        np.dtype, ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
    )  # what Numba compiles well
)
INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
#: functions of one or more real numbers, by the name that the module imports from `math`
MATH = {
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "hypot": "hypot",
    "copysign": "copysign",
    "fabs": "fabs",
    "erf": "erf",
    "erfc": "erfc",
    "gamma": "gamma",
    "gammaln": "lgamma",
}
#: the same from NumPy, where `math` has another meaning or none
NUMPY = [
    "exp2",
    "cbrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "fmax",
    "fmin",
    "fmod",
    "logaddexp",
    "logaddexp2",
    "nextafter",
]
#: the names that a module imports, by the operation
IMPORTED = {**MATH, **{name: name for name in (*NUMPY, "isnan", "isinf", "isfinite")}}
IMPORTED["ndtr"] = "erfc"
COMPLEX = ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
FACTOR = {"deg2rad": np.pi / 180, "radians": np.pi / 180, "rad2deg": 180 / np.pi}
FACTOR["degrees"] = FACTOR["rad2deg"]
OTHERS = [
    "neg",
    "abs",
    "positive",
    "square",
    "reciprocal",
    "power",
    "maximum",
    "minimum",
    "heaviside",
    "select",
    "cast",
    "copy",
    "logical_not",
    "logical_and",
    "logical_or",
    "logical_xor",
    "invert",
    "isnan",
    "isinf",
    "isfinite",
    "real",
    "imag",
    "conj",
    "bits",
    "convert_element_type",
    "ndtr",
    "threefry2x32",  # a function of the module, as the next one: `written_once.py`
    "erf_inv",
]
NAMES = frozenset([*COMPARISONS, *SHIFTS, *INFIX, *MATH, *NUMPY, *FACTOR, *OTHERS])
#: operations whose text names an operand more than once
REPEATING = frozenset(
    ["power", "square", "maximum", "minimum", "heaviside", "isfinite", "gammaln", *SHIFTS]
)


def repeats(s: Let) -> bool:
    """Whether the text of an operation names an operand more than once."""
    return s.op.name in REPEATING or _is_size(s)


def _is_size(s: Let) -> bool:
    """Whether a number is the size of a complex one."""
    return s.op.name == "abs" and s.args[0].type.dtype.kind == "c"


def known(s: Let) -> bool:
    """Whether the operation has a scalar form for the types of this statement."""
    types = [a.type for a in s.args] + [v.type for v in s.outs]
    if s.op.name not in NAMES or not all(isinstance(t, Type) and t.dtype in DTYPES for t in types):
        return False
    kinds = {t.dtype.kind for t in types}
    name = s.op.name
    if name not in COMPARISONS and not all(fits(a, types[-1].dtype) for a in s.args):
        return False  # NumPy raises
    if name == "bits" and "b" in kinds:
        return False
    if "c" in kinds:
        return name in (*COMPLEX, "abs") or name in (
            *("add", "sub", "mul", "truediv", "neg", "positive", "square", "real", "imag"),
            *("conj", "cast", "copy", "select", "equal", "not_equal"),
        )
    if name == "power" and kinds & set("iub") and types[-1].dtype.kind != "f":
        exponent = s.args[1]
        return isinstance(exponent, Literal) and exponent.value in (0, 1, 2, 3)
    if types[-1].dtype.kind == "b" and name in ("add", "mul", "maximum", "minimum"):
        return False
    return not (
        types[-1].dtype.kind in "iub" and name in (*MATH, *NUMPY, "heaviside", "reciprocal")
    )


# -- numbers and casts


def literal(value: Any, dtype: np.dtype[Any]) -> ast.expr:
    """A constant of this dtype."""
    if value is None:
        value = dtype.type(0).item()
    value = value.item() if isinstance(value, np.generic) else value
    if dtype == BOOL:
        return number(bool(value))
    if dtype in (FLOAT, INT):
        return number(value if dtype == FLOAT and not isinstance(value, bool) else int(value))
    if dtype == np.dtype(complex):
        return number(complex(value))
    return made(dtype, number(value))


def made(dtype: np.dtype[Any], value: ast.expr) -> ast.expr:
    """The value converted to a dtype."""
    if dtype == BOOL:
        return template("{0} != 0", {"0": value})  # type: ignore[no-any-return]
    return template(f"np.{dtype.name}({{0}})", {"0": value})  # type: ignore[no-any-return]


def cast(value: ast.expr, have: np.dtype[Any], wanted: np.dtype[Any]) -> ast.expr:
    return value if have == wanted else made(wanted, value)


class Operands:
    """The operands of one statement, each with its text, converted on request."""

    def __init__(self, s: Let, values: list[ast.expr]) -> None:
        self.atoms, self.values = s.args, values

    def to(self, dtype: np.dtype[Any]) -> dict[str, ast.expr]:
        return {str(k): self.one(k, dtype) for k in range(len(self.values))}

    def one(self, k: int, dtype: np.dtype[Any]) -> ast.expr:
        atom = self.atoms[k]
        if isinstance(atom, Literal):
            return literal(atom.value, dtype)
        return cast(self.values[k], atom.type.dtype, dtype)

    def natural(self, dtype: np.dtype[Any]) -> dict[str, ast.expr]:
        """As `to`, without casts that Python does itself: an integer beside a float."""
        dtypes = [a.type.dtype for a in self.atoms]
        others = [
            d == dtype and not isinstance(a, Literal)
            for a, d in zip(self.atoms, dtypes, strict=True)
        ]
        holes = self.to(dtype)
        if dtype == FLOAT and sum(others):
            for k, a in enumerate(self.atoms):
                if dtypes[k] == INT or isinstance(a, Literal):
                    holes[str(k)] = self.values[k]
        return holes


def spelled(s: Let, values: list[ast.expr], imports: set[tuple[str, str]]) -> ast.expr:
    """The value of the statement for operands with this text, in the dtype of its result."""
    name, out = s.op.name, s.outs[0].type.dtype
    operands = Operands(s, values)
    if name in COMPARISONS:
        return compared(s, operands)  # type: ignore[no-any-return]
    if name in SHIFTS:
        return _narrow(shifted(s, operands), out)
    if name in INFIX:
        text = f"{{0}} {INFIX[name]} {{1}}"
        if name == "truediv" and out.kind == "c" and not s.outs[0].type.weak:
            return _complex_quotient(out, operands)  # type: ignore[no-any-return]
        if name == "truediv" and out == FLOAT:
            holes = operands.to(FLOAT) if _both_literals(s) else operands.natural(FLOAT)
            return template(text, holes)  # type: ignore[no-any-return]
        return _narrow(template(text, operands.natural(out)), out)
    if name in FACTOR:
        return template("{0} * {1}", {**operands.to(out), "1": literal(FACTOR[name], out)})  # type: ignore[no-any-return]
    if _is_size(s):
        imports.add(("math", "hypot"))
        return template("hypot({0}.real, {0}.imag)", operands.to(s.args[0].type.dtype))  # type: ignore[no-any-return]
    if name in COMPLEX and out.kind == "c":
        return template(f"np.{name}({{0}})", operands.to(s.args[0].type.dtype))  # type: ignore[no-any-return]
    if name in ("gamma", "gammaln"):
        imports.add(("math", MATH[name]))
        return _gamma(s, operands)  # type: ignore[no-any-return]
    if name in MATH or name in NUMPY:
        module, function = ("math", MATH[name]) if name in MATH else ("numpy", name)
        imports.add((module, function))
        holes = operands.to(out)
        return template(f"{function}({', '.join(f'{{{k}}}' for k in range(len(values)))})", holes)  # type: ignore[no-any-return]
    if name == "bits":
        return _bits(s, operands)  # type: ignore[no-any-return]
    return _narrow(_other(name, s, operands, imports), out)


def _other(name: str, s: Let, operands: Operands, imports: set[tuple[str, str]]) -> Any:
    out = s.outs[0].type.dtype
    have = s.args[0].type.dtype
    match name:
        case "cast" if have.kind == "c" and out.kind in "iuf":
            return template(f"np.{out.name}({{0}}.real)", operands.to(have))
        case "cast" | "copy" | "positive":
            return operands.one(0, out)
        case "neg" | "abs":
            text = "-{0}" if name == "neg" else "abs({0})"
            return template(text, operands.to(out))
        case "square":
            return template("{0} * {0}", operands.to(out))
        case "reciprocal":
            return template("{1} / {0}", {"0": operands.one(0, out), "1": literal(1, out)})
        case "power":
            return _power(s, operands, imports)
        case "maximum" | "minimum":
            return _extremum(name, s, operands)
        case "ndtr":  # as SciPy, in float64 whatever the dtype
            imports.add(("math", "erfc"))
            text = f"0.5 * erfc({-math.sqrt(0.5)} * {{0}})"
            return cast(template(text, operands.to(FLOAT)), FLOAT, out)
        case "heaviside":
            text = "{0} if {0} != {0} else {1} if {0} == 0 else {2} if {0} < 0 else {3}"
            ends = {"2": literal(0.0, out), "3": literal(1.0, out)}
            return template(text, {**operands.to(out), **ends})
        case "select":
            test = operands.one(0, BOOL)
            return template(
                "{1} if {0} else {2}",
                {"0": test, "1": operands.one(1, out), "2": operands.one(2, out)},
            )
        case "any" | "all" | "max" | "min" | "sum" | "prod":  # of a number
            return operands.one(0, out)
        case "logical_not":
            return template("not {0}", operands.to(BOOL))
        case "logical_and" | "logical_or" | "logical_xor":
            sign = {"and": "&", "or": "|", "xor": "^"}[name.removeprefix("logical_")]
            return template(f"{{0}} {sign} {{1}}", operands.to(BOOL))
        case "invert":
            return template("not {0}" if out == BOOL else "~{0}", operands.to(out))
        case "isnan" | "isinf" | "isfinite":
            if have.kind != "f":
                return literal(name == "isfinite", BOOL)
            imports.add(("math", name))
            return template(f"{name}({{0}})", operands.to(have))
        case "real" | "imag":
            return template(f"{{0}}.{name}", operands.to(have))
        case "conj":
            return template("{0}.conjugate()" if have.kind == "c" else "{0}", operands.to(have))
    raise KeyError(name)


def _complex_quotient(out: np.dtype[Any], operands: Operands) -> Any:
    """By zero it is infinite or NaN, as NumPy's; Numba would raise an error."""
    holes = operands.to(out)
    by_zero = template("complex({0}.real / 0.0, {0}.imag / 0.0)", holes)
    return template("{0} / {1} if {1} != 0 else {2}", {**holes, "2": cast(by_zero, WIDE, out)})


def _gamma(s: Let, operands: Operands) -> Any:
    """In float64 whatever the dtype, and gammaln(-inf) is -inf, as in SciPy. Python's number
    math.lgamma(-inf) is inf."""
    text = f"{MATH[s.op.name]}({{0}})"
    if s.op.name == "gammaln" and not s.outs[0].type.weak:
        text += " if {0} > {1} else {0}"
    holes = {**operands.to(FLOAT), "1": literal(-np.inf, FLOAT)}
    return cast(template(text, holes), FLOAT, s.outs[0].type.dtype)


def _bits(s: Let, operands: Operands) -> Any:
    have, out = s.args[0].type.dtype, s.outs[0].type.dtype
    value = operands.one(0, have)
    number = value if isinstance(s.args[0], Literal) else made(have, value)
    return template(f"{{0}}.view(np.{out.name})", {"0": number})


def _power(s: Let, operands: Operands, imports: set[tuple[str, str]]) -> Any:
    out, exponent = s.outs[0].type.dtype, s.args[1]
    holes = operands.to(out)
    if isinstance(exponent, Literal):
        if exponent.value in (2, 3):
            return template(" * ".join(["{0}"] * int(exponent.value)), holes)
        if exponent.value == 1:
            return holes["0"]
        if exponent.value == 0:
            return literal(1.0 if out.kind == "f" else 1, out)
        if exponent.value == -1 and out.kind == "f":
            return template("{1} / {0}", {**holes, "1": literal(1, out)})
        if exponent.value == 0.5 and s.args[0].type.shape:  # as NumPy, for -inf nan
            imports.add(("math", "sqrt"))
            return template("sqrt({0})", holes)
    return template("{0} ** {1}", holes)


def _extremum(name: str, s: Let, operands: Operands) -> Any:
    """NaN wins, as in NumPy."""
    out = s.outs[0].type.dtype
    sign = ">" if name == "maximum" else "<"
    holes = operands.to(out)
    a, b = s.args
    if out.kind != "f":
        return template(f"{{0}} if {{0}} {sign} {{1}} else {{1}}", holes)
    for x, y, limit in ((0, 1, b), (1, 0, a)):
        if isinstance(limit, Literal) and limit.value == limit.value:
            opposite = {">": "<=", "<": ">="}[sign]
            return template(f"{{{y}}} if {{{x}}} {opposite} {{{y}}} else {{{x}}}", holes)
    return template(f"{{0}} if {{0}} {sign}= {{1}} or {{0}} != {{0}} else {{1}}", holes)


def _narrow(value: Any, out: np.dtype[Any]) -> ast.expr:
    """Integers that are not of Python's size come out of arithmetic wider than they are."""
    return made(out, value) if out.kind in "iu" and out != INT else value


def _both_literals(s: Let) -> bool:
    return all(a.type.dtype.kind != "f" for a in s.args)


def identity(op: str, dtype: np.dtype[Any]) -> ast.expr:
    """What a reduction starts with."""
    if op in ("max", "min"):
        low = op == "max"
        if dtype.kind == "f":
            return literal(-np.inf if low else np.inf, dtype)
        if dtype.kind == "b":
            return literal(not low, dtype)
        limits = np.iinfo(dtype)
        return literal(limits.min if low else limits.max, dtype)
    first = {"sum": 0, "prod": 1, "any": False, "all": True}[op]
    return literal(float(first) if dtype == FLOAT else first, dtype)


def combined(op: str, dtype: np.dtype[Any], holes: dict[str, ast.expr]) -> Any:
    """One more element {1} of a reduction {0}."""
    match op:
        case "max" | "min":
            sign = ">" if op == "max" else "<"
            if dtype.kind == "f":
                return template(f"{{1}} if {{1}} {sign} {{0}} or {{1}} != {{1}} else {{0}}", holes)
            return template(f"{{1}} if {{1}} {sign} {{0}} else {{0}}", holes)
        case "any" | "all":
            return template("{0} | {1}" if op == "any" else "{0} & {1}", holes)
    return _narrow(template("{0} + {1}" if op == "sum" else "{0} * {1}", holes), dtype)
