import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void positive_squares_kernel(
    const double* __restrict__ x, i64 n, i64* __restrict__ result_0, u64* error) {
  if (threadIdx.x + threadIdx.y != 0) return;
  Growing<double, 64> found;
  i64 found_top = 0;
  for (i64 i = 0; i < n; i++) {  // line 58
    double v = x[i];
    if (v > 0.0) {  // line 59
      if (found_top == found.size) {  // line 60
        if (!found.grow()) {
          fail(error, 0, 0);  // MemoryError
          return;
        }
      }
      found[found_top] = v * v;
      found_top++;
    }
  }
  if (!found.leave(result_0, found_top)) {  // line 61
    fail(error, 0, 0);  // MemoryError
    return;
  }
}
"""
if cp.cuda.runtime.deviceGetLimit(2) < 2**29:  # bytes for lists that grow in kernels
    cp.cuda.runtime.deviceSetLimit(2, 2**29)
module = cp.RawModule(code=CODE, options=("--std=c++17",))


positive_squares_kernel = Kernel(
    "positive_squares_kernel",
    lambda x, n, results, error: (x, cp.int64(n), results[0], error),
    results=(("float64", "array"),),
    errors=(
        (
            "MemoryError",
            ("lists that grow in a kernel need more memory than kernels may take on this GPU",),
        ),
    ),
)


def positive_squares(x):
    """positive_squares.  From test_goldens.py:56."""
    value = positive_squares_kernel(None, x, len(x))  # line 58
    return value
