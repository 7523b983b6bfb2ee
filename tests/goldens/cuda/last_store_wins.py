import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void last_store_wins_kernel(
    const double* __restrict__ x, const i64* __restrict__ k, double* __restrict__ out, i64 x_0,
    u64* error) {
  if (threadIdx.x + threadIdx.y != 0) return;
  for (i64 i = 0; i < x_0; i++) {
    if (k[i] < -50 || k[i] >= 50) {  // line 192
      fail_telling(error, 0, 0, k[i], 0);  // IndexError
      return;
    }
    out[from_end(k[i], 50)] = x[i];
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


last_store_wins_kernel = Kernel(
    "last_store_wins_kernel",
    lambda x, k, out, error: (x, k, out, x.shape[0], error),
    errors=(("IndexError", (("%", "index %d is out of bounds for axis 0 with size 50", ...),)),),
)


def last_store_wins(x, k):
    """last_store_wins.  From programs.py:190."""
    if len(x) != len(k):  # line 192
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = cp.zeros(50)  # line 191
    last_store_wins_kernel(None, x, k, out)
    return out
