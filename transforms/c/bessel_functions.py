"""Defines Bessel functions of whole orders in C, which has none.

scipy.special.j0(x)      becomes      bessel_j0(x)

Below a limit each of the orders 0 and 1 is a sum of Chebyshev's polynomials, with a logarithm for
those of the second kind; beyond, by amplitude and phase, or a factor of an exponential. Others
follow from these by recurrence, in the direction in which errors do not grow: upwards, or downwards
from an order that is large enough (J. Miller, 1952), or are sums of powers.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeless.transforms.c.bessel_coefficients import COEFFICIENTS

CHEBYSHEV = """
static double chebyshev(int n, const double* c, double t) {  // the sum of c[k] T_k(t)
  double a = 0, b = 0;
  for (int k = n - 1; k > 0; k--) {
    const double next = 2 * t * a - b + c[k];
    b = a;
    a = next;
  }
  return t * a - b + c[0];
}"""
#: The factor of amplitude and phase: J is the first one, Y the second.
FAR = """
static double bessel_far{nu}(double x, bool second) {{  // beyond 8, by amplitude and phase
{tables}
  const double t = 8 / x, s = sin(x), c = cos(x), root = 0.70710678118654752440;
  const double p = chebyshev({np}, p{nu}, 2 * t * t - 1);
  const double q = t * chebyshev({nq}, q{nu}, 2 * t * t - 1);
  const double u = {u} * root, v = {v} * root;  // of the phase
  return sqrt(0.63661977236758134308 / x) * (second ? p * v + q * u : p * u - q * v);
}}"""
J0 = """
static double bessel_j0(double x) {{
{tables}
  x = fabs(x);
  return x > 8 ? bessel_far0(x, false) : chebyshev({nj0_near}, j0_near, x * x / 32 - 1);
}}"""
J1 = """
static double bessel_j1(double x) {{
{tables}
  if (fabs(x) > 8) return copysign(1, x) * bessel_far1(fabs(x), false);
  return x * chebyshev({nj1_near}, j1_near, x * x / 32 - 1);
}}"""
Y0 = """
static double bessel_y0(double x) {{
{tables}
  if (x > 8) return bessel_far0(x, true);
  if (x <= 0) return x == 0 ? -INFINITY : NAN;
  return chebyshev({ny0_near}, y0_near, x * x / 32 - 1)
      + 0.63661977236758134308 * log(x) * bessel_j0(x);
}}"""
Y1 = """
static double bessel_y1(double x) {{
{tables}
  if (x > 8) return bessel_far1(x, true);
  if (x <= 0) return x == 0 ? -INFINITY : NAN;
  return x * chebyshev({ny1_near}, y1_near, x * x / 32 - 1)
      + 0.63661977236758134308 * (log(x) * bessel_j1(x) - 1 / x);
}}"""
I0E = """
static double bessel_i0e(double x) {{  // times exp(-|x|)
{tables}
  x = fabs(x);
  if (x > 8) return chebyshev({ni0_far}, i0_far, 16 / x - 1) / sqrt(x);
  return chebyshev({ni0_near}, i0_near, x / 4 - 1);
}}"""
I1E = """
static double bessel_i1e(double x) {{
{tables}
  const double size = fabs(x);
  if (size > 8) return copysign(chebyshev({ni1_far}, i1_far, 16 / size - 1) / sqrt(size), x);
  return x * chebyshev({ni1_near}, i1_near, size / 4 - 1);
}}"""
OF_SIGNED = """
static double bessel_i{nu}(double x) {{
  const double half = exp(fabs(x) / 2);  // the whole may be infinite
  return half * bessel_i{nu}e(x) * half;
}}"""
K0E = """
static double bessel_k0e(double x) {{  // times exp(x)
{tables}
  if (x > 2) return chebyshev({nk0_far}, k0_far, 4 / x - 1) / sqrt(x);
  if (x <= 0) return x == 0 ? INFINITY : NAN;
  return exp(x) * (chebyshev({nk0_near}, k0_near, x * x / 2 - 1) - log(x / 2) * bessel_i0(x));
}}"""
K1E = """
static double bessel_k1e(double x) {{
{tables}
  if (x > 2) return chebyshev({nk1_far}, k1_far, 4 / x - 1) / sqrt(x);
  if (x <= 0) return x == 0 ? INFINITY : NAN;
  return exp(x) * (chebyshev({nk1_near}, k1_near, x * x / 2 - 1) / x + log(x / 2) * bessel_i1(x));
}}"""
OF_POSITIVE = """
static double bessel_k{nu}(double x) {{ return x == 0 ? INFINITY : exp(-x) * bessel_k{nu}e(x); }}"""
POWERS = """
static double bessel_powers(int n, double x, double sign) {  // sums of powers, for small numbers
  double factor = 1, term = 1, sum = 1;
  for (int k = 1; k <= n; k++) factor *= x / 2 / k;
  for (int k = 1; fabs(term) > 1e-17; k++) sum += term *= sign * x * x / (4.0 * k * (n + k));
  return factor * sum;
}"""
MILLER = """
static double bessel_part(int n, double x, double sign) {  // of J_0 + 2 J_2 + ..., or of I_0
  const int start = 2 * ((n + (int)sqrt(80 * (n + x))) / 2 + 8);
  double after = 0, value = 1e-300, sum = 0, wanted = 0;
  for (int k = start; k > 0; k--) {
    const double before = 2 * k / x * value + sign * after;
    after = value;
    value = before;
    if (fabs(value) > 1e150) value *= 1e-150, after *= 1e-150, sum *= 1e-150, wanted *= 1e-150;
    if (k - 1 == n) wanted = value;
    if (k % 2 == 1 && k > 1) sum += 2 * value;
  }
  return wanted / (sign < 0 ? sum + value : value);
}"""
UPWARDS = """
static double bessel_upwards(int n, double x, double sign, double before, double value) {
  // from orders 0 and 1
  for (int k = 1; k < n && isfinite(value); k++) {
    const double next = 2 * k / x * value + sign * before;
    before = value;
    value = next;
  }
  return value;
}"""
JN = """
static double bessel_jn(double order, double x) {
  const int n = (int)fabs(order);
  const double size = fabs(x), sign = n % 2 && (order < 0) != (x < 0) ? -1 : 1;
  if (!isfinite(x)) return NAN;
  if (n == 0) return bessel_j0(x);
  if (size * size < n + 1) return sign * bessel_powers(n, size, -1);
  if (size <= n) return sign * bessel_part(n, size, -1);
  return sign * bessel_upwards(n, size, -1, bessel_j0(size), bessel_j1(size));
}"""
YN = """
static double bessel_yn(double order, double x) {
  const int n = (int)fabs(order);
  const double sign = n % 2 && order < 0 ? -1 : 1;
  if (!isfinite(x)) return NAN;
  if (n == 0) return bessel_y0(x);
  return sign * bessel_upwards(n, x, -1, bessel_y0(x), bessel_y1(x));
}"""
IN = """
static double bessel_in(double order, double x) {
  const int n = (int)fabs(order);
  const double size = fabs(x), sign = n % 2 && x < 0 ? -1 : 1;
  if (!isfinite(x)) return NAN;
  if (n == 0) return bessel_i0(x);
  if (size * size < n + 1) return sign * bessel_powers(n, size, 1);
  const double half = exp(size / 2);  // the whole may be infinite
  return sign * half * bessel_part(n, size, 1) * bessel_i0e(size) * half;
}"""
KN = """
static double bessel_kn(double order, double x) {
  const int n = (int)fabs(order);
  if (!(x > 0) || n == 0 || x == INFINITY) return bessel_k0(x);
  const double value = bessel_upwards(n, x, 1, bessel_k0e(x), bessel_k1e(x));
  return isfinite(value) ? exp(-x / 2) * value * exp(-x / 2) : value;
}"""


def _table(name: str) -> list[str]:
    """The coefficients as lines of C."""
    lines, line = [f"  static const double {name}[] = {{"], "     "
    for text in map(repr, COEFFICIENTS[name]):
        if len(line) + len(text) > 95:
            lines.append(line)
            line = "     "
        line += f" {text},"
    return [*lines, line.rstrip(","), "  };"]


def _with_tables(text: str, names: Sequence[str], **words: str) -> str:
    """The text with the tables that it reads, and with how many coefficients these have."""
    lines = [line for name in names for line in _table(name)]
    counts = {f"n{name}": len(COEFFICIENTS[name]) for name in names}
    return text.format(tables="\n".join(lines), **counts, **words)


def _amplitude_and_phase(nu: int, u: str, v: str) -> str:
    text = FAR.replace("{np}", f"{{np{nu}}}").replace("{nq}", f"{{nq{nu}}}")
    return _with_tables(text, (f"p{nu}", f"q{nu}"), nu=str(nu), u=u, v=v)


#: In order: later ones call earlier ones.
PLAIN_TEXTS = {
    "chebyshev": CHEBYSHEV,
    "bessel_far0": _amplitude_and_phase(0, "(c + s)", "(s - c)"),
    "bessel_far1": _amplitude_and_phase(1, "(s - c)", "-(s + c)"),
    "bessel_j0": _with_tables(J0, ("j0_near",)),
    "bessel_j1": _with_tables(J1, ("j1_near",)),
    "bessel_y0": _with_tables(Y0, ("y0_near",)),
    "bessel_y1": _with_tables(Y1, ("y1_near",)),
    "bessel_i0e": _with_tables(I0E, ("i0_near", "i0_far")),
    "bessel_i1e": _with_tables(I1E, ("i1_near", "i1_far")),
    "bessel_i0": OF_SIGNED.format(nu=0),
    "bessel_i1": OF_SIGNED.format(nu=1),
    "bessel_k0e": _with_tables(K0E, ("k0_near", "k0_far")),
    "bessel_k1e": _with_tables(K1E, ("k1_near", "k1_far")),
    "bessel_k0": OF_POSITIVE.format(nu=0),
    "bessel_k1": OF_POSITIVE.format(nu=1),
    "bessel_powers": POWERS,
    "bessel_part": MILLER,
    "bessel_upwards": UPWARDS,
    "bessel_jn": JN,
    "bessel_yn": YN,
    "bessel_in": IN,
    "bessel_kn": KN,
}
#: What SciPy calls them.
NAMES_IN_SCIPY = ("j0", "j1", "y0", "y1", "i0", "i0e", "i1", "i1e", "k0", "k1")
#: Of an order that the program names, and the largest one: recurrences take as long as it is.
OF_WHOLE_ORDERS = ("jv", "yv", "iv", "kv")
LARGEST_ORDER = 1000
