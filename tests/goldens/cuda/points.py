import cupy as cp


CODE = r"""
typedef long long i64;

__device__ __forceinline__ void s2_point(i64 i, const float* x, float* out) {
  out[i] = x[i] + x[i] * x[i] + 3.0f;  // line 27
}

extern "C" __global__ void s2_kernel(
    i64 rows, const float* __restrict__ x, float* __restrict__ out) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  i64 packed = ((u64)x | (u64)out) % 16 == 0 ? rows / 4 * 4 : 0;
  for (i64 i = 4 * team; i < packed; i += 4 * teams) {
    pack<float, 4> x_pack = *(const pack<float, 4>*)(x + i);
    pack<float, 4> out_pack;
    #pragma unroll
    for (int lane = 0; lane < 4; lane++) s2_point(lane, x_pack.at, out_pack.at);
    *(pack<float, 4>*)(out + i) = out_pack;
  }
  for (i64 i = packed + team; i < rows; i += teams) s2_point(i, x, out);
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


s2_kernel = Kernel("s2_kernel", lambda rows, x, out: (rows, x, out), width=4)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def s2(x):
    """s2.  From programs.py:26."""
    out = empty(x.shape, cp.float32)
    s2_kernel(x.size, x, out)
    return out
