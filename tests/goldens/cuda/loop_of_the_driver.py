import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void conjugate_gradients_kernel(
    i64 rows, const double* __restrict__ b, double* __restrict__ product_2) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  pack_loop<2>(team, teams, rows, [&](i64 i, i64 place, const double* b, double* product_2) {
    double r = b[place] - product_2[place];  // line 125
    product_2[place] = r;
  }, reads(b), updates(product_2));
}

extern "C" __global__ void conjugate_gradients_kernel_2(
    double tol, const double* __restrict__ rs_at, bool* __restrict__ result_0) {
  if (threadIdx.x + threadIdx.y != 0) return;
  const double rs = *rs_at;
  result_0[0] = rs > tol;
}

extern "C" __global__ void conjugate_gradients_kernel_3(
    i64 rows, const double* __restrict__ a, const double* __restrict__ p, double* __restrict__ ap,
    i64 a_0, i64 a_1, double* __restrict__ result_0) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  double total = 0.0;  // line 129
  for (i64 i = team; i < rows; i += teams) {
    double ap_2 = 0.0;  // line 128
    pack_loop<2>(threadIdx.x, blockDim.x, a_0,
        [&](i64 j, i64 place, const double* a_row, const double* p_row) {
      ap_2 += a_row[place] * p_row[place];
    }, reads(a + i * a_1), reads(p));
    ap_2 = team_sum(ap_2);
    if (threadIdx.x == 0) ap[i] = ap_2;
    total += p[i] * ap_2;  // line 129
  }
  double part_0 = block_sum(threadIdx.x == 0 ? total : 0.0);
  if (threadIdx.x + threadIdx.y == 0) result_0[blockIdx.x] = part_0;
}

extern "C" __global__ void conjugate_gradients_kernel_4(
    i64 rows, const double* __restrict__ x_2, const double* __restrict__ r_2,
    const double* __restrict__ p, const double* __restrict__ rs_at, const double* __restrict__ ap,
    const double* __restrict__ value_at, double* __restrict__ x, double* __restrict__ r,
    double* __restrict__ result_0) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  const double rs = *rs_at;
  const double value = *value_at;
  double step = rs / value;  // line 129
  double new_ = 0.0;  // line 131
  pack_loop<2>(team, teams, rows,
      [&](i64 i, i64 place, const double* x_2, const double* r_2, const double* p, const double* ap,
      double* x, double* r) {
    x[place] = x_2[place] + step * p[place];  // line 130
    double r_3 = r_2[place] - step * ap[place];
    r[place] = r_3;
    new_ += r_3 * r_3;  // line 131
  }, reads(x_2), reads(r_2), reads(p), reads(ap), stores(x), stores(r));
  double part_0 = block_sum(new_);
  if (threadIdx.x + threadIdx.y == 0) result_0[blockIdx.x] = part_0;
}

extern "C" __global__ void conjugate_gradients_kernel_5(
    i64 rows, const double* __restrict__ p_2, const double* __restrict__ rs_at,
    const double* __restrict__ r, const double* __restrict__ new__at, double* __restrict__ p) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  const double rs = *rs_at;
  const double new_ = *new__at;
  double t = new_ / rs;  // line 132
  pack_loop<2>(team, teams, rows,
      [&](i64 i, i64 place, const double* p_2, const double* r, double* p) {
    p[place] = r[place] + t * p_2[place];
  }, reads(p_2), reads(r), stores(p));
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


def on_device(x, dtype):
    """A number that a kernel reads from memory: it is there, or is put there."""
    return x if isinstance(x, cp.ndarray) else cp.asarray(x, dtype)


conjugate_gradients_kernel = Kernel(
    "conjugate_gradients_kernel",
    lambda rows, b, product_2: (rows, b, product_2),
    width=2,
)
conjugate_gradients_kernel_2 = Kernel(
    "conjugate_gradients_kernel_2",
    lambda tol, rs, results: (cp.float64(tol), on_device(rs, cp.float64), results[0]),
    results=(("bool", "first"),),
)
conjugate_gradients_kernel_3 = Kernel(
    "conjugate_gradients_kernel_3",
    lambda rows, a, p, ap, results: (rows, a, p, ap, a.shape[0], a.shape[1], results[0]),
    team=lambda a, p, ap: (a.shape[0],),
    results=(("float64", "sum"),),
)
conjugate_gradients_kernel_4 = Kernel(
    "conjugate_gradients_kernel_4",
    lambda rows, x_2, r_2, p, rs, ap, value, x, r, results: (
        rows, x_2, r_2, p, on_device(rs, cp.float64), ap, on_device(value, cp.float64), x, r,
        results[0],
    ),
    width=2,
    results=(("float64", "sum"),),
)
conjugate_gradients_kernel_5 = Kernel(
    "conjugate_gradients_kernel_5",
    lambda rows, p_2, rs, r, new, p: (
        rows, p_2, on_device(rs, cp.float64), r, on_device(new, cp.float64), p,
    ),
    width=2,
)


def read(number):
    """A number of the host; it waits for one that lies in the memory of the device."""
    return number.item() if hasattr(number, "item") else number


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def conjugate_gradients(a, b, tol):
    """conjugate_gradients.  From programs.py:123."""
    if len(b) != a.shape[1]:  # line 125
        raise ValueError("operands could not be broadcast together: the lengths differ")
    if a.shape[0] != len(b):
        raise ValueError("operands could not be broadcast together: the lengths differ")
    x = cp.zeros(b.shape)  # line 124
    p = a @ x  # line 125
    conjugate_gradients_kernel(len(b), b, p)
    rs = p @ p  # line 126
    r = p.copy()
    while True:  # line 127
        value = conjugate_gradients_kernel_2(None, tol, rs)
        value = read(value)
        if not value:
            break
        ap = empty((a.shape[0],), cp.float64)
        value = conjugate_gradients_kernel_3(a.shape[0], a, p, ap)
        x_2 = empty(b.shape, cp.float64)
        r_2 = empty(b.shape, cp.float64)
        t = len(x)
        new = conjugate_gradients_kernel_4(t, x, r, p, rs, ap, value, x_2, r_2)
        p_2 = empty(b.shape, cp.float64)
        conjugate_gradients_kernel_5(t, p, rs, r_2, new, p_2)
        x = x_2
        r = r_2
        p = p_2
        rs = new
    return x
