// Programs of single numbers, read once and stored once. Macros: REAL (float, double), BYTES of a load (4, 8, 16), LOADS
// in flight for each thread.
typedef long long i64;
const int WIDTH = BYTES / sizeof(REAL) ? BYTES / sizeof(REAL) : 1;
struct alignas(sizeof(REAL) * WIDTH) Wide { REAL v[WIDTH]; };

__device__ __forceinline__ float f_sin(float x) { return sinf(x); }
__device__ __forceinline__ double f_sin(double x) { return sin(x); }
__device__ __forceinline__ float f_cos(float x) { return cosf(x); }
__device__ __forceinline__ double f_cos(double x) { return cos(x); }
__device__ __forceinline__ void both(float x, float* s, float* c) { sincosf(x, s, c); }
__device__ __forceinline__ void both(double x, double* s, double* c) { sincos(x, s, c); }

// The sine by a reduction with three terms of pi/2 and two polynomials without a branch but for large numbers.
__device__ __forceinline__ float own_sin(float x) {
  float turns = rintf(x * 0.636619747f);
  float r = fmaf(turns, -1.57079601f, x);
  r = fmaf(turns, -3.13916473e-7f, r);
  r = fmaf(turns, -5.39030253e-15f, r);
  float s = r * r;
  float even = fmaf(s, fmaf(s, fmaf(s, 2.44331571e-5f, -1.38873163e-3f), 4.16666456e-2f), -0.5f);
  float odd = fmaf(s, fmaf(s, -1.95152959e-4f, 8.33216087e-3f), -1.66666546e-1f);
  int k = (int)turns;
  float y = k & 1 ? fmaf(s, even, 1.0f) : fmaf(r * s, odd, r);
  y = k & 2 ? -y : y;
  return fabsf(x) < 48039.0f ? y : sinf(x);
}
__device__ __forceinline__ double own_sin(double x) { return sin(x); }

__device__ __forceinline__ REAL cube_point(REAL x) { return x * x * x; }
__device__ __forceinline__ REAL sincos_point(REAL x) { REAL s, c; both(x, &s, &c); return s + c; }
__device__ __forceinline__ REAL sin_cos_point(REAL x) { return f_sin(x) + f_cos(x); }
__device__ __forceinline__ REAL quad_point(REAL x) { return x + x * x + (REAL)3; }
__device__ __forceinline__ REAL s3_point(REAL x) {
#pragma unroll 1
  for (int t = 0; t < 10; t++) x = (REAL)0.5 * x + (REAL)0.1 * f_sin(x);
  return x;
}
__device__ __forceinline__ REAL s3_unrolled_point(REAL x) {
#pragma unroll
  for (int t = 0; t < 10; t++) x = (REAL)0.5 * x + (REAL)0.1 * f_sin(x);
  return x;
}
__device__ __forceinline__ REAL s3_own_point(REAL x) {
#pragma unroll 1
  for (int t = 0; t < 10; t++) x = (REAL)0.5 * x + (REAL)0.1 * own_sin(x);
  return x;
}

#define POINTS(NAME)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(512) NAME##_kernel(i64 rows, const REAL* __restrict__ x,              \
                                                                  REAL* __restrict__ out) {                          \
    i64 wide = rows / WIDTH, threads = (i64)gridDim.x * blockDim.x;                                                  \
    i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;                                                              \
    for (; k + (LOADS - 1) * threads < wide; k += LOADS * threads) {                                                 \
      Wide held[LOADS];                                                                                              \
      _Pragma("unroll") for (int l = 0; l < LOADS; l++) held[l] = ((const Wide*)x)[k + l * threads];                 \
      _Pragma("unroll") for (int l = 0; l < LOADS; l++) {                                                            \
        _Pragma("unroll") for (int u = 0; u < WIDTH; u++) held[l].v[u] = NAME##_point(held[l].v[u]);                 \
        ((Wide*)out)[k + l * threads] = held[l];                                                                     \
      }                                                                                                              \
    }                                                                                                                \
    for (; k < wide; k += threads) {                                                                                 \
      Wide held = ((const Wide*)x)[k];                                                                               \
      _Pragma("unroll") for (int u = 0; u < WIDTH; u++) held.v[u] = NAME##_point(held.v[u]);                         \
      ((Wide*)out)[k] = held;                                                                                        \
    }                                                                                                                \
    for (i64 i = wide * WIDTH + (i64)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += threads)                  \
      out[i] = NAME##_point(x[i]);                                                                                   \
  }
POINTS(cube)
POINTS(quad)
POINTS(sincos)
POINTS(sin_cos)
POINTS(s3)
POINTS(s3_unrolled)
POINTS(s3_own)

// S1: sin(x) + cos(y) with y along the rows of x. The cosine of y is computed for each element, or read.
#define ROWS_OF_Y(NAME, VALUE)                                                                                        \
  extern "C" __global__ void __launch_bounds__(512) NAME##_kernel(i64 rows, const REAL* __restrict__ x,              \
                                                                  const REAL* __restrict__ y, REAL* __restrict__ out, i64 columns) { \
    i64 wide = rows / WIDTH, threads = (i64)gridDim.x * blockDim.x;                                                  \
    unsigned across = columns / WIDTH;                                                                               \
    for (i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x; k < wide; k += threads) {                               \
      Wide held = ((const Wide*)x)[k], beside = ((const Wide*)y)[(unsigned)k % across];                              \
      _Pragma("unroll") for (int u = 0; u < WIDTH; u++) held.v[u] = f_sin(held.v[u]) + VALUE(beside.v[u]);           \
      ((Wide*)out)[k] = held;                                                                                        \
    }                                                                                                                \
  }
ROWS_OF_Y(s1, f_cos)
ROWS_OF_Y(s1_read, )

// The same with a team for each row: blockDim.x threads of a row, blockDim.y rows a block.
extern "C" __global__ void s1_rows_kernel(i64 rows, const REAL* __restrict__ x, const REAL* __restrict__ y, REAL* __restrict__ out, i64 columns) {
  for (i64 i = blockIdx.x * (i64)blockDim.y + threadIdx.y; i < rows; i += gridDim.x * (i64)blockDim.y)
    for (i64 j = threadIdx.x; j < columns; j += blockDim.x) out[i * columns + j] = f_sin(x[i * columns + j]) + f_cos(y[j]);
}
extern "C" __global__ void empty_kernel(i64 rows) {}
extern "C" __global__ void touch_kernel(i64 rows, const REAL* x, REAL* out, i64 columns) { if (rows < 0) out[0] = x[0]; }
