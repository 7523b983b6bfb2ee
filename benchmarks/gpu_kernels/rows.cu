// Programs of rows: blockDim.x threads share a row, blockDim.y rows are in a block (one row where blockDim.x > 32).
// Macros: REAL, WIDTH (numbers a load), MODE (0: the row is read again for each pass; 1: it is staged in shared memory;
// 2: the exponentials are kept in memory of the device, as they are for arrays of the program).
typedef long long i64;
struct alignas(sizeof(REAL) * WIDTH) Wide { REAL v[WIDTH]; };
#define INFINITE ((REAL)__longlong_as_double(0x7ff0000000000000LL))
__device__ __forceinline__ float f_exp(float x) { return expf(x); }
__device__ __forceinline__ double f_exp(double x) { return exp(x); }
__device__ __forceinline__ float f_log(float x) { return logf(x); }
__device__ __forceinline__ double f_log(double x) { return log(x); }
__device__ __forceinline__ float f_sqrt(float x) { return sqrtf(x); }
__device__ __forceinline__ double f_sqrt(double x) { return sqrt(x); }

__device__ __forceinline__ unsigned team_mask() {  // the lanes of this warp that share its row
  unsigned lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
  return blockDim.x >= 32 ? ~0u : ((1u << blockDim.x) - 1) << lane / blockDim.x * blockDim.x;
}
struct Sum { static __device__ REAL join(REAL a, REAL b) { return a + b; } static __device__ REAL start() { return 0; } };
struct Max { static __device__ REAL join(REAL a, REAL b) { return a > b || a != a ? a : b; } static __device__ REAL start() { return -INFINITE; } };
template <class J> __device__ __forceinline__ REAL team(REAL a) {
  unsigned wide = blockDim.x < 32 ? blockDim.x : 32, mask = team_mask();
  for (unsigned d = wide / 2; d; d /= 2) a = J::join(a, __shfl_xor_sync(mask, a, d));
  if (blockDim.x > 32) {
    __shared__ REAL parts[32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = a;
    __syncthreads();
    a = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : J::start();
    for (unsigned d = 16; d; d /= 2) a = J::join(a, __shfl_xor_sync(~0u, a, d));
  }
  return a;
}
#define ROW                                                                                                           \
  extern __shared__ __align__(16) char shared_bytes[];                                                               \
  i64 team_index = blockIdx.x * (i64)blockDim.y + threadIdx.y, teams = gridDim.x * (i64)blockDim.y;                  \
  i64 wide = columns / WIDTH;                                                                                        \
  Wide* held = MODE == 1 ? (Wide*)shared_bytes + threadIdx.y * wide : (Wide*)own_all + team_index * wide;
#define EACH for (i64 j = threadIdx.x; j < wide; j += blockDim.x)
#define LANES _Pragma("unroll") for (int u = 0; u < WIDTH; u++)

extern "C" __global__ void softmax_kernel(i64 rows, const REAL* __restrict__ x, REAL* __restrict__ out, REAL* own_all, i64 columns) {
  ROW
  for (i64 i = team_index; i < rows; i += teams) {
    const Wide* row = (const Wide*)(x + i * columns);
    Wide* to = (Wide*)(out + i * columns);
    REAL largest = -INFINITE, total = 0;
    EACH { Wide w = row[j]; if (MODE == 1) held[j] = w; LANES largest = Max::join(largest, w.v[u]); }
    largest = team<Max>(largest);
    EACH { Wide w = MODE == 1 ? held[j] : row[j]; LANES { w.v[u] = f_exp(w.v[u] - largest); total += w.v[u]; } if (MODE) held[j] = w; }
    total = team<Sum>(total);
    EACH { Wide w = MODE ? held[j] : row[j]; LANES { REAL e = MODE ? w.v[u] : f_exp(w.v[u] - largest); w.v[u] = e / total; } to[j] = w; }
  }
}
// With one division a row.
extern "C" __global__ void softmax_times_kernel(i64 rows, const REAL* __restrict__ x, REAL* __restrict__ out, REAL* own_all, i64 columns) {
  ROW
  for (i64 i = team_index; i < rows; i += teams) {
    const Wide* row = (const Wide*)(x + i * columns);
    Wide* to = (Wide*)(out + i * columns);
    REAL largest = -INFINITE, total = 0;
    EACH { Wide w = row[j]; if (MODE == 1) held[j] = w; LANES largest = Max::join(largest, w.v[u]); }
    largest = team<Max>(largest);
    EACH { Wide w = MODE == 1 ? held[j] : row[j]; LANES { w.v[u] = f_exp(w.v[u] - largest); total += w.v[u]; } if (MODE) held[j] = w; }
    REAL part = 1 / team<Sum>(total);
    EACH { Wide w = MODE ? held[j] : row[j]; LANES { REAL e = MODE ? w.v[u] : f_exp(w.v[u] - largest); w.v[u] = e * part; } to[j] = w; }
  }
}
extern "C" __global__ void layer_norm_kernel(i64 rows, const REAL* __restrict__ x, REAL* __restrict__ out, REAL* own_all, i64 columns) {
  ROW
  for (i64 i = team_index; i < rows; i += teams) {
    const Wide* row = (const Wide*)(x + i * columns);
    Wide* to = (Wide*)(out + i * columns);
    REAL total = 0, squares = 0;
    EACH { Wide w = row[j]; if (MODE) held[j] = w; LANES total += w.v[u]; }
    REAL mean = team<Sum>(total) / columns;
    EACH { Wide w = MODE ? held[j] : row[j]; LANES { REAL d = w.v[u] - mean; squares += d * d; } }
    REAL deviation = f_sqrt(team<Sum>(squares) / columns + (REAL)1e-5);
    EACH { Wide w = MODE ? held[j] : row[j]; LANES w.v[u] = (w.v[u] - mean) / deviation; to[j] = w; }
  }
}
// Softmax cross-entropy, its value (a part for each block) and its gradient by the logits.
extern "C" __global__ void cross_entropy_kernel(i64 rows, const REAL* __restrict__ x, const i64* __restrict__ labels, REAL* __restrict__ out,
                                                REAL* own_all, REAL* __restrict__ parts, i64 columns) {
  ROW
  __shared__ REAL losses[32];
  REAL loss = 0, scale = (REAL)1 / (REAL)rows;
  for (i64 i = team_index; i < rows; i += teams) {
    const Wide* row = (const Wide*)(x + i * columns);
    Wide* to = (Wide*)(out + i * columns);
    REAL largest = -INFINITE, total = 0;
    EACH { Wide w = row[j]; if (MODE == 1) held[j] = w; LANES largest = Max::join(largest, w.v[u]); }
    largest = team<Max>(largest);
    EACH { Wide w = MODE == 1 ? held[j] : row[j]; LANES { w.v[u] = f_exp(w.v[u] - largest); total += w.v[u]; } if (MODE) held[j] = w; }
    total = team<Sum>(total);
    i64 label = labels[i];
    if (threadIdx.x == 0) loss += f_log(total) - (x[i * columns + label] - largest);
    REAL part = scale / total;
    EACH { Wide w = MODE ? held[j] : row[j]; LANES { REAL e = MODE ? w.v[u] : f_exp(w.v[u] - largest); w.v[u] = e * part - (j * WIDTH + u == label ? scale : (REAL)0); } to[j] = w; }
  }
  __syncthreads();
  if (blockDim.x > 32) { if (threadIdx.x == 0) parts[blockIdx.x] = loss; return; }
  unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int d = 16; d; d /= 2) loss += __shfl_xor_sync(~0u, loss, d);
  if (thread % 32 == 0) losses[thread / 32] = loss;
  __syncthreads();
  if (thread == 0) { loss = 0; for (unsigned k = 0; k < blockDim.x * blockDim.y / 32; k++) loss += losses[k]; parts[blockIdx.x] = loss; }
}
