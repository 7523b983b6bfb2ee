"""Builds the scalar forms that elementwise operations state: operators, functions, edge cases.

sin(x)      becomes, in a kernel that imports `sin` from `math`,      sin(x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let, Literal
from tapeless.transforms.core.scalar_form import (
    BOOL,
    FLOAT,
    INT,
    WIDE,
    ModuleNeeds,
    Operands,
    ScalarForm,
    cast,
    literal,
)
from tapeless.transforms.ops.primitives import complex_functions
from tapeless.transforms.python_text.python_source import template

FLOATS = "f"  # results of functions that have no integer ones
NUMBERS = "iuf"  # results that are no truth values


def infix(sign: str, results: str = "biuf", of_complex: Any = None) -> ScalarForm:
    """An operator of Python."""
    return ScalarForm(f"{{0}} {sign} {{1}}", "natural", results, of_complex=of_complex)


def of_math(name: str, arity: int = 1, of_complex: ScalarForm | None = None) -> ScalarForm:
    """A function of `math`, which has another meaning in NumPy, or none."""
    return _function("math", name, arity, of_complex)


def of_numpy(name: str, arity: int = 1) -> ScalarForm:
    """A function of NumPy, which has another meaning in `math`, or none."""
    return _function("numpy", name, arity, None)


def _function(module: str, name: str, arity: int, of_complex: ScalarForm | None) -> ScalarForm:
    text = f"{name}({', '.join(f'{{{k}}}' for k in range(arity))})"
    return ScalarForm(text, "result", FLOATS, of_complex=of_complex, imports=((module, name),))


def of_complex_numpy(name: str) -> ScalarForm:
    """A function of complex numbers with NumPy's values also in compiled code."""
    return ScalarForm(f"np.{name}({{0}})", "own")


def of_complex_helpers(text: str, *helpers: str) -> ScalarForm:
    """A function of complex numbers that the module must define."""
    return ScalarForm(
        text, "complex128", imports=complex_functions.IMPORTS, helpers=helpers, exact=True
    )


def product_with(factor: float) -> ScalarForm:
    """A product with a constant in the dtype of the result."""

    def text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        out = s.outs[0].type.dtype
        return template("{0} * {1}", {**operands.convert_all(out), "1": literal(factor, out)})

    return ScalarForm(text)


def in_double(name: str, text: str) -> ScalarForm:
    """A function of `math` in float64 whatever the dtype, as SciPy has it."""
    return ScalarForm(text, "float64", FLOATS, imports=(("math", name),))


def _log_gamma(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """gammaln(-inf) is -inf, as in SciPy. Python's number math.lgamma(-inf) is inf."""
    module.imports.add(("math", "lgamma"))
    weak = s.outs[0].type.weak
    text = "lgamma({0})" if weak else "lgamma({0}) if {0} > {1} else {0}"
    return template(text, {**operands.convert_all(FLOAT), "1": literal(-np.inf, FLOAT)})


LOG_GAMMA = ScalarForm(_log_gamma, "float64", FLOATS, imports=(("math", "lgamma"),), repeats=True)


def _quotient(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """Integers are divided as floats."""
    out = s.outs[0].type.dtype
    numbers = all(a.type.dtype.kind != "f" for a in s.args)
    holes = operands.convert_all(FLOAT) if out == FLOAT and numbers else operands.natural(out)
    return template("{0} / {1}", holes)


def _complex_quotient(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """By zero it is infinite or NaN, as NumPy's; Numba would raise an error."""
    out = s.outs[0].type.dtype
    if s.outs[0].type.weak:
        return template("{0} / {1}", operands.natural(out))
    holes = operands.convert_all(out)
    by_zero = template("complex({0}.real / 0.0, {0}.imag / 0.0)", holes)
    return template("{0} / {1} if {1} != 0 else {2}", {**holes, "2": cast(by_zero, WIDE, out)})


QUOTIENT = ScalarForm(_quotient, of_complex=ScalarForm(_complex_quotient, repeats=True))


def _power(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """Small powers are products."""
    out, exponent = s.outs[0].type.dtype, s.args[1]
    holes = operands.convert_all(out)
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
            module.imports.add(("math", "sqrt"))
            return template("sqrt({0})", holes)
    elif out.kind == "f" and s.args[0].type.shape and not exponent.type.shape:
        module.imports.add(("math", "sqrt"))  # NumPy looks at a number, and at no array
        return template("sqrt({0}) if {1} == 0.5 else {0} ** {1}", holes)
    return template("{0} ** {1}", holes)


def _has_power(s: Let) -> bool:
    """Powers of integers are products, or have no scalar form."""
    kinds = {v.type.dtype.kind for v in (*s.args, *s.outs)}
    if not kinds & set("iub") or s.outs[0].type.dtype.kind == "f":
        return True
    return _is_product(s)


def _is_product(s: Let) -> bool:
    """Whether a power is written as a product; NumPy multiplies complex numbers as well then."""
    exponent = s.args[1]
    return isinstance(exponent, Literal) and exponent.value in (0, 1, 2, 3)


COMPLEX_POWER = of_complex_helpers("complex_power({0}, {1})", complex_functions.POWER)


def _complex_power(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    form = ScalarForm(_power) if _is_product(s) else COMPLEX_POWER
    return form.write(s, operands.values, module)


def _is_of_numpy(s: Let) -> bool:
    """Whether a power of complex numbers is a product or NumPy's: Python's raise errors."""
    return _is_product(s) or not s.outs[0].type.weak


POWER = ScalarForm(
    _power,
    accepts=_has_power,
    of_complex=ScalarForm(
        _complex_power,
        accepts=_is_of_numpy,
        imports=COMPLEX_POWER.imports,
        repeats=True,
        exact=True,
    ),
    imports=(("math", "sqrt"),),
    repeats=True,
)


def extremum(sign: str) -> ScalarForm:
    """The operand that is larger or smaller; NaN wins, as in NumPy."""
    opposite = {">": "<=", "<": ">="}[sign]

    def text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        out = s.outs[0].type.dtype
        holes = operands.convert_all(out)
        a, b = s.args
        if out.kind != "f":
            return template(f"{{0}} if {{0}} {sign} {{1}} else {{1}}", holes)
        for x, y, limit in ((0, 1, b), (1, 0, a)):
            if isinstance(limit, Literal) and limit.value == limit.value:
                return template(f"{{{y}}} if {{{x}}} {opposite} {{{y}}} else {{{x}}}", holes)
        return template(f"{{0}} if {{0}} {sign}= {{1}} or {{0}} != {{0}} else {{1}}", holes)

    return ScalarForm(text, results=NUMBERS, repeats=True)


def _reciprocal(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    out = s.outs[0].type.dtype
    return template("{1} / {0}", {"0": operands.convert_operand(0, out), "1": literal(1, out)})


RECIPROCAL = ScalarForm(_reciprocal, results=FLOATS)


def _heaviside(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    out = s.outs[0].type.dtype
    text = "{0} if {0} != {0} else {1} if {0} == 0 else {2} if {0} < 0 else {3}"
    ends = {"2": literal(0.0, out), "3": literal(1.0, out)}
    return template(text, {**operands.convert_all(out), **ends})


HEAVISIDE = ScalarForm(_heaviside, results=FLOATS, repeats=True)


def _choice(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    out = s.outs[0].type.dtype
    sides = {"1": operands.convert_operand(1, out), "2": operands.convert_operand(2, out)}
    return template("{1} if {0} else {2}", {"0": operands.convert_operand(0, BOOL), **sides})


CHOICE = ScalarForm(_choice, of_complex="same")


def _conversion(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """Of a complex number that becomes a real one, the real part."""
    have, out = s.args[0].type.dtype, s.outs[0].type.dtype
    if have.kind == "c" and out.kind in "iuf":
        return template(f"np.{out.name}({{0}}.real)", operands.convert_all(have))
    return operands.convert_operand(0, out)


CONVERSION = ScalarForm(_conversion, of_complex="same")
SAME = ScalarForm("{0}", of_complex="same")
NEGATION = ScalarForm("-{0}", of_complex="same")
MAGNITUDE = ScalarForm(
    "abs({0})",
    of_complex=ScalarForm(
        "hypot({0}.real, {0}.imag)", "own", imports=(("math", "hypot"),), repeats=True
    ),
)
SQUARE = ScalarForm("{0} * {0}", of_complex="same", repeats=True)


def floats_test(name: str, of_others: bool, repeats: bool = False) -> ScalarForm:
    """A test of `math` on floats, whose outcome for other numbers is known."""

    def text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        have = s.args[0].type.dtype
        if have.kind != "f":
            return literal(of_others, BOOL)
        module.imports.add(("math", name))
        return template(f"{name}({{0}})", operands.convert_all(have))

    return ScalarForm(text, imports=(("math", name),), repeats=repeats)


def _complement(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    out = s.outs[0].type.dtype
    return template("not {0}" if out == BOOL else "~{0}", operands.convert_all(out))


COMPLEMENT = ScalarForm(_complement)
CONJUGATE = ScalarForm("{0}", "own", of_complex=ScalarForm("{0}.conjugate()", "own"))


def part(name: str) -> ScalarForm:
    """The real or imaginary part."""
    return ScalarForm(f"{{0}}.{name}", "own", of_complex="same")


# -- comparisons of integers by value, and shifts by any count

BITS = 64  # of integers while they are shifted
KINDS = "biufc"


def comparison(sign: str, of_complex: Any = None) -> ScalarForm:
    """A comparison. What an integer dtype does not hold is compared as if with zero.

    greater(x, -1), x of uint8      becomes      0 > -1
    """

    def text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        for k, a in enumerate(s.args):
            if isinstance(a, Literal) and not fits(a, s.args[1 - k].type.dtype):
                beyond = literal(1 if a.value > 0 else -1, INT)
                holes = {str(k): beyond, str(1 - k): literal(0, INT)}
                return template(f"{{0}} {sign} {{1}}", holes)
        dtype = _common(s.args)
        if dtype.kind == "f" and all(a.type.dtype.kind in "iu" for a in s.args):
            how = "own"  # signed and unsigned ones of 64 bits
            return template(f"{{0}} {sign} {{1}}", operands.convert(how, dtype))
        return template(f"{{0}} {sign} {{1}}", operands.natural(dtype))

    return ScalarForm(text, of_complex=of_complex)


def fits(a: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an atom is no constant integer of Python's beyond the range of an integer dtype."""
    if dtype.kind not in "iu" or not (isinstance(a, Literal) and a.type.weak):
        return True
    limits = np.iinfo(dtype)
    return not isinstance(a.value, int) or limits.min <= a.value <= limits.max


def _common(args: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype in which values are compared."""
    strong = [a.type.dtype for a in args if not a.type.weak] or [a.type.dtype for a in args]
    common = np.result_type(*strong)
    for a in args:
        have, wanted = a.type.dtype.kind, common.kind
        if a.type.weak and KINDS.index(have) > KINDS.index(wanted):
            common = a.type.dtype if have != "i" else np.result_type(common, INT)
        elif a.type.weak and have == "i" and wanted in "iu" and not isinstance(a, Literal):
            common = np.result_type(common, INT)
    return common


def shift(sign: str) -> ScalarForm:
    """A shift of bits. A count of all bits and more leaves none of them, as in NumPy."""

    def text(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
        out, count = s.outs[0].type.dtype, s.args[1]
        holes = operands.natural(out)
        if isinstance(count, Literal) and 0 <= count.value < BITS:
            return template(f"{{0}} {sign} {{1}}", holes)
        if sign == ">>" and out.kind == "i":
            return template(f"{{0}} >> ({{1}} if 0 <= {{1}} < {BITS} else {BITS - 1})", holes)
        nothing = literal(0, INT) if out == INT else literal(out.type(0), out)
        within = f"{{0}} {sign} {{1}} if 0 <= {{1}} < {BITS} else {{2}}"
        return template(within, {**holes, "2": nothing})

    return ScalarForm(text, repeats=True)
