"""Defines factorisations of matrices in C: QR by reflections, eigenvalues and singular values by
rotations.

q, r = np.linalg.qr(a)      becomes      qr_f64(a_0, a_1, a, q, r, room);

The texts have the holes that `helpers` fills. Reflections are chosen as LAPACK does, so signs are
its signs. Rotations (C. Jacobi, 1846; M. Hestenes, 1958) are as exact as what LAPACK does, and take
longer for large matrices; the signs of vectors are their own.
"""

from __future__ import annotations

SWEEPS = 60  # after which rotations are given up: they take ten or fewer

TEXTS_OF_DTYPES = {
    "reflect": """
static void reflect_S(i64 n, i64 m, const T* v, i64 step, T scale, T* a, i64 row) {
  if (scale == 0) return;  // a -= scale v v.T a; the first number of v is 1
  for (i64 j = 0; j < m; j++) {
    T sum = a[j];
    for (i64 i = 1; i < n; i++) sum += v[i * step] * a[i * row + j];
    sum *= scale;
    a[j] -= sum;
    for (i64 i = 1; i < n; i++) a[i * row + j] -= sum * v[i * step];
  }
}""",
    "qr": """
static void qr_S(i64 n, i64 m, const T* a, T* q, T* r, T* room) {  // by Householder's reflections
  const i64 k = n < m ? n : m;
  T *b = room, *scale = room + n * m;
  memcpy(b, a, (size_t)(n * m) * sizeof(T));
  for (i64 j = 0; j < k; j++) {
    T *column = b + j * m + j, below = 0;
    for (i64 i = 1; i < n - j; i++) below = hypotF(below, column[i * m]);
    const T first = column[0], norm = below == 0 ? first : -copysignF(hypotF(first, below), first);
    scale[j] = below == 0 ? 0 : (norm - first) / norm;
    for (i64 i = 1; i < n - j; i++) column[i * m] /= below == 0 ? 1 : first - norm;
    column[0] = norm;
    reflect_S(n - j, m - j - 1, column, m, scale[j], column + 1, m);
  }
  for (i64 i = 0; i < k; i++) {
    for (i64 j = 0; j < m; j++) r[i * m + j] = j < i ? 0 : b[i * m + j];
  }
  for (i64 i = 0; i < n * k; i++) q[i] = i / k == i % k;
  for (i64 j = k - 1; j >= 0; j--) {
    reflect_S(n - j, k - j, b + j * m + j, m, scale[j], q + j * k + j, k);
  }
}""",
    "rotate": """
static void rotate_S(i64 n, T* x, T* y, i64 step, T c, T s) {
  for (i64 i = 0; i < n; i++) {
    const T u = x[i * step], v = y[i * step];
    x[i * step] = c * u - s * v;
    y[i * step] = s * u + c * v;
  }
}""",
    "tangent": """
static T tangent_S(T across, T difference) {  // of the rotation that makes `across` zero
  const T ratio = difference / (2 * across);
  return copysignF(1, ratio) / (fabsF(ratio) + hypotF(1, ratio));
}""",
    "eigh": f"""
static bool eigh_S(i64 n, bool lower, const T* a, T* w, T* v, T* room) {{  // by Jacobi's rotations
  T *b = room, largest = 0;
  for (i64 i = 0; i < n * n; i++) {{
    const i64 row = i / n, column = i % n;
    b[i] = (row < column) == lower ? a[column * n + row] : a[i];
    v[i] = row == column;
    if (!(fabsF(b[i]) <= REACH)) return false;
    if (fabsF(b[i]) > largest) largest = fabsF(b[i]);
  }}
  bool found = true;
  for (int sweep = 0; found; sweep++) {{
    found = false;
    if (sweep == {SWEEPS}) return false;
    for (i64 p = 0; p < n; p++) {{
      for (i64 q = p + 1; q < n; q++) {{
        const T across = b[p * n + q];
        if (fabsF(across) <= EPSILON / 4 * largest) continue;
        const T t = tangent_S(across, b[q * n + q] - b[p * n + p]), c = 1 / hypotF(1, t);
        rotate_S(n, b + p * n, b + q * n, 1, c, c * t);
        rotate_S(n, b + p, b + q, n, c, c * t);
        rotate_S(n, v + p, v + q, n, c, c * t);
        b[p * n + q] = b[q * n + p] = 0;
        found = true;
      }}
    }}
  }}
  for (i64 k = 0; k < n; k++) {{  // the least one first
    i64 least = k;
    for (i64 j = k + 1; j < n; j++) least = b[j * n + j] < b[least * n + least] ? j : least;
    w[k] = b[least * n + least];
    b[least * n + least] = b[k * n + k];
    for (i64 i = 0; i < n && least != k; i++) {{
      const T x = v[i * n + k];
      v[i * n + k] = v[i * n + least];
      v[i * n + least] = x;
    }}
  }}
  return true;
}}""",
    "orthogonal": """
static void orthogonal_S(i64 n, i64 k, T* u, i64 row) {  // a column k that is so to those before
  for (i64 first = 0; first < n; first++) {
    for (i64 i = 0; i < n; i++) u[i * row + k] = i == first;
    for (i64 j = 0; j < 2 * k; j++) {  // twice: the first time leaves rounding errors
      T sum = 0;
      for (i64 i = 0; i < n; i++) sum += u[i * row + j % k] * u[i * row + k];
      for (i64 i = 0; i < n; i++) u[i * row + k] -= sum * u[i * row + j % k];
    }
    T norm = 0;
    for (i64 i = 0; i < n; i++) norm = hypotF(norm, u[i * row + k]);
    for (i64 i = 0; i < n; i++) u[i * row + k] /= norm;
    if (norm * norm * 2 * (T)n >= 1) return;
  }
}""",
    "svd": f"""
static bool svd_S(  // u (n, k), s and vt (k, m), k the smaller one, by Hestenes' rotations
    i64 n, i64 m, const T* a, T* u, T* s, T* vt, T* room) {{
  const bool wide = n < m;
  const i64 k = wide ? n : m, rows = wide ? m : n;
  T *b = room, *v = room + rows * k, largest = 0;  // columns of b become those of u, or of vt.T
  for (i64 i = 0; i < n * m; i++) {{
    b[wide ? i % m * k + i / m : i] = a[i];
    if (!(fabsF(a[i]) <= REACH)) return false;
    if (fabsF(a[i]) > largest) largest = fabsF(a[i]);
  }}
  for (i64 i = 0; i < rows * k; i++) b[i] /= largest == 0 ? 1 : largest;
  for (i64 i = 0; i < k * k; i++) v[i] = i / k == i % k;
  bool found = true;
  for (int sweep = 0; found; sweep++) {{
    found = false;
    if (sweep == {SWEEPS}) return false;
    for (i64 p = 0; p < k; p++) {{
      for (i64 q = p + 1; q < k; q++) {{
        T x = 0, y = 0, across = 0;
        for (i64 i = 0; i < rows; i++) {{
          x += b[i * k + p] * b[i * k + p];
          y += b[i * k + q] * b[i * k + q];
          across += b[i * k + p] * b[i * k + q];
        }}
        if (fabsF(across) <= EPSILON * sqrtF(x) * sqrtF(y)) continue;
        const T t = tangent_S(across, y - x), c = 1 / hypotF(1, t);
        rotate_S(rows, b + p, b + q, k, c, c * t);
        rotate_S(k, v + p, v + q, k, c, c * t);
        found = true;
      }}
    }}
  }}
  for (i64 j = 0; j < k; j++) {{
    s[j] = 0;
    for (i64 i = 0; i < rows; i++) s[j] = hypotF(s[j], b[i * k + j]);
  }}
  for (i64 j = 0; j < k; j++) {{  // the largest one first
    i64 most = j;
    for (i64 i = j + 1; i < k; i++) most = s[i] > s[most] ? i : most;
    const T norm = s[most];
    s[most] = s[j];
    s[j] = norm * largest;
    if (most != j) {{
      rotate_S(rows, b + j, b + most, k, 0, 1);
      rotate_S(k, v + j, v + most, k, 0, 1);
    }}
    for (i64 i = 0; i < rows && norm > 0; i++) b[i * k + j] /= norm;
    if (norm == 0) orthogonal_S(rows, j, b, k);
  }}
  for (i64 i = 0; i < n * k; i++) u[i] = wide ? v[i] : b[i];
  for (i64 i = 0; i < k * m; i++) vt[i] = (wide ? b : v)[i % m * k + i / m];
  return true;
}}""",
}
