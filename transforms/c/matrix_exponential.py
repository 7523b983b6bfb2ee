"""Defines the exponential of a matrix in C, and its slope in a direction.

y = scipy.linalg.expm(a)      becomes      expm_f64(a_0, a, y, room);

It is a quotient of polynomials of degree 13, of a matrix that is halved until it is small, and
squared as often (N. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited",
2005). The slope is a part of the exponential of a matrix of blocks (I. Najfeld and T. Havel, 1995).
The texts have the holes that `helpers` fills.
"""

from __future__ import annotations

MATRICES = 7  # that the exponential needs room for
OF_BLOCKS = 4 * (MATRICES + 2)  # and its slope: of twice as many rows, and of columns

TEXTS_OF_DTYPES = {
    "combined": """
static void combined_S(  // u a + v b + w c + x, as numbers of the diagonal
    i64 n, T u, const T* a, T v, const T* b, T w, const T* c, T x, T* out) {
  for (i64 i = 0; i < n * n; i++) {
    out[i] = u * a[i] + v * b[i] + w * c[i] + (i / n == i % n ? x : 0);
  }
}""",
    "eliminated": """
static void eliminated_S(i64 n, T* a, T* b) {  // b = inverse of a @ b; a is overwritten
  for (i64 k = 0; k < n; k++) {
    i64 pivot = k;
    for (i64 i = k + 1; i < n; i++) {
      if (fabsF(a[i * n + k]) > fabsF(a[pivot * n + k])) pivot = i;
    }
    for (i64 j = 0; j < n && pivot != k; j++) {
      const T x = a[k * n + j], y = b[k * n + j];
      a[k * n + j] = a[pivot * n + j], b[k * n + j] = b[pivot * n + j];
      a[pivot * n + j] = x, b[pivot * n + j] = y;
    }
    for (i64 i = k + 1; i < n; i++) {
      const T factor = a[i * n + k] / a[k * n + k];
      for (i64 j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      for (i64 j = 0; j < n; j++) b[i * n + j] -= factor * b[k * n + j];
    }
  }
  for (i64 i = n - 1; i >= 0; i--) {
    for (i64 k = i + 1; k < n; k++) {
      for (i64 j = 0; j < n; j++) b[i * n + j] -= a[i * n + k] * b[k * n + j];
    }
    for (i64 j = 0; j < n; j++) b[i * n + j] /= a[i * n + i];
  }
}""",
    "expm": """
static void expm_S(i64 n, const T* a, T* out, T* room) {  // by scaling and squaring
  const i64 size = n * n;
  T *x = room, *x2 = x + size, *x4 = x2 + size, *x6 = x4 + size, *p = x6 + size;
  T *odd = p + size, *even = odd + size, norm = 0;
  for (i64 j = 0; j < n; j++) {
    T sum = 0;
    for (i64 i = 0; i < n; i++) sum += fabsF(a[i * n + j]);
    norm = sum > norm || sum != sum ? sum : norm;
  }
  if (!(norm <= REACH)) {
    for (i64 i = 0; i < size; i++) out[i] = (T)NAN;
    return;
  }
  int halvings = 0;
  for (T rest = norm; rest > (T)5.37; rest /= 2) halvings++;
  for (i64 i = 0; i < size; i++) x[i] = ldexpF(a[i], -halvings);
  product_S(n, n, n, x, n, 1, x, n, 1, x2);
  product_S(n, n, n, x2, n, 1, x2, n, 1, x4);
  product_S(n, n, n, x2, n, 1, x4, n, 1, x6);
  combined_S(n, (T)1, x6, (T)16380, x4, (T)40840800, x2, 0, p);
  product_S(n, n, n, x6, n, 1, p, n, 1, even);
  combined_S(n, (T)33522128640, x6, (T)10559470521600, x4, (T)1187353796428800, x2,
      (T)32382376266240000, p);
  for (i64 i = 0; i < size; i++) p[i] += even[i];
  product_S(n, n, n, x, n, 1, p, n, 1, odd);
  combined_S(n, (T)182, x6, (T)960960, x4, (T)1323241920, x2, 0, p);
  product_S(n, n, n, x6, n, 1, p, n, 1, even);
  combined_S(n, (T)670442572800, x6, (T)129060195264000, x4, (T)7771770303897600, x2,
      (T)64764752532480000, p);
  for (i64 i = 0; i < size; i++) {
    const T sum = p[i] + even[i];
    p[i] = sum - odd[i];
    out[i] = sum + odd[i];
  }
  eliminated_S(n, p, out);
  for (; halvings > 0; halvings--) {
    memcpy(p, out, (size_t)size * sizeof(T));
    product_S(n, n, n, p, n, 1, p, n, 1, out);
  }
}""",
    "expm_slope": """
static void expm_slope_S(i64 n, const T* a, const T* direction, T* out, T* room) {
  const i64 m = 2 * n;  // a part of the exponential of [[a, direction], [0, a]]
  T *blocks = room, *value = blocks + m * m;
  for (i64 i = 0; i < m * m; i++) {
    const i64 row = i / m, column = i % m, k = row % n * n + column % n;
    blocks[i] = row / n == column / n ? a[k] : row < n ? direction[k] : 0;
  }
  expm_S(m, blocks, value, value + m * m);
  for (i64 i = 0; i < n * n; i++) out[i] = value[i / n * m + n + i % n];
}""",
}
