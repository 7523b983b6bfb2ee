import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void histogram_kernel(
    i64 rows, const double* __restrict__ x, const i64* __restrict__ k, double* __restrict__ h,
    u64* error) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {
    if (k[i] < -100 || k[i] >= 100) {  // line 186
      fail_telling(error, i, 0, k[i], 0);  // IndexError
      continue;
    }
    atomicAdd(&h[from_end(k[i], 100)], x[i]);
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


histogram_kernel = Kernel(
    "histogram_kernel",
    lambda rows, x, k, h, error: (rows, x, k, h, error),
    errors=(("IndexError", (("%", "index %d is out of bounds for axis 0 with size 100", ...),)),),
)


def histogram(x, k):
    """histogram.  From programs.py:184."""
    if len(x) != len(k):  # line 186
        raise ValueError("operands could not be broadcast together: the lengths differ")
    h = cp.zeros(100)  # line 185
    histogram_kernel(len(k), x, k, h)
    return h
