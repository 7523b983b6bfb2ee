"""Defines in C what numbers an array has, each once and in order, and where they are.

np.unique(x)      becomes      unique_f64(x_0, x, true, order, values, NULL, NULL, NULL);
"""

from __future__ import annotations

TEXTS_OF_DTYPES = {
    "missing": """
static bool missing_S(T x) { return !(x <= 0 || x > 0); }  // nan""",
    "comes_first": """
static bool comes_first_S(const T* x, i64 i, i64 j) {  // nan last; of equal numbers the first
  if (missing_S(x[i]) || missing_S(x[j])) {
    return missing_S(x[i]) == missing_S(x[j]) ? i < j : missing_S(x[j]);
  }
  return x[i] < x[j] || (x[i] == x[j] && i < j);
}""",
    "order": """
static void order_S(i64 n, const T* x, i64* order) {  // by heap sort
  for (i64 k = 0; k < n; k++) order[k] = k;
  for (i64 first = n / 2, last = n; last > 1;) {
    if (first > 0) {
      first--;
    } else {
      last--;
      const i64 most = order[0];
      order[0] = order[last];
      order[last] = most;
    }
    const i64 moved = order[first];
    i64 at = first;
    for (i64 below = 2 * at + 1; below < last; below = 2 * at + 1) {
      if (below + 1 < last && comes_first_S(x, order[below], order[below + 1])) below++;
      if (!comes_first_S(x, moved, order[below])) break;
      order[at] = order[below];
      at = below;
    }
    order[at] = moved;
  }
}""",
    "unique": """
static i64 unique_S(  // how many; their values, first places, places among them, and counts
    i64 n, const T* x, bool one_nan, i64* order, T* values, i64* index, i64* inverse, i64* counts) {
  i64 count = 0;
  order_S(n, x, order);
  for (i64 k = 0; k < n; k++) {
    const i64 at = order[k];
    const T value = x[at];
    const bool is_nan = k > 0 && missing_S(value) && missing_S(x[order[k - 1]]);
    const bool is_new = k == 0 || !(is_nan ? one_nan : value == x[order[k - 1]]);
    if (is_new && values) values[count] = value;
    if (is_new && index) index[count] = at;
    if (is_new && counts) counts[count] = 0;
    count += is_new;
    if (inverse) inverse[at] = count - 1;
    if (counts) counts[count - 1]++;
  }
  return count;
}""",
}
