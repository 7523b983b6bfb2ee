import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void kepler_vmap_kernel(
    i64 rows, const double* __restrict__ m, const double* __restrict__ ecc,
    double* __restrict__ out) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {  // line 81
    double m_2 = m[i];
    double ecc_2 = ecc[i];
    double d = 1.0;
    double e = m_2;
    while (fabs(d) > 1e-12) {
      double sin_e, cos_e;
      sincos(e, &sin_e, &cos_e);
      double d_2 = (e - ecc_2 * sin_e - m_2) / (1.0 - ecc_2 * cos_e);  // line 82
      e -= d_2;  // line 83
      d = d_2;
    }
    out[i] = e;  // line 81
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


kepler_vmap_kernel = Kernel("kepler_vmap_kernel", lambda rows, m, ecc, out: (rows, m, ecc, out))


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def kepler_vmap(m, ecc):
    """kepler for a batch.  From programs.py:79."""
    if len(ecc) != len(m):  # line 81
        raise ValueError("operands could not be broadcast together: the lengths differ")
    out = empty(m.shape, cp.float64)
    kepler_vmap_kernel(len(m), m, ecc, out)
    return out
