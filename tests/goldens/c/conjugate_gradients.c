// conjugate_gradients.  From models.py:14.
#include "conjugate_gradients.h"

#include <math.h>

typedef int64_t i64;

static void product_f64(  // out = a @ b; strides are in numbers
    i64 n, i64 m, i64 k, const double* a, i64 a_row, i64 a_column,
    const double* b, i64 b_row, i64 b_column, double* restrict out) {
  for (i64 i = 0; i < n; i++) {
    for (i64 j = 0; j < m; j++) out[i * m + j] = 0;
    for (i64 l = 0; l < k; l++) {
      const double x = a[i * a_row + l * a_column];
      for (i64 j = 0; j < m; j++) out[i * m + j] += x * b[l * b_row + j * b_column];
    }
  }
}

static size_t rounded(size_t bytes) {  // so that what follows is aligned
  return (bytes + 15) / 16 * 16;
}

size_t conjugate_gradients_work(int64_t a_0, int64_t a_1, int64_t b_0, int64_t steps) {
  (void)a_1;
  (void)steps;
  size_t bytes = rounded(b_0 * sizeof(double));
  bytes += rounded(a_0 * sizeof(double));
  bytes += rounded(b_0 * sizeof(double));
  bytes += rounded(b_0 * sizeof(double));
  bytes += rounded(a_0 * sizeof(double));
  return bytes;
}

static void conjugate_gradients_kernel(
    const double* restrict a, const double* restrict b, i64 steps, double* restrict product_2,
    double* restrict x, double* restrict p, double* restrict r_2, double* restrict q, i64 a_1,
    i64 b_0) {
  for (i64 i = 0; i < b_0; i++) {
    double r = b[i] - product_2[i];  // line 16
    product_2[i] = r;
    p[i] = product_2[i];  // line 17
  }
  for (i64 i = 0; i < b_0; i++) {
    x[i] = 0.0;
  }
  for (i64 i = 0; i < b_0; i++) {
    r_2[i] = product_2[i];
  }
  for (i64 i_2 = 0; i_2 < steps; i_2++) {  // line 18
    double total = 0.0;  // line 20
    for (i64 i = 0; i < b_0; i++) {
      total += r_2[i] * r_2[i];
    }
    double total_2 = 0.0;
    for (i64 i = 0; i < b_0; i++) {
      double q_2 = 0.0;  // line 19
      for (i64 j = 0; j < b_0; j++) {
        q_2 += a[i * a_1 + j] * p[j];
      }
      q[i] = q_2;
      total_2 += p[i] * q_2;  // line 20
    }
    double alpha = total / total_2;
    double total_3 = 0.0;  // line 23
    for (i64 i = 0; i < b_0; i++) {
      x[i] += alpha * p[i];  // line 21
      double new = r_2[i] - alpha * q[i];  // line 22
      r_2[i] = new;
      total_3 += new * new;  // line 23
    }
    double t = total_3 / total;
    for (i64 i = 0; i < b_0; i++) {
      p[i] = r_2[i] + t * p[i];
    }
  }
}

int conjugate_gradients(
    const double* a, int64_t a_0, int64_t a_1, const double* b, int64_t b_0, int64_t steps,
    double* out, void* work) {
  char* at = work;
  double* x = (double*)at;
  at += rounded(b_0 * sizeof(double));
  double* t = (double*)at;
  at += rounded(a_0 * sizeof(double));
  double* p = (double*)at;
  at += rounded(b_0 * sizeof(double));
  double* r = (double*)at;
  at += rounded(b_0 * sizeof(double));
  double* q = (double*)at;
  if (b_0 != a_1) return 1;  // line 16
  if (a_0 != b_0) return 1;  // line 16
  if (a_0 < 2) return 2;
  if (a_1 < 2) return 3;
  if (b_0 < 2) return 4;
  for (i64 k = 0; k < b_0; k++) x[k] = 0.0;  // line 15
  product_f64(a_0, 1, a_1, a, a_1, 1, x, 1, 0, t);  // line 16
  conjugate_gradients_kernel(a, b, steps, t, out, p, r, q, a_1, b_0);
  return 0;
}

const char* conjugate_gradients_error(int number) {
  switch (number) {
    case 1: return "ValueError: operands could not be broadcast together: the lengths differ";
    case 2: return "ValueError: axis 0 of a has fewer than 2 elements: this code was made for longer ones";
    case 3: return "ValueError: axis 1 of a has fewer than 2 elements: this code was made for longer ones";
    case 4: return "ValueError: axis 0 of b has fewer than 2 elements: this code was made for longer ones";
  }
  return "";
}
