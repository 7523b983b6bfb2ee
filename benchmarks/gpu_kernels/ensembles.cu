// Programs of loops, a thread for each element of a batch. Macro: REAL.
typedef long long i64;
__device__ __forceinline__ void both(float x, float* s, float* c) { sincosf(x, s, c); }
__device__ __forceinline__ void both(double x, double* s, double* c) { sincos(x, s, c); }
__device__ __forceinline__ float f_sin(float x) { return sinf(x); }
__device__ __forceinline__ double f_sin(double x) { return sin(x); }
__device__ __forceinline__ float f_cos(float x) { return cosf(x); }
__device__ __forceinline__ double f_cos(double x) { return cos(x); }
__device__ __forceinline__ float f_abs(float x) { return fabsf(x); }
__device__ __forceinline__ double f_abs(double x) { return fabs(x); }
__device__ __forceinline__ float f_sqrt(float x) { return sqrtf(x); }
__device__ __forceinline__ double f_sqrt(double x) { return sqrt(x); }
#define SMALL (sizeof(REAL) == 8 ? (REAL)1e-12 : (REAL)1e-5)
#define THREAD i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;

extern "C" __global__ void __launch_bounds__(512) kepler_kernel(i64 rows, const REAL* __restrict__ mean, const REAL* __restrict__ ecc, REAL* __restrict__ out) {
  THREAD
  for (i64 i = thread; i < rows; i += threads) {
    REAL m = mean[i], c = ecc[i], e = m + c * f_sin(m), step = 1;
    while (f_abs(step) > SMALL) {
      step = (e - c * f_sin(e) - m) / (1 - c * f_cos(e));
      e = e - step;
    }
    out[i] = e;
  }
}
extern "C" __global__ void __launch_bounds__(512) kepler_both_kernel(i64 rows, const REAL* __restrict__ mean, const REAL* __restrict__ ecc, REAL* __restrict__ out) {
  THREAD
  for (i64 i = thread; i < rows; i += threads) {
    REAL m = mean[i], c = ecc[i], e = m + c * f_sin(m), step = 1;
    while (f_abs(step) > SMALL) {
      REAL s, k;
      both(e, &s, &k);
      step = (e - c * s - m) / (1 - c * k);
      e = e - step;
    }
    out[i] = e;
  }
}
extern "C" __global__ void __launch_bounds__(512) mandelbrot_kernel(i64 rows, const REAL* __restrict__ a, const REAL* __restrict__ b, REAL* __restrict__ out) {
  THREAD
  for (i64 i = thread; i < rows; i += threads) {
    REAL cx = a[i], cy = b[i], x = 0, y = 0, n = 0;
    while (x * x + y * y < (REAL)4 && n < 200) {
      REAL next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
      n = n + 1;
    }
    out[i] = n;
  }
}
// Threads that are done take the next row from a counter, a warp at a time.
extern "C" __global__ void __launch_bounds__(512) mandelbrot_counter_kernel(i64 rows, const REAL* __restrict__ a, const REAL* __restrict__ b, REAL* __restrict__ out, unsigned long long* next_row) {
  unsigned lane = threadIdx.x % 32;
  i64 i = -1;
  REAL cx = 0, cy = 0, x = 0, y = 0, n = 0;
  bool more = true, busy = false;
  while (true) {
    unsigned idle = __ballot_sync(~0u, !busy);
    if (more && __popc(idle) >= 16) {
      unsigned long long begin = 0;
      if (lane == 0) begin = atomicAdd(next_row, (unsigned long long)__popc(idle));
      begin = __shfl_sync(~0u, begin, 0);
      if (!busy) {
        i = begin + __popc(idle & ((1u << lane) - 1));
        busy = i < rows;
        if (busy) { cx = a[i]; cy = b[i]; x = y = n = 0; }
      }
      more = begin + __popc(idle) < rows;
    }
    if (!__any_sync(~0u, busy)) { if (!more) return; continue; }
    for (int pass = 0; pass < 8; pass++) {
      if (busy && x * x + y * y < (REAL)4 && n < 200) {
        REAL t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n = n + 1;
      } else if (busy) {
        out[i] = n;
        busy = false;
      }
    }
  }
}
extern "C" __global__ void __launch_bounds__(512) lorenz_kernel(i64 rows, const REAL* __restrict__ s, i64 steps, REAL* __restrict__ out) {
  THREAD
  for (i64 i = thread; i < rows; i += threads) {
    REAL x = s[i * 3], y = s[i * 3 + 1], z = s[i * 3 + 2];
    for (i64 t = 0; t < steps; t++) {
      REAL dx = (REAL)10 * (y - x), dy = x * ((REAL)28 - z) - y, dz = x * y - (REAL)(8.0 / 3) * z;
      x += (REAL)0.001 * dx;
      y += (REAL)0.001 * dy;
      z += (REAL)0.001 * dz;
    }
    out[i] = x + y + z;
  }
}
// Its gradient: three numbers a step are kept, side by side for the threads.
extern "C" __global__ void __launch_bounds__(512) lorenz_grad_kernel(i64 rows, const REAL* __restrict__ s, i64 steps, REAL* __restrict__ s_bar, REAL* __restrict__ own) {
  THREAD
  REAL *xs = own, *ys = own + steps * threads, *zs = own + 2 * steps * threads;
  for (i64 i = thread; i < rows; i += threads) {
    REAL x = s[i * 3], y = s[i * 3 + 1], z = s[i * 3 + 2];
    for (i64 t = 0; t < steps; t++) {
      xs[t * threads + thread] = x; ys[t * threads + thread] = y; zs[t * threads + thread] = z;
      REAL dx = (REAL)10 * (y - x), dy = x * ((REAL)28 - z) - y, dz = x * y - (REAL)(8.0 / 3) * z;
      x += (REAL)0.001 * dx; y += (REAL)0.001 * dy; z += (REAL)0.001 * dz;
    }
    REAL x_bar = 1, y_bar = 1, z_bar = 1;
    for (i64 t = steps - 1; t >= 0; t--) {
      x = xs[t * threads + thread]; y = ys[t * threads + thread]; z = zs[t * threads + thread];
      REAL dx = (REAL)0.001 * x_bar, dy = (REAL)0.001 * y_bar, dz = (REAL)0.001 * z_bar;
      x_bar += -(REAL)10 * dx + ((REAL)28 - z) * dy + y * dz;
      y_bar += (REAL)10 * dx - dy + x * dz;
      z_bar += -x * dy - (REAL)(8.0 / 3) * dz;
    }
    s_bar[i * 3] = x_bar; s_bar[i * 3 + 1] = y_bar; s_bar[i * 3 + 2] = z_bar;
  }
}
// N-body: accelerations; a thread for each body, the others from memory, or from tiles in shared memory.
extern "C" __global__ void n_body_kernel(i64 rows, const REAL* __restrict__ x, const REAL* __restrict__ mass, REAL* __restrict__ out) {
  THREAD
  for (i64 i = thread; i < rows; i += threads) {
    REAL px = x[i * 3], py = x[i * 3 + 1], pz = x[i * 3 + 2], ax = 0, ay = 0, az = 0;
    for (i64 j = 0; j < rows; j++) {
      REAL dx = x[j * 3] - px, dy = x[j * 3 + 1] - py, dz = x[j * 3 + 2] - pz;
      REAL r2 = dx * dx + dy * dy + dz * dz + (REAL)0.01, t = mass[j] / (r2 * f_sqrt(r2));
      ax += dx * t; ay += dy * t; az += dz * t;
    }
    out[i * 3] = ax; out[i * 3 + 1] = ay; out[i * 3 + 2] = az;
  }
}
// The same with a team of threads for each body.
extern "C" __global__ void n_body_teams_kernel(i64 rows, const REAL* __restrict__ x, const REAL* __restrict__ mass, REAL* __restrict__ out) {
  for (i64 i = blockIdx.x * (i64)blockDim.y + threadIdx.y; i < rows; i += gridDim.x * (i64)blockDim.y) {
    REAL px = x[i * 3], py = x[i * 3 + 1], pz = x[i * 3 + 2], ax = 0, ay = 0, az = 0;
    for (i64 j = threadIdx.x; j < rows; j += blockDim.x) {
      REAL dx = x[j * 3] - px, dy = x[j * 3 + 1] - py, dz = x[j * 3 + 2] - pz;
      REAL r2 = dx * dx + dy * dy + dz * dz + (REAL)0.01, t = mass[j] / (r2 * f_sqrt(r2));
      ax += dx * t; ay += dy * t; az += dz * t;
    }
    for (unsigned d = blockDim.x / 2; d; d /= 2) { ax += __shfl_xor_sync(~0u, ax, d); ay += __shfl_xor_sync(~0u, ay, d); az += __shfl_xor_sync(~0u, az, d); }
    if (threadIdx.x == 0) { out[i * 3] = ax; out[i * 3 + 1] = ay; out[i * 3 + 2] = az; }
  }
}
// A pass of a loop whose passes are parted by barriers of one block: what a driver's launch would cost instead.
extern "C" __global__ void barriers_kernel(i64 passes, REAL* x) {
  __shared__ REAL v[1024];
  v[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (i64 t = 0; t < passes; t++) {
    REAL next = (REAL)0.5 * (v[threadIdx.x] + v[(threadIdx.x + 1) % blockDim.x]);
    __syncthreads();
    v[threadIdx.x] = next;
    __syncthreads();
  }
  x[threadIdx.x] = v[threadIdx.x];
}
