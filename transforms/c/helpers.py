"""Defines functions that printed C calls: what C99 has not, or does otherwise than NumPy.

power_f64(5, x)      needs      static inline double power_f64(int n, double x) {...}

Those that exist for several dtypes are written with `T` for the type, `P` for that of its parts if
it is complex, `S` for the end of the name, `F` and `V` for the ends of the names in math.h and
stdlib.h, and EPSILON and REACH for what they say of numbers.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tapeless.transforms.c import (
    bessel_functions,
    fourier_functions,
    matrix_exponential,
    matrix_functions,
    spectral_functions,
    unique_functions,
)
from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import C_TYPES
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import SINGLE, part

BIT_CAST = """
static inline {to} {name}({source} x) {{
  {to} y;
  memcpy(&y, &x, sizeof y);
  return y;
}}"""
#: In order: later ones call earlier ones.
PLAIN = {
    "INF32": "#define INF32 INFINITY",
    "NAN32": "#define NAN32 NAN",
    "INF64": "#define INF64 ((double)INFINITY)",
    "NAN64": "#define NAN64 ((double)NAN)",
    "from_end": """
static inline i64 from_end(i64 k, i64 n) {  // negative indices
  return k < 0 ? k + n : k;
}""",
    "slice_start": """
static inline i64 slice_start(i64 k, i64 n, i64 last) {  // as Python's slices have it
  k = k < 0 ? k + n : k;
  return k < 0 ? 0 : k > last ? last : k;
}""",
    "last_of_slice": """
static inline i64 last_of_slice(i64 k, i64 n) {  // where one begins that counts down
  k = k < 0 ? k + n : k;
  return k < 0 ? -1 : k < n ? k : n - 1;
}""",
    "floor_div": """
static inline i64 floor_div(i64 a, i64 b) {  // rounds down; 0 where b is
  if (b == 0) return 0;
  if (b == -1) return (i64)(0 - (u64)a);
  i64 q = a / b;
  return q - (a % b != 0 && (a ^ b) < 0);
}""",
    "floor_mod": """
static inline i64 floor_mod(i64 a, i64 b) {  // with the sign of b; 0 where b is
  if (b == 0 || b == -1) return 0;
  i64 r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}""",
    "floor_div_of_unsigned": """
static inline u64 floor_div_of_unsigned(u64 a, u64 b) { return b ? a / b : 0; }""",
    "floor_mod_of_unsigned": """
static inline u64 floor_mod_of_unsigned(u64 a, u64 b) { return b ? a % b : 0; }""",
    "to_u64": """
static inline u64 to_u64(double x) {  // as NumPy: -1.0 is the largest one
  return x < 9223372036854775808.0 ? (u64)(i64)x : (u64)x;
}""",
    "call_memory": """
typedef struct {  // what calls in one another have together; what they save lies at the end
  char* start;
  size_t low, high;  // nothing lies in between
} call_memory;""",
    "memory_of_call": """
static inline void* memory_of_call(call_memory* memory, size_t bytes) {  // until it returns
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > memory->high - memory->low) return NULL;
  memory->low += bytes;
  return memory->start + (memory->low - bytes);
}""",
    "kept_memory": """
static inline void* kept_memory(call_memory* memory, size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > memory->high - memory->low) return NULL;
  memory->high -= bytes;
  return memory->start + memory->high;
}""",
    "plain_nan": """
static inline double plain_nan(double x) { return x != x ? NAN : x; }  // without a sign""",
    "digamma": """
static double digamma(double x) {  // the slope of log(gamma(x)): recurrence, then Stirling's series
  double sum = 0;
  if (x == 0) return copysign(INFINITY, -x);
  if (x < 0) {
    if (x == floor(x)) return NAN;
    sum = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - floor(x + 0.5)));
    x = 1 - x;
  }
  for (; x < 10; x++) sum -= 1 / x;
  const double y = 1 / (x * x);
  const double series = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240
      - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return sum + log(x) - 0.5 / x - series;
}""",
    "hurwitz_zeta": """
static double hurwitz_zeta(double s, double q) {  // of 1 / (q + k) ** s, by Euler and Maclaurin
  static const double factors[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600,
      1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600};
  if (s == 1) return INFINITY;
  if (q - q != 0) return q > 0 && s > 1 ? 0 : NAN;
  if (!(s > 1) || (q <= 0 && q != floor(q) && s != floor(s))) return NAN;
  if (q <= 0 && q == floor(q)) return INFINITY;
  double sum = 0;
  for (; q < 10; q++) sum += pow(q, -s);
  const double power = pow(q, -s);
  double term = s * power / q;
  sum += power * q / (s - 1) + 0.5 * power;
  for (int k = 0; k < 7; k++) {
    sum += factors[k] * term;
    term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}""",
    "absolute": """
static inline i64 absolute(i64 a) { return a < 0 ? -a : a; }""",
    **{
        name: BIT_CAST.format(to=to, name=name.strip("_"), source=source)
        for name, to, source in (
            ("__float_as_int", "int32_t", "float"),
            ("__float_as_uint", "uint32_t", "float"),
            ("__double_as_longlong", "i64", "double"),
            ("__int_as_float", "float", "int32_t"),
            ("__uint_as_float", "float", "uint32_t"),
            ("__longlong_as_double", "double", "i64"),
        )
    },
}
OF_DTYPES = {
    "of_parts": """
static inline T of_parts_S(P real, P imag) {
  P parts[2] = {real, imag};
  T z;
  memcpy(&z, parts, sizeof z);
  return z;
}""",
    "over": """
static inline T over_S(T a, T b) {  // by the method of Smith, as NumPy
  P x = crealF(a), y = cimagF(a), u = crealF(b), v = cimagF(b);
  if (fabsF(u) >= fabsF(v)) {
    if (u == 0 && v == 0) return of_parts_S(x / fabsF(u), y / fabsF(u));
    P ratio = v / u, scale = 1 / (u + v * ratio);
    return of_parts_S((x + y * ratio) * scale, (y - x * ratio) * scale);
  }
  P ratio = u / v, scale = 1 / (v + u * ratio);
  return of_parts_S((x * ratio + y) * scale, (y * ratio - x) * scale);
}""",
    "times": """
static inline T times_S(T a, T b) {  // as NumPy: C has another product of infinite numbers
  P x = crealF(a), y = cimagF(a), u = crealF(b), v = cimagF(b);
  return of_parts_S(x * u - y * v, x * v + y * u);
}""",
    "floor_div_of_floats": """
static inline T floor_div_of_floats_S(T a, T b) {  // as NumPy rounds it
  if (b == 0) return a / b;
  T r = fmodF(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q = q - 1;
  if (q == 0) return copysignF(0, a / b);
  T low = floorF(q);
  return q - low > (T)0.5 ? low + 1 : low;
}""",
    "floor_mod_of_floats": """
static inline T floor_mod_of_floats_S(T a, T b) {  // with the sign of b
  T r = fmodF(a, b);
  if (r == 0) return copysignF(0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}""",
    "power": """
static inline T power_S(int n, T x) {  // x ** n by squaring
  T y = n & 1 ? x : 1;
  for (int k = n / 2; k > 0; k /= 2) {
    x = x * x;
    if (k & 1) y = y * x;
  }
  return y;
}""",
    "power_of_halves": """
static inline T power_of_halves_S(int n, T x) {  // x ** (n / 2), n odd
  T size = fabsF(x), root = fabsF(sqrtF(x));
  T y = n > 0 ? root : 1 / root;
  for (int k = 2; k < (n > 0 ? n : -n); k += 2) y = n > 0 ? y * size : y / size;
  return x < 0 && size > 0 && 1 / size == 0 ? (n > 0 ? size : 0) : y;
}""",
    "larger": """
static inline T larger_S(T a, T b) { return b > a ? b : a; }""",
    "smaller": """
static inline T smaller_S(T a, T b) { return b < a ? b : a; }""",
    "sign_of": """
static inline T sign_of_S(T x) {  // NaN of NaN, 0 of -0
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}""",
    "heaviside": """
static inline T heaviside_S(T x, T at_zero) {
  return x != x ? x : x == 0 ? at_zero : x < 0 ? 0 : 1;
}""",
    "logaddexp": """
static inline T logaddexp_S(T x, T y) {  // log(exp(x) + exp(y))
  if (x == y) return x + (T)0.69314718055994530942;
  return (x > y ? x : y) + log1pF(expF(-fabsF(x - y)));
}""",
    "logaddexp2": """
static inline T logaddexp2_S(T x, T y) {  // log2(2 ** x + 2 ** y)
  if (x == y) return x + 1;
  return (x > y ? x : y) + (T)1.4426950408889634074 * log1pF(exp2F(-fabsF(x - y)));
}""",
    "shown": """
static const char* shown_S(T x, char* text) {  // the shortest text that is x, as in Python
  const T size = fabsF(x);
  if (x != x) return "nan";
  if (size > 0 && size / 2 == size) return x < 0 ? "-inf" : "inf";
  int digits = 0;
  for (;; digits++) {
    sprintf(text, "%.*e", digits, x);
    if (strtoV(text, NULL) == x) break;
    char* last = strchr(text, 'e') - 1;
    *last += *last < '9';  // above a power of two texts are nearer to one another
    if (strtoV(text, NULL) == x) break;
  }
  if (size != 0 && (size < 1e-4 || size >= LARGE)) return text;
  const int decimals = digits - atoi(strchr(text, 'e') + 1);
  sprintf(text, "%.*f", decimals > 1 ? decimals : 1, strtod(text, NULL));
  return text;
}""",
    "product": """
static void product_S(  // out = a @ b; strides are in numbers
    i64 n, i64 m, i64 k, const T* a, i64 a_row, i64 a_column,
    const T* b, i64 b_row, i64 b_column, T* restrict out) {
  for (i64 i = 0; i < n; i++) {
    for (i64 j = 0; j < m; j++) out[i * m + j] = 0;
    for (i64 l = 0; l < k; l++) {
      const T x = a[i * a_row + l * a_column];
      for (i64 j = 0; j < m; j++) out[i * m + j] += x * b[l * b_row + j * b_column];
    }
  }
}""",
}
OTHER_PLAIN = fourier_functions.PLAIN_TEXTS | bessel_functions.PLAIN_TEXTS
NAMES = frozenset(["i64", "u64", *PLAIN, *OF_DTYPES, *OTHER_PLAIN])
for part_of_library in (
    fourier_functions,
    matrix_functions,
    matrix_exponential,
    spectral_functions,
    unique_functions,
):
    OF_DTYPES |= part_of_library.TEXTS_OF_DTYPES
#: Texts by name, and where they stand: later ones call earlier ones.
OF_ANY = {n.strip("_"): text for n, text in (PLAIN | OTHER_PLAIN).items()}
ORDER = {name: k for k, name in enumerate([*OF_ANY, *OF_DTYPES])}
_DTYPES = {suffix(np.dtype(name)): np.dtype(name) for name in C_TYPES}
_HOLES = re.compile(r"\b(?:LARGE|EPSILON|REACH)\b|\b[TP]\b|(?<=_)S\b|(?<=[a-z0-9])[FV]\b")
_OURS = re.compile(r"__(?=float_as|uint_as|int_as|double_as|longlong_as)")


def without_underscores(text: str) -> str:
    """The text with names that C99 leaves to programs: those with two underscores are not."""
    return _OURS.sub("", text)


def needed_helpers(texts: list[str]) -> list[str]:
    """The texts of the helpers that these texts name, and of those that they call, in order."""
    chosen: dict[tuple[int, str], str] = {}
    pending = {word for text in texts for word in words(text)}
    while pending:
        name = pending.pop()
        stem, _, end = name.rpartition("_")
        if stem in OF_DTYPES and end in _DTYPES:
            key, text = (ORDER[stem], end), _of_dtype(OF_DTYPES[stem], end)
        elif name.removeprefix("__") in OF_ANY:
            name = name.removeprefix("__")
            key, text = (ORDER[name], ""), OF_ANY[name]
        else:
            continue
        if key not in chosen:
            chosen[key] = text.strip()
            pending |= words(text)
    return [text for _, text in sorted(chosen.items())]


def of_dtype(name: str, dtype: np.dtype[Any]) -> str:
    """The text of a helper for a dtype."""
    return _of_dtype(OF_DTYPES[name], suffix(dtype)).strip()


def _of_dtype(text: str, end: str) -> str:
    """The text of a helper for the dtype that this ending stands for."""
    dtype = _DTYPES[end]
    real = part(dtype) if dtype.kind == "c" else dtype
    holes = {"T": C_TYPES[dtype.name], "P": C_TYPES[real.name], "S": end}
    holes["LARGE"] = f"{_largest_without_exponent(dtype):g}"
    if real.kind == "f":
        limits, end_of_number = np.finfo(real), "f" * (real == SINGLE)
        holes["EPSILON"] = f"{float(limits.eps)!r}{end_of_number}"
        holes["REACH"] = f"{float(limits.max)!r}{end_of_number}"
    holes["F"], holes["V"] = ("f", "f") if real == SINGLE else ("", "d")
    return _HOLES.sub(lambda m: holes[m[0]], text)


def _largest_without_exponent(dtype: np.dtype[Any]) -> float:
    """From where on NumPy shows numbers with exponents: there, single precision has fewer digits
    than a number that is written out, and NumPy's releases differ."""
    return 1e6 if dtype == SINGLE and "e" in str(np.float32(1e6)) else 1e16
