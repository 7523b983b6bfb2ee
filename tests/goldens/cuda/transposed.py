import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void s4_kernel(
    i64 rows, const double* __restrict__ x, double* __restrict__ out, i64 x_0, i64 x_1) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {
    for (i64 j = threadIdx.x; j < x_0; j += blockDim.x) {
      out[i * x_1 + j] = x[i * x_1 + j] * x[i * x_1 + j] +  // line 37
          x[i * x_1 + j] * x[j * x_1 + i];
    }
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


s4_kernel = Kernel(
    "s4_kernel",
    lambda rows, x, out: (rows, x, out, x.shape[0], x.shape[1]),
    team=lambda x, out: (x.shape[0],),
    across=True,
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def s4(x):
    """s4.  From programs.py:36."""
    if x.shape[1] != x.shape[0]:  # line 37
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(x.shape, cp.float64)
    s4_kernel(x.shape[0], x, out)
    return out
