import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void scaled_kernel(
    const double* __restrict__ x, double limit, i64 k, i64 x_0, double* __restrict__ result_0,
    bool* __restrict__ result_1, u64* error) {
  if (threadIdx.x + threadIdx.y != 0) return;
  if (k >= x_0) {  // line 40
    fail_telling(error, 0, 0, k, x_0);  // IndexError
    return;
  }
  double t = x[from_end(k, x_0)];
  result_0[0] = t;
  result_1[0] = t > limit;
}

extern "C" __global__ void scaled_kernel_2(
    const double* __restrict__ total_at, const double* __restrict__ value_at,
    double* __restrict__ result_0) {
  if (threadIdx.x + threadIdx.y != 0) return;
  const double total = *total_at;
  const double value = *value_at;
  result_0[0] = total + value;
}

extern "C" __global__ void scaled_kernel_3(
    i64 rows, const double* __restrict__ x, const double* __restrict__ total_at,
    double* __restrict__ out) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  const double total = *total_at;
  pack_loop<2>(team, teams, rows, [&](i64 i, i64 place, const double* x, double* out) {
    out[place] = x[place] / total;  // line 44
  }, reads(x), stores(out));
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


def on_device(x, dtype):
    """A number that a kernel reads from memory: it is there, or is put there."""
    return x if isinstance(x, cp.ndarray) else cp.asarray(x, dtype)


scaled_kernel = Kernel(
    "scaled_kernel",
    lambda x, limit, k, results, error: (
        x, cp.float64(limit), cp.int64(k), x.shape[0], results[0], results[1], error,
    ),
    results=(("float64", "first"), ("bool", "first")),
    errors=(
        ("IndexError", (("%", "index %d is out of bounds for axis 0 with size %d", ..., ...),)),
    ),
)
scaled_kernel_2 = Kernel(
    "scaled_kernel_2",
    lambda total, value, results: (
        on_device(total, cp.float64), on_device(value, cp.float64), results[0],
    ),
    results=(("float64", "first"),),
)
scaled_kernel_3 = Kernel(
    "scaled_kernel_3",
    lambda rows, x, total, out: (rows, x, on_device(total, cp.float64), out),
    width=2,
)


def read(number):
    """A number of the host; it waits for one that lies in the memory of the device."""
    return number.item() if hasattr(number, "item") else number


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def scaled(x, limit):
    """scaled.  From test_goldens.py:37."""
    total = 0.0  # line 39
    for k in range(len(x)):
        value, value_2 = scaled_kernel(None, x, limit, k)
        value_2 = read(value_2)
        if value_2:  # line 40
            raise ValueError(f"number {k} is above the limit")  # line 41
        total = scaled_kernel_2(None, total, value)
    print("the total is", total)  # line 43
    out = empty(x.shape, cp.float64)
    scaled_kernel_3(len(x), x, total, out)
    return out
