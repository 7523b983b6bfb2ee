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
    const double* __restrict__ a, double tol, const double* __restrict__ product_2,
    const double* __restrict__ rs_2_at, const double* __restrict__ r_2, double* __restrict__ x,
    double* __restrict__ r, double* __restrict__ p, double* __restrict__ ap, i64 a_0, i64 a_1) {
  const double rs_2 = *rs_2_at;
  pack_loop<2>(threadIdx.x, blockDim.x, a_0, [&](i64 i, i64 place, double* x_row) {
    x_row[place] = 0.0;
  }, stores(x));
  pack_loop<2>(threadIdx.x, blockDim.x, a_0,
      [&](i64 i, i64 place, double* r_row, const double* r_2_row) {
    r_row[place] = r_2_row[place];
  }, stores(r), reads(r_2));
  pack_loop<2>(threadIdx.x, blockDim.x, a_0,
      [&](i64 i, i64 place, double* p_row, const double* product_2_row) {
    p_row[place] = product_2_row[place];
  }, stores(p), reads(product_2));
  double rs = rs_2;
  team_sync();
  while (rs > tol) {  // line 127
    double total = 0.0;  // line 129
    for (i64 i = threadIdx.x; i < a_0; i += blockDim.x) {
      double ap_2 = 0.0;  // line 128
      for (i64 j = 0; j < a_0; j++) {
        ap_2 += a[i * a_1 + j] * p[j];
      }
      ap[i] = ap_2;
      total += p[i] * ap_2;  // line 129
    }
    total = team_sum(total);
    double step = rs / total;
    double new_ = 0.0;  // line 131
    team_sync();
    pack_loop<2>(threadIdx.x, blockDim.x, a_0,
        [&](i64 i, i64 place, double* x_row, const double* p_row, double* r_row,
        const double* ap_row) {
      x_row[place] += step * p_row[place];  // line 130
      double r_3 = r_row[place] - step * ap_row[place];
      r_row[place] = r_3;
      new_ += r_3 * r_3;  // line 131
    }, updates(x), reads(p), updates(r), reads(ap));
    new_ = team_sum(new_);
    double t = new_ / rs;  // line 132
    team_sync();
    pack_loop<2>(threadIdx.x, blockDim.x, a_0,
        [&](i64 i, i64 place, double* p_row, const double* r_row) {
      p_row[place] = r_row[place] + t * p_row[place];
    }, updates(p), reads(r));
    rs = new_;
    team_sync();
  }
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
    lambda a, tol, product_2, rs_2, r_2, x, r, p, ap: (
        a, cp.float64(tol), product_2, on_device(rs_2, cp.float64), r_2, x, r, p, ap, a.shape[0],
        a.shape[1],
    ),
)


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
    product = a @ x  # line 125
    conjugate_gradients_kernel(len(b), b, product)
    rs = product @ product  # line 126
    r = product.copy()
    x = empty(b.shape, cp.float64)
    r_2 = empty(b.shape, cp.float64)
    p = empty(b.shape, cp.float64)
    ap = empty((a.shape[0],), cp.float64)
    conjugate_gradients_kernel_2(None, a, tol, product, rs, r, x, r_2, p, ap)
    return x
