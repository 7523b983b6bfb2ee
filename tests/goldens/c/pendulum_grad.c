// d pendulum / d u.  From models.py:6.
#include "pendulum_grad.h"

#include <math.h>

typedef int64_t i64;

static size_t rounded(size_t bytes) {  // so that what follows is aligned
  return (bytes + 15) / 16 * 16;
}

size_t pendulum_grad_work(int64_t u_0) {
  size_t bytes = rounded(u_0 * sizeof(double));
  bytes += rounded(u_0 * 2 * sizeof(double));
  return bytes;
}

static void pendulum_grad_kernel(
    const double* restrict u, const double* restrict x0, double* restrict sums,
    double* restrict cos_saved, double* restrict x_saved, i64 u_0) {
  double x[2];
  double out[2];
  double x_bar[2];
  double x_bar_2[2];
  for (i64 i = 0; i < 2; i++) {
    x[i] = x0[i];  // line 7
  }
  for (i64 k = 0; k < u_0; k++) {  // line 8
    double t = x[1];  // line 9
    double t_2 = u[k] - 0.1 * t;
    double t_3 = x[0];
    double cos_2 = cos(t_3);
    cos_saved[k] = cos_2;
    out[0] = t;
    out[1] = t_2 - 9.81 * sin(t_3);
    for (i64 i = 0; i < 2; i++) {
      double x_2 = x[i] + 0.1 * out[i];
      x[i] = x_2;
      x_saved[k * 2 + i] = x_2;
    }
  }
  for (i64 i = 0; i < 2; i++) {
    x_bar[i] = 0.0;
  }
  for (i64 k_2 = u_0 - 1; k_2 >= 0; k_2--) {  // line 8
    double cos_3 = cos_saved[k_2];
    double t_4 = 0.2 * u[k_2];  // line 10
    double t_5 = -9.81 * cos_3;  // line 9
    for (i64 i = 0; i < 2; i++) {
      double x_bar_3 = x_bar[i] + 2.0 * x_saved[k_2 * 2 + i];  // line 10
      x_bar_2[i] = x_bar_3;
      out[i] = 0.1 * x_bar_3;  // line 9
    }
    double t_6 = out[0];
    double t_7 = out[1];
    x_bar_2[0] += t_7 * t_5;
    sums[k_2] += t_4 + t_7;
    x_bar_2[1] += t_6 - 0.1 * t_7;
    for (i64 i = 0; i < 2; i++) {
      x_bar[i] = x_bar_2[i];
    }
  }
}

int pendulum_grad(const double* u, int64_t u_0, const double* x0, double* out, void* work) {
  char* at = work;
  double* cos_saved = (double*)at;
  at += rounded(u_0 * sizeof(double));
  double* x_saved = (double*)at;
  if (u_0 < 2) return 1;
  for (i64 k = 0; k < u_0; k++) out[k] = 0.0;  // line 9
  pendulum_grad_kernel(u, x0, out, cos_saved, x_saved, u_0);
  return 0;
}

const char* pendulum_grad_error(int number) {
  switch (number) {
    case 1: return "ValueError: axis 0 of u has fewer than 2 elements: this code was made for longer ones";
  }
  return "";
}
