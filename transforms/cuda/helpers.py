"""Defines device functions that printed kernels call: what C++ has not, or does otherwise than
NumPy.

floor_div(a, b)      needs      __device__ i64 floor_div(i64 a, i64 b) {...}

Each text is C++ as it stands, so that a compiler for the CPU takes it too.
"""

from __future__ import annotations

from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.values import c_type
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import Dtype

#: In order: later ones call earlier ones.
HELPERS = {
    "u64": "typedef unsigned long long u64;",
    "INF32": "#define INF32 __int_as_float(0x7f800000)",
    "NAN32": "#define NAN32 __int_as_float(0x7fc00000)",
    "INF64": "#define INF64 __longlong_as_double(0x7ff0000000000000LL)",
    "NAN64": "#define NAN64 __longlong_as_double(0x7ff8000000000000LL)",
    "from_end": """
__device__ __forceinline__ i64 from_end(i64 k, i64 n) {  // negative indices
  return k < 0 ? k + n : k;
}""",
    "floor_div": """
__device__ __forceinline__ i64 floor_div(i64 a, i64 b) {  // rounds down; 0 where b is
  if (b == 0) return 0;
  if (b == -1) return (i64)(0 - (u64)a);
  i64 q = a / b;
  return q - (a % b != 0 && (a ^ b) < 0);
}""",
    "floor_mod": """
__device__ __forceinline__ i64 floor_mod(i64 a, i64 b) {  // with the sign of b; 0 where b is
  if (b == 0 || b == -1) return 0;
  i64 r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}""",
    "floor_div_of_unsigned": """
__device__ __forceinline__ u64 floor_div_of_unsigned(u64 a, u64 b) { return b ? a / b : 0; }""",
    "floor_mod_of_unsigned": """
__device__ __forceinline__ u64 floor_mod_of_unsigned(u64 a, u64 b) { return b ? a % b : 0; }""",
    "floor_div_of_floats": """
template <class T> __device__ T floor_div_of_floats(T a, T b) {  // as NumPy rounds it
  if (b == 0) return a / b;
  T r = fmod(a, b), q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q = q - 1;
  if (q == 0) return copysign(T(0), a / b);
  T low = floor(q);
  return q - low > T(0.5) ? low + 1 : low;
}""",
    "floor_mod_of_floats": """
template <class T> __device__ T floor_mod_of_floats(T a, T b) {  // with the sign of b
  T r = fmod(a, b);
  if (r == 0) return copysign(T(0), b);
  return (r < 0) != (b < 0) ? r + b : r;
}""",
    "power": """
template <int n, class T> __device__ __forceinline__ T power(T x) {  // x ** n by squaring
  T y = n & 1 ? x : T(1);
#pragma unroll
  for (int k = n / 2; k > 0; k /= 2) {
    x = x * x;
    if (k & 1) y = y * x;
  }
  return y;
}""",
    "power_of_halves": """
template <int n, class T> __device__ T power_of_halves(T x) {  // x ** (n / 2), n odd
  T size = fabs(x), root = fabs(sqrt(x));
  T y = n > 0 ? root : 1 / root;
#pragma unroll
  for (int k = 2; k < (n > 0 ? n : -n); k += 2) y = n > 0 ? y * size : y / size;
  return x < 0 && size > 0 && 1 / size == 0 ? (n > 0 ? size : T(0)) : y;
}""",
    "to_u64": """
__device__ __forceinline__ u64 to_u64(double x) {  // as NumPy: -1.0 is the largest one
  return x < 9223372036854775808.0 ? (u64)(i64)x : (u64)x;
}""",
    "larger": """
template <class T> __device__ __forceinline__ T larger(T a, T b) { return b > a ? b : a; }""",
    "smaller": """
template <class T> __device__ __forceinline__ T smaller(T a, T b) { return b < a ? b : a; }""",
    "absolute": """
__device__ __forceinline__ i64 absolute(i64 a) { return a < 0 ? -a : a; }""",
    "sign_of": """
template <class T> __device__ __forceinline__ T sign_of(T x) {  // NaN of NaN, 0 of -0
  return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x;
}""",
    "heaviside": """
template <class T> __device__ __forceinline__ T heaviside(T x, T at_zero) {
  return x != x ? x : x == 0 ? at_zero : x < 0 ? T(0) : T(1);
}""",
    "logaddexp": """
template <class T> __device__ T logaddexp(T x, T y) {  // log(exp(x) + exp(y))
  if (x == y) return x + T(0.69314718055994530942);
  return (x > y ? x : y) + log1p(exp(-fabs(x - y)));
}""",
    "logaddexp2": """
template <class T> __device__ T logaddexp2(T x, T y) {  // log2(2 ** x + 2 ** y)
  if (x == y) return x + 1;
  return (x > y ? x : y) + T(1.4426950408889634074) * log1p(exp2(-fabs(x - y)));
}""",
    "c64": "template <class T> struct complex;\ntypedef complex<float> c64;",
    "c128": "template <class T> struct complex;\ntypedef complex<double> c128;",
    "complex": """
template <class T> struct alignas(2 * sizeof(T)) complex {
  T real, imag;
  complex() = default;
  __device__ complex(T real, T imag = 0) : real(real), imag(imag) {}
  template <class S> __device__ explicit complex(complex<S> z) : real(z.real), imag(z.imag) {}
  __device__ complex operator-() const { return {-real, -imag}; }
  __device__ complex operator+(complex z) const { return {real + z.real, imag + z.imag}; }
  __device__ complex operator-(complex z) const { return {real - z.real, imag - z.imag}; }
  __device__ complex operator*(complex z) const {
    return {real * z.real - imag * z.imag, real * z.imag + imag * z.real};
  }
  __device__ complex operator/(complex z) const {  // by Smith's method, as NumPy
    if (fabs(z.real) >= fabs(z.imag)) {
      if (z.real == 0 && z.imag == 0) return {real / fabs(z.real), imag / fabs(z.real)};
      T ratio = z.imag / z.real, scale = 1 / (z.real + z.imag * ratio);
      return {(real + imag * ratio) * scale, (imag - real * ratio) * scale};
    }
    T ratio = z.real / z.imag, scale = 1 / (z.imag + z.real * ratio);
    return {(real * ratio + imag) * scale, (imag * ratio - real) * scale};
  }
  __device__ complex& operator+=(complex z) { return *this = *this + z; }
  __device__ complex& operator-=(complex z) { return *this = *this - z; }
  __device__ complex& operator*=(complex z) { return *this = *this * z; }
  __device__ complex& operator/=(complex z) { return *this = *this / z; }
  __device__ bool operator==(complex z) const { return real == z.real && imag == z.imag; }
  __device__ bool operator!=(complex z) const { return !(*this == z); }
};""",
    "nonzero": """
template <class T> __device__ bool nonzero(complex<T> z) { return z.real != 0 || z.imag != 0; }""",
    "conjugate": """
template <class T> __device__ complex<T> conjugate(complex<T> z) { return {z.real, -z.imag}; }""",
    "exp_of_complex": """
template <class T> __device__ complex<T> exp_of_complex(complex<T> z) {
  T size = exp(z.real);
  if (z.imag == 0) return {size, z.imag};
  if (size == 0) return {copysign(size, cos(z.imag)), copysign(size, sin(z.imag))};
  if (!isfinite(z.imag) && isinf(z.real)) return {size, z.imag - z.imag};
  return {size * cos(z.imag), size * sin(z.imag)};
}""",
    "log_of_complex": """
template <class T> __device__ complex<T> log_of_complex(complex<T> z) {
  return {log(hypot(z.real, z.imag)), atan2(z.imag, z.real)};
}""",
    "sqrt_of_complex": """
template <class T> __device__ complex<T> sqrt_of_complex(complex<T> z) {
  if (isinf(z.imag)) return {fabs(z.imag), z.imag};
  if (z.real == 0 && z.imag == 0) return {T(0), z.imag};
  if (isinf(z.real)) {
    T rest = z.imag - z.imag;
    if (z.real > 0) return {z.real, isnan(z.imag) ? z.imag : copysign(T(0), z.imag)};
    return {isnan(z.imag) ? z.imag : rest, copysign(z.real, z.imag)};
  }
  T root = sqrt((fabs(z.real) + hypot(z.real, z.imag)) / 2);
  if (z.real >= 0) return {root, z.imag / (2 * root)};
  return {fabs(z.imag) / (2 * root), copysign(root, z.imag)};
}""",
    "Growing": """
template <class T, int n> struct Growing {  // an array of one thread, which frees what it made
  T first[n], *items = first;
  i64 size = n;
  __device__ operator T*() { return items; }
  __device__ bool grow() {  // whether there was memory for twice as many
    T* longer = (T*)malloc(2 * size * sizeof(T));
    if (!longer) return false;
    for (i64 k = 0; k < size; k++) longer[k] = items[k];
    if (items != first) free(items);
    items = longer;
    size *= 2;
    return true;
  }
  __device__ bool leave(i64* kept, i64 count) {  // its first elements, for take_... to fetch
    T* made = (T*)malloc((count + 1) * sizeof(T));
    if (!made) return false;
    for (i64 k = 0; k < count; k++) made[k] = items[k];
    kept[0] = (i64)made;
    kept[1] = count;
    return true;
  }
  __device__ ~Growing() {
    if (items != first) free(items);
  }
};""",
    "fail": """
__device__ void fail(u64* error, i64 row, int code) {  // the first row's error stays
  atomicMin(error, (u64)row * 256 + code);
}""",
    "fail_telling": """
__device__ __noinline__ void fail_telling(u64* error, i64 row, int code, i64 a, i64 b) {
  u64 noted = (u64)row * 256 + code;  // with two integers, which are those of the same row
  do {
    if (atomicMin(error, ~0ull) <= noted) return;
  } while (atomicCAS(error + 3, 0ull, 1ull) != 0);
  if (atomicMin(error, noted) > noted) {
    error[1] = a;
    error[2] = b;
  }
  __threadfence_system();
  atomicExch(error + 3, 0ull);
}""",
    "add_to": """
__device__ void add_to(i64* a, i64 b) { atomicAdd((u64*)a, (u64)b); }""",
    "add_to_complex": """
template <class T> __device__ void add_to_complex(complex<T>* a, complex<T> b) {
  atomicAdd(&a->real, b.real);
  atomicAdd(&a->imag, b.imag);
}""",
    "team_mask": """
__device__ unsigned team_mask() {  // the lanes of this warp that share its row
  unsigned lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
  return blockDim.x >= 32 ? ~0u : ((1u << blockDim.x) - 1) << lane / blockDim.x * blockDim.x;
}""",
    "team_sync": """
__device__ void team_sync() {  // waits for the threads that share a row
  if (blockDim.x > 32) __syncthreads();
  else __syncwarp(team_mask());
}""",
}
#: How two numbers a and b are put together, and the number that changes nothing.
JOINS = {
    "sum": ("a + b", "0"),
    "prod": ("a * b", "1"),
    "any": ("a || b", "false"),
    "all": ("a && b", "true"),
    "max": ("a > b || a != a ? a : b", ""),
    "min": ("a < b || a != a ? a : b", ""),
}
TEAM = """
__device__ {c} team_{word}({c} a) {{  // of the threads that share a row; all get it
  unsigned width = blockDim.x < 32 ? blockDim.x : 32, mask = team_mask();
  for (unsigned d = width / 2; d; d /= 2) {{
    {c} b = {of_lane};
    a = {op};
  }}
  if (blockDim.x > 32) {{
    __shared__ {c} parts[32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = a;
    __syncthreads();
    a = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : {first};
    for (unsigned d = 16; d; d /= 2) {{
      {c} b = {of_warp};
      a = {op};
    }}
  }}
  return a;
}}"""
BLOCK = """
__device__ {c} block_{word}({c} a) {{  // of all threads of a block; the first one gets it
  __shared__ {c} parts[32];
  unsigned k = threadIdx.y * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y;
  for (unsigned d = 16; d; d /= 2) {{
    {c} b = {below};
    if (k % 32 + d < 32 && k + d < n) a = {op};
  }}
  __syncthreads();
  if (k % 32 == 0) parts[k / 32] = a;
  __syncthreads();
  if (k == 0) for (unsigned w = 1; w < (n + 31) / 32; w++) {{
    {c} b = parts[w];
    a = {op};
  }}
  return a;
}}"""


def neutral(word: str, dtype: Dtype) -> str:
    """What a reduction begins with, as text of C."""
    if word not in ("max", "min"):
        first = JOINS[word][1]
        return f"{first}.0{'f' * (dtype.itemsize == 4)}" if dtype.kind == "f" else first
    if dtype.kind == "f":
        return f"{'-' * (word == 'max')}INF{8 * dtype.itemsize}"
    if dtype.kind == "b":
        return "false" if word == "max" else "true"
    return limit(word == "max", dtype)


def limit(smallest: bool, dtype: Dtype) -> str:
    """The smallest or largest integer of a dtype."""
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        return "0" if smallest else f"{2**bits - 1}{'ULL' if bits > 32 else 'u' * (bits == 32)}"
    if not smallest:
        return f"{2 ** (bits - 1) - 1}{'LL' * (bits > 32)}"
    return f"(-{2 ** (bits - 1) - 1}{'LL' * (bits > 32)} - 1)"


def _reduction(text: str, word: str, dtype: Dtype) -> str:
    c, first = c_type(dtype), neutral(word, dtype)

    def shuffle(call: str) -> str:
        """A number of another lane; complex ones go by their parts."""
        if dtype.kind != "c":
            return call.format("a")
        return f"{c}({call.format('a.real')}, {call.format('a.imag')})"

    holes = {
        "of_lane": shuffle("__shfl_xor_sync(mask, {}, d)"),
        "of_warp": shuffle("__shfl_xor_sync(~0u, {}, d)"),
        "below": shuffle("__shfl_down_sync(~0u, {}, d)"),
        "first": f"{c}({first})" if dtype.kind == "c" else first,
    }
    return text.format(word=word, c=c, op=JOINS[word][0], **holes).strip()


def team_text(word: str, dtype: Dtype) -> str:
    """The reduction over the threads that share a row."""
    return _reduction(TEAM, word, dtype)


def block_text(word: str, dtype: Dtype) -> str:
    """The reduction over the threads of a block."""
    return _reduction(BLOCK, word, dtype)


def needed_helpers(texts: list[str]) -> list[str]:
    """The texts of the helpers that these texts name, and of those that they call, in order."""
    names = {word for text in texts for word in words(text)}
    chosen = []
    for name, text in reversed(HELPERS.items()):
        if name in names or (name == "complex" and names & {"c64", "c128"}):
            names |= words(text)
            chosen.append(text.strip())
    return chosen[::-1]
