import cupy as cp


CODE = r"""
typedef long long i64;

__device__ void four_rounds(unsigned x, unsigned y, unsigned a, unsigned b, unsigned c, unsigned d,
    unsigned& result_0, unsigned& result_1) {
  x += y;
  y = ((unsigned)((u64)y << a) | (unsigned)((u64)y >> (unsigned)(32 - a))) ^ x;
  x += y;
  y = ((unsigned)((u64)y << b) | (unsigned)((u64)y >> (unsigned)(32 - b))) ^ x;
  x += y;
  y = ((unsigned)((u64)y << c) | (unsigned)((u64)y >> (unsigned)(32 - c))) ^ x;
  x += y;
  y = ((unsigned)((u64)y << d) | (unsigned)((u64)y >> (unsigned)(32 - d))) ^ x;
  result_0 = x;
  result_1 = y;
}

__device__ u64 random_word(unsigned key0, unsigned key1, u64 count) {
  unsigned key2 = key0 ^ key1 ^ 466688986u;
  unsigned x = (unsigned)(count >> 32u) + key0;
  unsigned y = (unsigned)count + key1;
  four_rounds(x, y, 13u, 15u, 26u, 6u, x, y);
  x += key1;
  y += key2 + 1u;
  four_rounds(x, y, 17u, 29u, 16u, 24u, x, y);
  x += key2;
  y += key0 + 2u;
  four_rounds(x, y, 13u, 15u, 26u, 6u, x, y);
  x += key0;
  y += key1 + 3u;
  four_rounds(x, y, 17u, 29u, 16u, 24u, x, y);
  x += key1;
  y += key2 + 4u;
  four_rounds(x, y, 13u, 15u, 26u, 6u, x, y);
  x += key2;
  y += key0 + 5u;
  return ((u64)x << 32u) | (u64)y;
}

__device__ double inverse_error(double x) {
  double w = -log(1.0 - x * x);
  double root = sqrt(w);
  double s = w - 3.125;
  double square = s * s;
  double fourth = square * square;
  double a = 1.28584807152564e-18 * fourth + 6.637638134358324e-15;
  a = a * fourth - 1.2975133253453532e-11;
  a = a * fourth - 2.9070369957882005e-08;
  a = a * fourth + 0.00018673420803405714;
  a = a * fourth + 1.6536545626831027;
  double b = -1.6850591381820166e-19 * fourth + 2.0972767875968562e-17;
  b = b * fourth + 2.6335093153082323e-12;
  b = b * fourth - 4.112633980346984e-09;
  b = b * fourth - 1.3882523362786469e-05;
  b = b * fourth + 0.24015818242558962;
  double c = -3.64441206401782e-21 * fourth - 1.333171662854621e-16;
  c = c * fourth - 8.151934197605472e-14;
  c = c * fourth + 1.0512122733215323e-09;
  c = c * fourth - 1.3654692000834679e-06;
  c = c * fourth - 0.006033670871430149;
  double d = 1.1157877678025181e-17 * fourth - 4.054566272975207e-14;
  d = d * fourth - 5.415412054294628e-11;
  d = d * fourth + 4.2347877827932404e-07;
  d = d * fourth - 0.000740702534166267;
  double near = a + b * s + (c + d * s) * square;
  s = root - 3.25;
  square = s * s;
  fourth = square * square;
  a = -2.7517406297064545e-07 * fourth + 2.9234449089955446e-06;
  a = a * fourth + 2.4031110387097894e-05;
  a = a * fourth + 0.002491442096107851;
  a = a * fourth + 3.0838856104922208;
  b = 9.075656193888539e-08 * fourth - 4.013867526981546e-06;
  b = b * fourth + 6.828485145957318e-05;
  b = b * fourth - 0.0016882755560235047;
  b = b * fourth + 1.0052589676941592;
  c = 2.2137376921775787e-09 * fourth + 1.5027403968909828e-06;
  c = c * fourth - 4.7318229009055734e-05;
  c = c * fourth + 0.0009532893797373805;
  c = c * fourth + 0.005370914553590064;
  d = 1.8239629214389228e-08 * fourth + 1.2475304481671779e-05;
  d = d * fourth - 0.0003550375203628475;
  d = d * fourth - 0.003751208507569241;
  double far = a + b * s + (c + d * s) * square;
  s = root - 5.0;
  square = s * s;
  fourth = square * square;
  a = -2.7109920616438573e-11 * fourth + 7.61570120807834e-09;
  a = a * fourth + 2.2900482228026655e-07;
  a = a * fourth + 7.599527703001776e-05;
  a = a * fourth + 4.849906401408584;
  b = -3.789465440126737e-09 * fourth - 6.771199775845234e-08;
  b = b * fourth - 1.968177810553167e-05;
  b = b * fourth + 1.0103004648645344;
  c = 1.5076572693500548e-09 * fourth + 2.914795345090108e-08;
  c = c * fourth + 4.526062597223154e-06;
  c = c * fourth - 0.00013871931833623122;
  d = -2.555641816996525e-10 * fourth - 1.496002662714924e-08;
  d = d * fourth - 9.9298272942317e-07;
  d = d * fourth - 0.00021503011930044477;
  double farther = a + b * s + (c + d * s) * square;
  double value = w < 6.25 ? near : w < 16.0 ? far : farther;
  return value * x;
}

extern "C" __global__ void noisy_kernel(
    unsigned* __restrict__ high, unsigned* __restrict__ converted) {
  if (threadIdx.x + threadIdx.y != 0) return;
  u64 seed = 7u;  // line 65
  high[0] = (unsigned)(seed >> 32u);
  converted[0] = (unsigned)seed;
}

extern "C" __global__ void noisy_kernel_2(
    i64 rows, const double* __restrict__ x, const unsigned* __restrict__ key, double product_2,
    double* __restrict__ out) {
  i64 team = blockIdx.x * (i64)blockDim.y + threadIdx.y;  // a team of threads has a row
  i64 teams = gridDim.x * (i64)blockDim.y;
  for (i64 i = team; i < rows; i += teams) {
    u64 bits = random_word(key[0], key[1], (u64)i);  // line 65
    unsigned t = (unsigned)bits;
    double u = 2.3283064365386963e-10 * (double)(unsigned)(bits >> 32u) +
        2.220446049250313e-16 * (double)(t >> 12u);
    double u_2 = u * 2.0;
    double u_3 = u_2 - 0.9999999999999999;
    double x_2 = u_3 <= -0.9999999999999999 ? -0.9999999999999999 : u_3;
    out[i] = x[i] + product_2 * inverse_error(x_2);
  }
}
"""
module = cp.RawModule(code=CODE, options=("--std=c++17",))


noisy_kernel = Kernel("noisy_kernel", lambda high, converted: (high, converted))
noisy_kernel_2 = Kernel(
    "noisy_kernel_2",
    lambda rows, x, key, product_2, out: (rows, x, key, cp.float64(product_2), out),
)


def empty(shape, dtype):
    """An array to be filled."""
    return cp.empty(shape, dtype)


def noisy(x):
    """noisy.  From test_goldens.py:64."""
    high = empty((1,), cp.uint32)
    converted = empty((1,), cp.uint32)
    noisy_kernel(None, high, converted)
    key = cp.concatenate([high, converted])  # line 65
    out = empty(x.shape, cp.float64)
    noisy_kernel_2(len(x), x, key, 0.1 * 1.4142135623730951, out)
    return out
