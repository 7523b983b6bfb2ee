import cupy as cp


CODE = r"""
typedef long long i64;

__device__ __forceinline__ void black_scholes_sum_grad_point(i64 i, const double* s,
    const double* k, const double* t, double* s_bar) {
  double value = s[i] / k[i];  // line 164
  double value_2 = sqrt(t[i]);
  double value_3 = (log(value) + 0.07 * t[i]) / value_2;
  double d1 = 5.0 * value_3;
  double d2 = d1 - 0.2 * value_2;  // line 165
  double value_4 = tanh(4.0 * value_3);  // line 166
  double value_5 = tanh(0.8 * d2);
  double value_6 = k[i] * (0.5 * exp(-0.05 * t[i])) * (0.8 * (1.0 - value_5 * value_5));
  double value_7 = (0.4 * (s[i] * (1.0 - value_4 * value_4)) - value_6) / value_2;  // line 164
  s_bar[i] = 0.5 * (1.0 + value_4) + 5.0 * value_7 / value / k[i];
}

extern "C" __global__ void black_scholes_sum_grad_kernel(
    i64 rows, const double* __restrict__ s, const double* __restrict__ k,
    const double* __restrict__ t, double* __restrict__ s_bar) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  i64 packed = ((u64)s | (u64)k | (u64)t | (u64)s_bar) % 16 == 0 ? rows / 2 * 2 : 0;
  for (i64 i = 2 * team; i < packed; i += 2 * teams) {
    pack<double, 2> s_pack = *(const pack<double, 2>*)(s + i);
    pack<double, 2> k_pack = *(const pack<double, 2>*)(k + i);
    pack<double, 2> t_pack = *(const pack<double, 2>*)(t + i);
    pack<double, 2> s_bar_pack;
    #pragma unroll
    for (int lane = 0; lane < 2; lane++)
      black_scholes_sum_grad_point(lane, s_pack.at, k_pack.at, t_pack.at, s_bar_pack.at);
    *(pack<double, 2>*)(s_bar + i) = s_bar_pack;
  }
  for (i64 i = packed + team; i < rows; i += teams) black_scholes_sum_grad_point(i, s, k, t, s_bar);
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


black_scholes_sum_grad_kernel = Kernel(
    "black_scholes_sum_grad_kernel",
    lambda rows, s, k, t, s_bar: (rows, s, k, t, s_bar),
    width=2,
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def black_scholes_sum_grad(s, k, t):
    """d black_scholes_sum / d s.  From programs.py:169."""
    if len(k) != len(s):  # line 164
        raise ValueError("operands could not be broadcast together: the lengths differ")
    if len(t) != len(s):
        raise ValueError("operands could not be broadcast together: the lengths differ")
    s_bar = empty(s.shape, cp.float64)
    black_scholes_sum_grad_kernel(len(s), s, k, t, s_bar)
    return s_bar
