import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void kepler_grad_vmap_kernel_count(
    i64 rows, const double* __restrict__ m, const double* __restrict__ ecc,
    i64* __restrict__ saved_count) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {
    double m_2 = m[i];
    i64 top = 0;
    double ecc_2 = ecc[i];
    double d = 1.0;
    double e = m_2;
    while (fabs(d) > 1e-12) {
      top++;
      double sin_e, cos_e;
      sincos(e, &sin_e, &cos_e);
      double d_2 = (e - ecc_2 * sin_e - m_2) / (1.0 - ecc_2 * cos_e);  // line 82
      e -= d_2;  // line 83
      d = d_2;
    }
    saved_count[i] = top;
  }
}

extern "C" __global__ void kepler_grad_vmap_kernel(
    i64 rows, const double* __restrict__ m, const double* __restrict__ ecc,
    double* __restrict__ out, double* __restrict__ out_2, double* __restrict__ saved,
    const i64* __restrict__ saved_place) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {  // line 81
    double m_2 = m[i];
    i64 top = 0;
    double ecc_2 = ecc[i];
    i64 passes = 0;
    double d = 1.0;
    double e = m_2;
    while (fabs(d) > 1e-12) {
      saved[saved_place[i] + 32 * top] = e;
      top++;
      double sin_e, cos_e;
      sincos(e, &sin_e, &cos_e);
      double d_2 = (e - ecc_2 * sin_e - m_2) / (1.0 - ecc_2 * cos_e);  // line 82
      e -= d_2;  // line 83
      passes++;
      d = d_2;
    }
    double e_bar = 1.0;
    double m_bar = 0.0;
    #pragma unroll 1
    for (i64 passes_2 = passes - 1; passes_2 >= 0; passes_2--) {  // line 81
      top--;
      double e_2 = saved[saved_place[i] + 32 * top];
      double t, t_2;
      sincos(e_2, &t, &t_2);
      double t_3 = 1.0 - ecc_2 * t_2;
      double d_3 = (e_2 - m_2 - t * ecc_2) / t_3;
      double t_4 = e_bar / t_3;
      e_bar = e_bar - t_4 + t_4 * ecc_2 * t_2 + t_4 * d_3 * ecc_2 * t;
      m_bar += t_4;
    }
    out[i] = e_bar;  // line 81
    out_2[i] = m_bar;
  }
}

extern "C" __global__ void kepler_grad_vmap_kernel_2(
    i64 rows, const double* __restrict__ out, const double* __restrict__ out_2,
    double* __restrict__ m_bar) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  pack_loop<2>(team, teams, rows,
      [&](i64 i, i64 place, const double* out, const double* out_2, double* m_bar) {
    m_bar[place] = out_2[place] + out[place];  // line 82
  }, reads(out), reads(out_2), stores(m_bar));
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


kepler_grad_vmap_kernel_count = Kernel(
    "kepler_grad_vmap_kernel_count",
    lambda rows, m, ecc, saved_count: (rows, m, ecc, saved_count),
)
kepler_grad_vmap_kernel = Kernel(
    "kepler_grad_vmap_kernel",
    lambda rows, m, ecc, out, out_2, saved, saved_place: (
        rows, m, ecc, out, out_2, saved, saved_place,
    ),
)
kepler_grad_vmap_kernel_2 = Kernel(
    "kepler_grad_vmap_kernel_2",
    lambda rows, out, out_2, m_bar: (rows, out, out_2, m_bar),
    width=2,
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def stack_places(counts):
    """Where the stack of each row begins, and how many items there are: those of 32 rows lie side
    by side, item by item, with room for the longest. It waits for the counts."""
    groups = -(-len(counts) // 32)
    longest = cp.zeros(32 * groups, cp.int64)
    longest[: len(counts)] = counts
    longest = longest.reshape(groups, 32).max(axis=1) if groups else longest
    ends = cp.cumsum(32 * longest)
    places = cp.repeat(ends - 32 * longest, 32) + cp.tile(cp.arange(32), groups)
    return places[: len(counts)], int(ends[-1]) if groups else 0


def kepler_grad_vmap(m, ecc):
    """kepler_grad for a batch.  From programs.py:79."""
    if len(ecc) != len(m):  # line 81
        raise ValueError("operands could not be broadcast together: the lengths differ")
    saved_count = empty(m.shape, cp.int64)
    kepler_grad_vmap_kernel_count(len(m), m, ecc, saved_count)
    saved_place, total = stack_places(saved_count)
    saved = empty((total,), cp.float64)
    out = empty(m.shape, cp.float64)
    out_2 = empty(m.shape, cp.float64)
    t = len(saved_place)
    kepler_grad_vmap_kernel(t, m, ecc, out, out_2, saved, saved_place)
    m_bar = empty(m.shape, cp.float64)
    kepler_grad_vmap_kernel_2(t, out, out_2, m_bar)
    return m_bar
