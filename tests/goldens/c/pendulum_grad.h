#ifndef PENDULUM_GRAD_H
#define PENDULUM_GRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// d pendulum / d u.  From models.py:6.
//
//   u     double[u_0]
//   x0    double[2]
//   out   double[u_0], a result
//   work  memory for the function itself, aligned as malloc aligns
//
// Arrays lie row by row; results share no memory with anything else.
// It returns 0, or the number of an error.
int pendulum_grad(const double* u, int64_t u_0, const double* x0, double* out, void* work);

// The bytes that it needs at work.
size_t pendulum_grad_work(int64_t u_0);

// What a number that it returns means.
const char* pendulum_grad_error(int number);

#ifdef __cplusplus
}
#endif

#endif
