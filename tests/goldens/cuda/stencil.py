import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void heat_2d_kernel(
    i64 rows, const double* __restrict__ u, double* __restrict__ u_2, i64 u_1) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {
    for (i64 j = threadIdx.x; j < u_1 - 2; j += blockDim.x) {
      double around = u[(i + 2) * u_1 + j + 1] + u[i * u_1 + j + 1] +  // line 145
          u[(i + 1) * u_1 + j + 2] + u[(i + 1) * u_1 + j];
      double v = u[(i + 1) * u_1 + j + 1] +  // line 146
          0.1 * (around - 4.0 * u[(i + 1) * u_1 + j + 1]);
      u_2[(i + 1) * u_1 + j + 1] = v;  // line 148
    }
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


heat_2d_kernel = Kernel(
    "heat_2d_kernel",
    lambda rows, u, u_2: (rows, u, u_2, u.shape[1]),
    team=lambda u, u_2: (u.shape[1] - 2,),
)


def heat_2d(u, steps):
    """heat_2d.  From programs.py:143."""
    for _ in range(steps):  # line 144
        u_2 = u.copy()  # line 147
        heat_2d_kernel(u.shape[0] - 2, u, u_2)
        u = u_2
    return u.copy()
