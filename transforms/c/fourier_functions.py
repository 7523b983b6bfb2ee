"""Defines discrete Fourier transforms in C: by factors of the length, and by Bluestein's method.

np.fft.fft(x)      becomes      fourier_c128(n, out, 1, -1, 1, roots);

The texts have the holes that `helpers` fills. Nothing is allocated: the caller passes memory for as
many numbers as `fourier_room` says.
"""

from __future__ import annotations

MOST = 31  # prime factors up to here are summed up directly

PLAIN_TEXTS = {
    "prime_factor": """
static i64 prime_factor(i64 n) {  // the least one
  for (i64 p = 2; p * p <= n; p++) {
    if (n % p == 0) return p;
  }
  return n;
}""",
    "convolution_length": """
static i64 convolution_length(i64 n) {  // a power of two
  i64 m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}""",
    "fourier_room": f"""
static i64 fourier_room(i64 n) {{  // how many numbers a transform of so many needs
  i64 rest = n;
  if (n <= 0) return 0;
  while (rest > 1 && prime_factor(rest) <= {MOST}) rest /= prime_factor(rest);
  return 2 * n + (rest > 1 ? 5 * convolution_length(rest) : 0);
}}""",
}
TEXTS_OF_DTYPES = {
    "unit_root": """
static T unit_root_S(i64 k, i64 n) {  // exp(2 pi i k / n)
  const double angle = 6.283185307179586 * (double)k / (double)n;
  return of_parts_S((P)cos(angle), (P)sin(angle));
}""",
    "unit_roots": """
static void unit_roots_S(i64 n, int sign, T* roots) {
  for (i64 k = 0; k < n; k++) roots[k] = unit_root_S(sign * k, n);
}""",
    "fourier_chirp": """
static void fourier_part_S(
    i64 n, const T* x, i64 step, T* out, int sign, const T* roots, i64 stride, T* room);

static void fourier_chirp_S(  // as a convolution, by the method of Bluestein
    i64 n, const T* x, i64 step, T* out, int sign, T* room) {
  const i64 m = convolution_length(n);
  T *roots = room, *a = room + m, *b = room + 2 * m, *c = room + 3 * m, *d = room + 4 * m;
  unit_roots_S(m, -1, roots);
  for (i64 k = 0; k < m; k++) a[k] = b[k] = 0;
  for (i64 k = 0; k < n; k++) {
    const T chirp = unit_root_S(sign * (k * k % (2 * n)), 2 * n);
    a[k] = times_S(x[k * step], chirp);
    b[k] = b[k ? m - k : 0] = conjF(chirp);
  }
  fourier_part_S(m, a, 1, c, -1, roots, 1, room);
  fourier_part_S(m, b, 1, d, -1, roots, 1, room);
  for (i64 k = 0; k < m; k++) a[k] = conjF(times_S(c[k], d[k]));
  fourier_part_S(m, a, 1, c, -1, roots, 1, room);
  for (i64 k = 0; k < n; k++) {
    const T chirp = unit_root_S(sign * (k * k % (2 * n)), 2 * n);
    out[k] = times_S(chirp, conjF(c[k])) / (P)m;
  }
}""",
    "fourier_part": f"""
static void fourier_part_S(  // out[k] = sum of x[j * step] * roots[j * k * stride]
    i64 n, const T* x, i64 step, T* out, int sign, const T* roots, i64 stride, T* room) {{
  const i64 p = prime_factor(n), m = n / p;
  if (n == 1) {{
    out[0] = x[0];
    return;
  }}
  if (p > {MOST}) {{
    fourier_chirp_S(n, x, step, out, sign, room);
    return;
  }}
  for (i64 r = 0; r < p; r++) {{  // those of every p-th number
    fourier_part_S(m, x + r * step, step * p, out + r * m, sign, roots, stride * p, room);
  }}
  for (i64 k = 0; k < m; k++) {{
    T terms[{MOST}];
    for (i64 r = 0; r < p; r++) terms[r] = times_S(out[r * m + k], roots[r * k * stride]);
    for (i64 q = 0; q < p; q++) {{
      T sum = terms[0];
      for (i64 r = 1; r < p; r++) sum += times_S(terms[r], roots[q * r % p * m * stride]);
      out[q * m + k] = sum;
    }}
  }}
}}""",
    "fourier": """
static void fourier_S(  // the transform of x[0], x[step], ... in their place
    i64 n, T* x, i64 step, int sign, P scale, T* room) {
  T *roots = room, *out = room + n;
  fourier_part_S(n, x, step, out, sign, roots, 1, room + 2 * n);
  for (i64 k = 0; k < n; k++) x[k * step] = scale * out[k];
}""",
    "conjugates": """
static void conjugates_S(i64 n, T* x, i64 step) {  // the frequencies that real numbers have again
  for (i64 k = n / 2 + 1; k < n; k++) x[k * step] = conjF(x[(n - k) * step]);
}""",
}
