// Sums of columns, and transposes. Macros: REAL, WIDTH (numbers a load).
typedef long long i64;
struct alignas(sizeof(REAL) * WIDTH) Wide { REAL v[WIDTH]; };
#define LANES _Pragma("unroll") for (int u = 0; u < WIDTH; u++)

// Threads own WIDTH columns (blockIdx.x, threadIdx.x); blockDim.y rows at once; a part of the rows for each blockIdx.y.
extern "C" __global__ void column_sums_kernel(i64 rows, const REAL* __restrict__ x, REAL* __restrict__ parts, i64 columns) {
  extern __shared__ __align__(16) char shared_bytes[];
  Wide* shared = (Wide*)shared_bytes;
  i64 wide = columns / WIDTH, j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  Wide total;
  LANES total.v[u] = 0;
  if (j < wide) {
#pragma unroll 4
    for (i64 i = (i64)blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += (i64)gridDim.y * blockDim.y) {
      Wide w = ((const Wide*)x)[i * wide + j];
      LANES total.v[u] += w.v[u];
    }
  }
  if (blockDim.y > 1) {
    shared[threadIdx.y * blockDim.x + threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.y) return;
    for (unsigned k = 1; k < blockDim.y; k++) LANES total.v[u] += shared[k * blockDim.x + threadIdx.x].v[u];
  }
  if (j < wide) ((Wide*)parts)[blockIdx.y * wide + j] = total;
}
// The same where a team of threads takes a row at a time and adds it to a copy of the sums that lies in memory.
extern "C" __global__ void column_sums_by_rows_kernel(i64 rows, const REAL* __restrict__ x, REAL* __restrict__ parts, i64 columns) {
  for (i64 j = threadIdx.x; j < columns; j += blockDim.x) parts[blockIdx.x * columns + j] = 0;
  for (i64 i = blockIdx.x; i < rows; i += gridDim.x)
    for (i64 j = threadIdx.x; j < columns; j += blockDim.x) parts[blockIdx.x * columns + j] += x[i * columns + j];
}
extern "C" __global__ void join_columns_kernel(i64 copies, const REAL* __restrict__ parts, REAL* __restrict__ out, i64 columns) {
  i64 j = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  REAL total = 0;
#pragma unroll 8
  for (i64 k = 0; k < copies; k++) total += parts[k * columns + j];
  out[j] = total;
}
__device__ __forceinline__ REAL s4_point(REAL x, REAL t) { return (x + x * x + (REAL)3) * (x * x + x * t); }
extern "C" __global__ void s4_naive_kernel(i64 n, const REAL* __restrict__ x, REAL* __restrict__ out) {
  for (i64 i = blockIdx.x * (i64)blockDim.y + threadIdx.y; i < n; i += gridDim.x * (i64)blockDim.y)
    for (i64 j = threadIdx.x; j < n; j += blockDim.x) out[i * n + j] = s4_point(x[i * n + j], x[j * n + i]);
}
// Tiles of TILE x TILE, blocks of (TILE, blockDim.y); blocks take tiles in turns.
template <int TILE> __device__ __forceinline__ void s4_tiled(i64 n, const REAL* __restrict__ x, REAL* __restrict__ out) {
  __shared__ REAL tile[TILE][TILE + 1];
  i64 across = (n + TILE - 1) / TILE;
  for (i64 b = blockIdx.x; b < across * across; b += gridDim.x) {
    i64 top = b / across * TILE, left = b % across * TILE;
    i64 column = top + threadIdx.x;
    for (int k = threadIdx.y; k < TILE; k += blockDim.y)
      if (left + k < n && column < n) tile[k][threadIdx.x] = x[(left + k) * n + column];
    __syncthreads();
    i64 j = left + threadIdx.x;
    for (int k = threadIdx.y; k < TILE; k += blockDim.y)
      if (top + k < n && j < n) { REAL v = x[(top + k) * n + j]; out[(top + k) * n + j] = s4_point(v, tile[threadIdx.x][k]); }
    __syncthreads();
  }
}
extern "C" __global__ void s4_tiled_32_kernel(i64 n, const REAL* __restrict__ x, REAL* __restrict__ out) { s4_tiled<32>(n, x, out); }
extern "C" __global__ void s4_tiled_64_kernel(i64 n, const REAL* __restrict__ x, REAL* __restrict__ out) { s4_tiled<64>(n, x, out); }
// Both tiles of a pair that lie across the diagonal from each other, so that each number is read once. A grid of
// (across, across) blocks of (32, blockDim.y); those below the diagonal have nothing to do.
extern "C" __global__ void s4_pairs_kernel(i64 n, const REAL* __restrict__ x, REAL* __restrict__ out) {
  __shared__ REAL above[32][33], below[32][33];
  if (blockIdx.x < blockIdx.y) return;
  i64 top = (i64)blockIdx.y * 32, left = (i64)blockIdx.x * 32, column = threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    if (top + k < n && left + column < n) above[k][column] = x[(top + k) * n + left + column];
    if (left + k < n && top + column < n) below[k][column] = x[(left + k) * n + top + column];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    if (top + k < n && left + column < n) out[(top + k) * n + left + column] = s4_point(above[k][column], below[column][k]);
    if (left + k < n && top + column < n) out[(left + k) * n + top + column] = s4_point(below[k][column], above[column][k]);
  }
}
