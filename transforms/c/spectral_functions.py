"""Defines in C what derivatives of eigenvalues and singular values need where some are equal.

inverse_gaps(w)      becomes      gaps_f64(w_0, w, out);

They are the functions of `transforms/ops/linalg/repeated_eigenvalues.py`, which explains them.
"""

from __future__ import annotations

TEXTS_OF_DTYPES = {
    "gaps": """
static void gaps_S(i64 n, const T* w, T* out) {  // 1 / (w[j] - w[i]), 0 where they are the same
  T near = 0;
  for (i64 i = 0; i < n; i++) near += 8 * EPSILON * fabsF(w[i]);
  for (i64 i = 0; i < n * n; i++) {
    const T gap = w[i % n] - w[i / n];
    out[i] = fabsF(gap) <= near ? 0 : 1 / gap;
  }
}""",
    "inverses": """
static void inverses_S(i64 n, const T* s, T* out) {  // 1 / (s[i] + s[j]), 0 where both are 0
  for (i64 i = 0; i < n * n; i++) {
    const T sum = s[i % n] + s[i / n];
    out[i] = sum == 0 ? 0 : 1 / sum;
  }
}""",
    "largest": """
static T largest_S(i64 n, const T* x) {  // of sizes; nan if there is one
  T largest = 0;
  for (i64 i = 0; i < n; i++) largest = fabsF(x[i]) <= largest ? largest : fabsF(x[i]);
  for (i64 i = 0; i < n; i++) largest = x[i] != x[i] ? x[i] : largest;
  return largest;
}""",
    "parted": """
static void parted_S(  // the diagonal of moved, nan where equal values turn, and moved times gaps
    i64 n, const T* gaps, const T* moved, T* values, T* turns) {
  const T near = (T)1e4 * EPSILON * largest_S(n * n, moved);
  for (i64 i = 0; i < n; i++) values[i] = moved[i * n + i];
  for (i64 i = 0; i < n * n; i++) {
    const bool is_equal = gaps[i] == 0 && i / n != i % n;
    if (is_equal && fabsF(moved[i]) > near) values[i / n] = (T)NAN;
    turns[i] = gaps[i] * moved[i];
  }
}""",
    "clear": """
static void clear_S(  // 1, or nan where something depends on how vectors of equal values turn
    i64 n, const T* gaps, const T* x, const bool* values, const bool* vectors, T* out) {
  const T size = largest_S(n * n, x), least = sqrtF(sqrtF(EPSILON));
  const T near = sqrtF(EPSILON) * (size < least ? least : size);
  for (i64 i = 0; i < n * n; i++) {
    const i64 j = i / n, k = i % n;
    const bool of_values = values != NULL && (values[j] || values[k]);
    const bool of_vectors = vectors == NULL || vectors[j] || vectors[k];
    const bool is_uneven = fabsF(x[i] - x[k * n + j]) > near || (of_values && of_vectors);
    out[i] = gaps[i] == 0 && j != k && is_uneven ? (T)NAN : 1;
  }
}""",
}
