"""Writes sine, cosine and hyperbolic tangent out in a program in C, which calls the C library else.

double s = sin(x);      becomes      double s = sin_f64(x);

Where each number waits for the sine of the one before, as in a loop over steps of time, a function
of the C library takes up to twice as long: it is called, and looks numbers up in tables. Loops over
arrays have nothing to wait for, and compilers know vector versions of the library's functions.
Numbers in single precision, and functions that would not be faster (the exponential, logarithms),
stay those of the library.
"""

from __future__ import annotations

import math
import re
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
    SINE,
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
#: In order, with what each calls
TEXTS = {
    "quarter_turns_f64": QUARTER_TURNS,
    "near_sin_f64": NEAR_SIN,
    "near_cos_f64": NEAR_COS,
    "sin_f64": SIN,
    "cos_f64": COS,
    "tanh_f64": TANH,
}
OF_LIBRARY = "static inline double {name}_f64(double x) {{ return {name}(x); }}"
CALLED = re.compile(r"\b(sin|cos|tanh)(?=\()")
#: Comments and texts: what is no code
OTHER_TEXT = re.compile(r'(//[^\n]*|"(?:[^"\\\n]|\\.)*")')
BIT_CAST = PLAIN["__longlong_as_double"].strip()


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
    definitions = _definitions(names, BIT_CAST in code)
    if "tanh" in names:
        head = _including(head, "string.h")
    before = [BIT_CAST] if "tanh" in names and BIT_CAST in code else []
    code = code.replace(f"{BIT_CAST}\n\n", "") if before else code
    parts = [(head + types).rstrip(), *before, definitions, code.lstrip()]
    return replace(module, source="\n\n".join(parts))


def _definitions(names: Sequence[str], has_bit_cast: bool) -> str:
    """The texts of these functions, and of those that they call."""
    needed = {f"{name}_f64" for name in names}
    for name, text in reversed(TEXTS.items()):
        if name in needed:
            needed |= words(text) & TEXTS.keys()
    texts = [_with_numbers(text).strip() for name, text in TEXTS.items() if name in needed]
    texts = [BIT_CAST, *texts] if "tanh" in names and not has_bit_cast else texts
    library = [OF_LIBRARY.format(name=name) for name in names]
    return "\n".join([HEAD.strip(), "\n\n".join(texts), "#else", *library, "#endif"])


def _with_numbers(text: str) -> str:
    """The text with its numbers."""
    high, middle, low = HALF_PI[DOUBLE]
    log_high, log_low = LOG_2[DOUBLE]
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
    )


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
