"""Writes sine, cosine, hyperbolic tangent and exponential out in a program in C, which calls the C
library else.

double s = sin(x);      becomes      double s = sin_f64(x);

Where each number waits for the sine of the one before, as in a loop over steps of time, a function
of the C library takes up to twice as long: it is called, and sums one term after another. Loops
over arrays have nothing to wait for, and compilers know vector versions of the library's functions.
Numbers in single precision, and functions that would not be faster (logarithms), stay those of the
library.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from tapeless.transforms.c.helpers import PLAIN
from tapeless.transforms.c.module import CModule
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.lowering.elementary_functions import (
    COSINE,
    EXPONENTIAL,
    HALF_PI,
    LARGE,
    LOG_2,
    NEAR_EXPONENTIAL,
    PARTS,
    SINE,
    log_part,
    power_table,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE

#: Products of which sums have only one rounding error: without them nothing here would be exact.
HEAD = """
// Written out: the functions of the C library take longer where each number waits for another.
// Without fused multiply-adds (gcc -march=native, or -mfma) they are called all the same.
#if defined(FP_FAST_FMA) || defined(__FP_FAST_FMA) || defined(__FMA__)
"""
QUARTER_TURNS = """
static inline i64 quarter_turns_f64(double x, double* y, double* tail) {{  // n; x - n pi / 2
  const double n = rint({per_quarter} * x);
  const double a = fma(-n, {high}, x), b = {middle} * n;
  *y = a - b;
  *tail = fma(-n, {low}, a - *y - b + fma(-n, {middle}, b));
  return (i64)n;
}}
"""
NEAR_SIN = """
static inline double near_sin_f64(double y, double tail) {{  // of y + tail, up to pi / 4
  const double z = y * y;
  {sine}
  return y + fma(y * z, p, fma(z, -0.5 * tail, tail));
}}
"""
NEAR_COS = """
static inline double near_cos_f64(double y, double tail) {{
  const double z = y * y, near = fma(z, -0.5, 1.0);
  {cosine}
  return near + fma(z2, p, fma(y, -tail, fma(z, -0.5, 1.0 - near)));
}}
"""
SIN = """
static inline double sin_f64(double x) {{
  const double size = fabs(x);
  if (size < 1e-8) return x;  // -0.0 has its sign
  if (size < {quarter_pi}) return near_sin_f64(x, 0.0);
  if (!(size < {large})) return sin(x);
  double y, tail;
  const i64 n = quarter_turns_f64(x, &y, &tail);
  const double value = n & 1 ? near_cos_f64(y, tail) : near_sin_f64(y, tail);
  return n & 2 ? -value : value;
}}
"""
COS = """
static inline double cos_f64(double x) {{
  const double size = fabs(x);
  if (size < {quarter_pi}) return near_cos_f64(x, 0.0);
  if (!(size < {large})) return cos(x);
  double y, tail;
  const i64 n = quarter_turns_f64(x, &y, &tail);
  const double value = n & 1 ? near_sin_f64(y, tail) : near_cos_f64(y, tail);
  return (n + 1) & 2 ? -value : value;
}}
"""
TANH = """
static inline double tanh_f64(double x) {{
  const double size = fabs(x);
  if (size < 1e-8) return x;
  if (!(size < 20)) return tanh(x);
  const double n = rint({per_log} * size);  // exp(2 size) = power * exp(r)
  const double a = fma(-n, {log_high}, 2 * size), b = {log_low} * n, r = a - b;
  {exponential}
  const double power = longlong_as_double(((i64)n + 1023) << 52);
  const double e = fma(power, r + fma(r2, p, a - r - b), power - 1);  // exp(2 size) - 1
  return copysign(e < 2 ? e / (e + 2) : 1 - 2 / (e + 2), x);
}}
"""
#: After P. Tang, "Table-driven implementation of the exponential function", 1989, with x = n log(2)
#: / 64 + r. The sum of n and `whole`, whose last bit is worth 1, ends with the bits of n.
EXP = """
static const double powers_f64[{parts}] = {{  // 2 ** (j / {parts})
{powers}
}};
static const double powers_rest_f64[{parts}] = {{  // what rounding left out, as a part
{rests}
}};

static inline double exp_f64(double x) {{
  if (!(fabs(x) < 708)) return exp(x);
  const double whole = 0x1.8p52, shifted = fma(x, {per_part}, whole);
  const double n = shifted - whole;
  const double a = fma(-n, {part_high}, x), r = fma(-n, {part_low}, a);
  const i64 bits = double_as_longlong(shifted), j = bits & {last_part};
  const i64 exponent = (i64)((uint64_t)bits / {parts} << 52);
  const double power = longlong_as_double(double_as_longlong(powers_f64[j]) + exponent);
  {near_exponential}
  return fma(power, fma(r * r, p, r + powers_rest_f64[j]), power);
}}
"""
#: In order, with what each calls
TEXTS = {
    "exp_f64": EXP,
    "quarter_turns_f64": QUARTER_TURNS,
    "near_sin_f64": NEAR_SIN,
    "near_cos_f64": NEAR_COS,
    "sin_f64": SIN,
    "cos_f64": COS,
    "tanh_f64": TANH,
}
OF_LIBRARY = "static inline double {name}_f64(double x) {{ return {name}(x); }}"
CALLED = re.compile(r"\b(sin|cos|tanh|exp)(?=\()")
#: Comments and texts: what is no code
OTHER_TEXT = re.compile(r'(//[^\n]*|"(?:[^"\\\n]|\\.)*")')
BIT_CASTS = [PLAIN[f"__{name}"].strip() for name in ("double_as_longlong", "longlong_as_double")]


def with_inline_functions(module: CModule) -> CModule:
    """The program with these functions written out."""
    parts = OTHER_TEXT.split(module.source)
    names = sorted({name for part in parts[::2] for name in CALLED.findall(part)})
    if not names:
        return module
    parts[::2] = [CALLED.sub(r"\1_f64", part) for part in parts[::2]]
    head, types, code = "".join(parts).partition("typedef int64_t i64;\n")
    while code.startswith("typedef "):
        line, _, code = code.partition("\n")
        types += f"{line}\n"
    texts = _texts(names)
    casts = [cast for cast in BIT_CASTS if _name_of(cast) in words("".join(texts))]
    if casts:
        head = _including(head, "string.h")
    for cast in casts:
        code = code.replace(f"{cast}\n\n", "")
    parts = [(head + types).rstrip(), *casts, _definitions(names, texts), code.lstrip()]
    return replace(module, source="\n\n".join(parts))


def _texts(names: Sequence[str]) -> list[str]:
    """The texts of these functions, and of those that they call."""
    needed = {f"{name}_f64" for name in names}
    for name, text in reversed(TEXTS.items()):
        if name in needed:
            needed |= words(text) & TEXTS.keys()
    return [_with_numbers(text).strip() for name, text in TEXTS.items() if name in needed]


def _definitions(names: Sequence[str], texts: Sequence[str]) -> str:
    """The functions, or what calls the library in their place."""
    library = [OF_LIBRARY.format(name=name) for name in names]
    return "\n".join([HEAD.strip(), "\n\n".join(texts), "#else", *library, "#endif"])


def _name_of(cast: str) -> str:
    """The name of a function."""
    return cast.partition("(")[0].split()[-1]


def _with_numbers(text: str) -> str:
    """The text with its numbers."""
    high, middle, low = HALF_PI[DOUBLE]
    log_high, log_low = LOG_2[DOUBLE]
    part_high, part_low = log_part()
    powers, rests = zip(*power_table(), strict=True)
    return text.format(
        high=high,
        middle=middle,
        low=low,
        log_high=log_high,
        log_low=log_low,
        large=f"{LARGE[DOUBLE]:g}",
        quarter_pi=math.pi / 4,
        per_quarter=2 / math.pi,
        per_log=2 / math.log(2),
        sine=_polynomial("z", SINE[DOUBLE]),
        cosine=_polynomial("z", COSINE[DOUBLE]),
        exponential=_polynomial("r", EXPONENTIAL[DOUBLE]),
        near_exponential=_polynomial("a", NEAR_EXPONENTIAL),
        parts=PARTS,
        last_part=PARTS - 1,
        per_part=PARTS / math.log(2),
        part_high=part_high,
        part_low=part_low,
        powers=_rows(powers),
        rests=_rows(rests),
    )


def _rows(numbers: Sequence[float]) -> str:
    """The lines of a table.

    >>> print(_rows([1.0, 0.5]))
      1.0, 0.5,
    """
    text = textwrap.fill(" ".join(f"{x!r}," for x in numbers), 98)
    return textwrap.indent(text, "  ")


def _polynomial(variable: str, coefficients: Sequence[float]) -> str:
    """The statements that compute a polynomial p, by pairs of coefficients: fewer of its steps wait
    for each other than where each gets one more (the method of Estrin).

    >>> print(_polynomial("z", (1.0, 0.5, 0.25, 0.125)))
    const double z2 = z * z;
      const double p0 = fma(z, 0.5, 1.0);
      const double p1 = fma(z, 0.125, 0.25);
      const double p = fma(z2, p1, p0);
    """
    pairs = zip(coefficients[::2], coefficients[1::2], strict=True)
    lines = [f"const double {variable}2 = {variable} * {variable};"]
    lines += [
        f"const double p{k} = fma({variable}, {b!r}, {a!r});" for k, (a, b) in enumerate(pairs)
    ]
    total = f"p{len(coefficients) // 2 - 1}"
    for k in range(len(coefficients) // 2 - 2, -1, -1):
        total = f"fma({variable}2, {total}, p{k})"
    return "\n  ".join([*lines, f"const double p = {total};"])


def _including(head: str, name: str) -> str:
    line = f"#include <{name}>\n"
    return head if line in head else f"{head.rstrip()}\n{line}\n"
