import cupy as cp


CODE = r"""
typedef long long i64;

extern "C" __global__ void black_scholes_sum_grad_kernel(
    i64 rows, const double* __restrict__ s, const double* __restrict__ k,
    const double* __restrict__ t, double* __restrict__ s_bar) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  pack_loop<2>(team, teams, rows,
      [&](i64 i, i64 place, const double* s, const double* k, const double* t, double* s_bar) {
    double value = s[place] / k[place];  // line 164
    double value_2 = sqrt(t[place]);
    double value_3 = (log(value) + 0.07 * t[place]) / value_2;
    double d1 = 5.0 * value_3;
    double d2 = d1 - 0.2 * value_2;  // line 165
    double value_4 = tanh(4.0 * value_3);  // line 166
    double value_5 = tanh(0.8 * d2);
    double value_6 = k[place] * (0.5 * exp(-0.05 * t[place])) * (0.8 * (1.0 - value_5 * value_5));
    double value_7 = (0.4 * (s[place] * (1.0 - value_4 * value_4)) - value_6) /  // line 164
        value_2;
    s_bar[place] = 0.5 * (1.0 + value_4) + 5.0 * value_7 / value / k[place];
  }, reads(s), reads(k), reads(t), stores(s_bar));
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
    if len(t) != len(k):
        raise ValueError("operands could not be broadcast together: the lengths differ")
    s_bar = empty(s.shape, cp.float64)
    black_scholes_sum_grad_kernel(len(s), s, k, t, s_bar)
    return s_bar
