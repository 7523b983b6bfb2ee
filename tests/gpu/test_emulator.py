"""The emulator of CUDA C gives right kernels' values, and finds faults that are planted."""

import shutil

import numpy as np
import pytest

from tests.gpu.emulator import ORDERS, Code, EmulationError, Pointer, emulating

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="g++ is not there: no kernel of CUDA C can be emulated"
)
SUM = r"""
extern "C" __global__ void total(const double* __restrict__ x, double* out, long long n) {
  __shared__ double part[32];
  double v = 0;
  long long step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) v += x[i];
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  BARRIER
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) ADD
  }
}
"""
SOFTMAX = r"""
extern "C" __global__ void softmax(const float* x, float* out, int rows, int n) {
  extern __shared__ float row[];
  for (int i = blockIdx.x; i < rows; i += gridDim.x) {
    float largest = -1e30f, sum = 0;
    for (int j = threadIdx.x; j < n; j += 32) largest = max(largest, x[i * n + j]);
    for (int d = 16; d; d /= 2) largest = max(largest, __shfl_xor_sync(~0u, largest, d));
    for (int j = threadIdx.x; j < n; j += 32) sum += row[j] = expf(x[i * n + j] - largest);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int j = threadIdx.x; j < n; j += 32) out[i * n + j] = row[j] / sum;
  }
}
"""
KEPLER = r"""
extern "C" __global__ void kepler(const double* m, const double* ecc, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double e = m[i], d = 1;
  while (fabs(d) > 1e-12) {
    d = (e - ecc[i] * sin(e) - m[i]) / (1 - ecc[i] * cos(e));
    e -= d;
  }
  out[i] = e;
}
"""
ATOMICS = r"""
extern "C" __global__ void atomics(float* f, double* d, int* i, long long* largest, int* won) {
  atomicAdd(f, 1.0f);
  atomicAdd(d, 0.5);
  atomicAdd(i, 2);
  atomicMax(largest, (long long)threadIdx.x);
  atomicMin(largest + 1, (long long)threadIdx.x);
  if (atomicCAS(won, 0, 1) == 0) atomicAdd(won + 1, 1);
}
"""
COPY = r"""
extern "C" __global__ void copy(const float4* x, float4* y, int n) {
  int k = threadIdx.x;
  if (k < n) {
    float4 v = __ldg(x + k);
    y[k] = make_float4(v.w, v.z, v.y, __int_as_float(__float_as_int(v.x)));
  }
}
"""
TOO_FAR = r"""
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int k = threadIdx.x;
  if (k <= n) y[k] = x[k];
}
"""


def error_of_total(barrier="__syncthreads();", add="atomicAdd(out, v);", n=10_003, **how):
    """The sum by a kernel, less that by NumPy."""
    x, out = np.random.default_rng(0).normal(size=n), np.zeros(1)
    code = Code(SUM.replace("BARRIER", barrier).replace("ADD", add))
    with emulating(**how):
        code.launch("total", (4,), (128,), [Pointer(x), Pointer(out), np.int64(n)])
    return out[0] - x.sum()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 31, 10_003])
def test_reductions_are_right_in_all_orders(order, n):
    assert abs(error_of_total(n=n, order=order, seed=n)) < 1e-9


def test_dynamic_shared_memory_and_warps():
    x = np.random.default_rng(0).normal(size=(7, 50)).astype("f4")
    out = np.empty_like(x)
    args = [Pointer(x), Pointer(out), np.int32(7), np.int32(50)]
    Code(SOFTMAX).launch("softmax", (3,), (32,), args, shared=200)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-6)


def test_threads_stop_when_their_own_loop_does():
    m, ecc, out = np.linspace(0, 6, 500), np.linspace(0, 0.9, 500), np.empty(500)
    args = [*map(Pointer, (m, ecc, out)), np.int32(500)]
    Code(KEPLER).launch("kepler", (2,), (256,), args)
    np.testing.assert_allclose(out - ecc * np.sin(out), m, atol=1e-11)


def test_atomics():
    arrays = [
        np.zeros(1, "f4"),
        np.zeros(1),
        np.zeros(1, "i4"),
        np.array([-1, 99]),
        np.zeros(2, "i4"),
    ]
    Code(ATOMICS).launch("atomics", (3,), (40,), [*map(Pointer, arrays)])
    assert [x.tolist() for x in arrays] == [[120], [60], [240], [39, 0], [1, 1]]


def test_wide_loads():
    x, y = np.arange(12, dtype="f4"), np.zeros(12, "f4")
    Code(COPY).launch("copy", (1,), (32,), [Pointer(x), Pointer(y), np.int32(3)])
    assert y.tolist() == [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]


def test_a_missing_barrier_shows():
    errors = [error_of_total("", order="shuffled", seed=k) for k in range(3)]
    assert any(not abs(e) < 1e-9 for e in errors)  # NaN, too


def test_a_barrier_that_some_threads_miss_is_an_error():
    with pytest.raises(EmulationError, match="64 threads wait at __syncthreads"):
        error_of_total("if (threadIdx.x < 64) __syncthreads();")


@pytest.mark.parametrize(
    ("last", "message"), [([np.int32(3)], "has 4 bytes, not 8"), ([], "2 arguments, not 3")]
)
def test_arguments_of_other_sizes_are_errors(last, message):
    code = Code(SUM.replace("BARRIER", "").replace("ADD", ";"))
    with pytest.raises(EmulationError, match=message):
        code.launch("total", (1,), (32,), [Pointer(np.ones(3)), Pointer(np.ones(1)), *last])


def test_text_that_does_not_compile_is_an_error():
    with pytest.raises(EmulationError, match="does not compile"):
        Code('extern "C" __global__ void f(int n) { m = n; }').launch(
            "f", (1,), (1,), [np.int32(1)]
        )


def test_the_address_sanitizer_finds_a_byte_too_far():
    x, y = np.ones(7, "f4"), np.zeros(7, "f4")
    with emulating(sanitize="address"):
        Code(TOO_FAR).launch("copy", (1,), (64,), [Pointer(x), Pointer(y), np.int32(6)])
        assert y.sum() == 7
        with pytest.raises(EmulationError, match="heap-buffer-overflow"):
            Code(TOO_FAR).launch("copy", (1,), (64,), [Pointer(x), Pointer(y), np.int32(7)])


def test_the_thread_sanitizer_finds_races():
    assert abs(error_of_total(sanitize="thread", n=1000)) < 1e-9
    with pytest.raises(EmulationError, match="data race"):  # in a block
        error_of_total("", sanitize="thread", n=1000)
    with pytest.raises(EmulationError, match="data race"):  # between blocks
        error_of_total(add="*out += v;", sanitize="thread", n=1000)
