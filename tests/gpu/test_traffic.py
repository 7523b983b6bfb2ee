"""How often kernels load and store the elements of arrays in the memory of a device."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, value_and_grad, vmap
from tapeless.backends.cuda import launch
from tests.gpu import programs
from tests.gpu.emulator import Code, Pointer, emulating
from tests.gpu.traffic import Traffic

_random = np.random.default_rng(0)
matrix, columns = _random.normal(size=(48, 120)), _random.normal(size=120)
wide, square = _random.normal(size=(3, 7000)), _random.normal(size=(64, 64))
labels = _random.integers(0, 120, 48)
mlp = (square, square[0], square, square[1], square, square)


def mlp_step(w1, b1, w2, b2, x, y):
    gradient = value_and_grad(programs.mlp_loss, (0, 1, 2, 3))
    loss, (w1_bar, b1_bar, w2_bar, b2_bar) = gradient(w1, b1, w2, b2, x, y)
    return loss, w1 - 0.1 * w1_bar, b1 - 0.1 * b1_bar, w2 - 0.1 * w2_bar, b2 - 0.1 * b2_bar


def powered(x):
    if x > 0:
        for _ in range(3):
            x = x * np.sin(x)
        return x
    return np.exp(x)


def moved(function, args, counters):
    """Passes over the first argument: what kernels load, what they store, and what functions of
    CuPy fill."""
    device = tapeless.devices("gpu")[0]
    args = [tapeless.device_put(x, device) if isinstance(x, np.ndarray) else x for x in args]
    run, traffic = jit(function, backend="gpu"), Traffic()
    run(*args)
    counters.clear()
    with emulating(traffic=traffic):
        run(*args)
    parts = sum(traffic.loaded.values()), sum(traffic.stored.values()), counters.computed
    return tuple(part / args[0].nbytes for part in parts)


#: Each element of the argument once, each of the result once.
MINIMAL = {
    "s1": (programs.s1, (matrix,)),
    "s2": (programs.s2, (matrix,)),
    "s2-float32": (programs.s2, (matrix.astype("f4"),)),
    "s3": (programs.s3, (matrix,)),
    "s3-gradient": (grad(programs.sum_of_s3), (matrix,)),
    "black-scholes": (lambda x: programs.black_scholes(x, x, x), (np.abs(matrix),)),
}


@pytest.mark.parametrize("name", MINIMAL)
def test_elements_are_loaded_once_and_stored_once(name, stand_in):
    assert moved(*MINIMAL[name], stand_in) == (1, 1, 0)


#: What is above the minimum says why, and no more than it may be.
TODAY = {
    # x.T[i, j] is another element than x[i, j], of another thread
    "s4": (programs.s4, (square,), (2, 1, 0)),
    "sum": (np.sum, (matrix,), (1, 0, 0)),
    "column-sums": (lambda x: np.sum(x, axis=0), (matrix,), (1.06, 0.08, 0)),  # parts of blocks
    # the maximum comes first; what the second loop loads lies in the cache by then
    "softmax": (programs.softmax, (matrix,), (2, 1, 0)),
    # exp(x - max) of such rows does not fit into shared memory: it is stored, and loaded
    "softmax-wide": (programs.softmax, (wide,), (3, 2, 0)),
    # mean, variance and result; g and b for each row
    "layer-norm": (programs.layer_norm, (matrix, columns, columns), (5, 1, 0)),
    # each thread of a team loads the label twice: one transaction of a warp
    "cross-entropy": (programs.cross_entropy, (matrix, labels), (2.27, 0, 0)),
    "cross-entropy-value-and-gradient": (
        value_and_grad(programs.cross_entropy),
        (matrix, labels),
        (2.78, 1.01, 0),
    ),
    "cross-entropy-gradient": (grad(programs.cross_entropy), (matrix, labels), (2.63, 1.01, 0)),
    # each product is filled by cuBLAS; biases are loaded for each row; what is squared for a sum is
    # stored where the product lay, though nobody loads it
    "mlp": (programs.mlp_loss, mlp, (5, 2, 2)),
    "mlp-step": (mlp_step, mlp, (11.13, 5.13, 5)),
    # the test is a kernel of its own, with an array of bool
    "branch-of-a-batch": (vmap(powered), (columns,), (2.13, 1.13, 0)),
    # the stencil is 5 and 1 of these: arrays are copied in, before stores to their inner part, and
    # out
    "heat-2d": (programs.heat_2d, (matrix, 1), (7.71, 3.94, 0)),
}


@pytest.mark.parametrize("name", TODAY)
def test_passes_over_arrays(name, stand_in):
    function, args, expected = TODAY[name]
    assert moved(function, args, stand_in) == pytest.approx(expected, abs=0.006)


cube = _random.normal(size=(2, 64, 64))
#: What is read or stored along another axis than threads lie.
ACROSS = {
    "s4": (programs.s4, (square,)),
    "s4-float32": (programs.s4, (square.astype("f4"),)),
    "stored": (programs.where_transposed, (square, square)),
    "gradient": (grad(programs.slope_of_transposed), (square,)),
    "sum": (lambda a, b: np.sum(a * b.T), (square, square)),
    "column-sums": (lambda a, b: np.sum(a * b.T, axis=0), (square, square)),
    "row-sums": (lambda a, b: np.sum(a * b.T, axis=1), (square, square)),
    "softmax": (programs.softmax_with_transposed, (square, square)),
    "several-sums": (programs.several_sums_with_transposed, (square, square)),
    "sums-gradient": (grad(programs.exponential_of_sums), (square, square)),
    "rows-of-loops": (programs.rows_of_loops_over_transposed, (square, square)),
    "stack": (programs.symmetric_stack, (cube,)),
    "stack-reversed": (programs.axes_reversed, (cube,)),
    "loops": (programs.loops_over_transposed, (square, square)),
    "gather": (programs.gathered_and_transposed, (square, square, np.arange(64))),
}


@pytest.mark.parametrize("name", ACROSS)
def test_warps_ask_for_elements_that_lie_beside_each_other(name, stand_in):
    function, args = ACROSS[name]
    run, traffic = jit(function, backend="gpu"), Traffic(by_warps=True)
    with emulating(traffic=traffic):
        run(*args)
    for asked, needed in traffic.sectors:
        assert 0 < asked <= 1.05 * needed


def forces_in_loops(x, m):
    out = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(x)):
            d = x[j] - x[i]
            r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01
            out[i] += m[j] * d / (r2 * np.sqrt(r2))
    return out


@pytest.mark.parametrize("function", [programs.nbody, forces_in_loops])
def test_rows_of_a_block_have_a_whole_other_array_in_common(function, stand_in):
    bodies, masses = _random.normal(size=(256, 3)), _random.uniform(1, 2, 256)
    run, traffic = jit(function, backend="gpu"), Traffic(by_warps=True)
    with emulating(traffic=traffic):
        result = tapeless.device_get(run(bodies, masses))
    np.testing.assert_allclose(result, function(bodies, masses), rtol=1e-9)
    (name, loaded, _), *_ = [k for k in traffic.kernels if k[1]]
    grid, (_, teams) = next((g, b) for n, g, b in stand_in.launches if n == name)
    arrays = bodies.nbytes + masses.nbytes
    assert teams > 1
    assert grid == (256 // teams,)
    assert loaded >= 256 * arrays  # each row asks for all
    # of which blocks load each number once, and what their own rows are added to
    of_blocks = traffic.blocks[0] * 32
    assert grid[0] * arrays <= of_blocks <= grid[0] * arrays + bodies.nbytes


def test_teams_of_many_rows_are_small():
    # 8192 bodies, on a device that has some 2^17 threads at a time
    assert launch.grid(8192, (8192,), launch.BLOCKS, 0, busy=launch.BUSY) == ((512,), (16, 16))


KERNEL = r"""
extern "C" __global__ void moves(const float4* __restrict__ x, double* out, unsigned* hits, int n) {
  __shared__ float held[32];
  float local[4];
  for (int i = threadIdx.x; i < n; i += 32) {
    float4 v = x[i];
    local[i % 4] = v.x + v.w;
    held[threadIdx.x] = local[i % 4];
    __syncwarp();
    out[i] += held[threadIdx.x];
    atomicAdd(hits, 1u);
  }
}
"""


def test_bytes_of_each_array_are_counted(stand_in):
    x, out, hits = np.ones(256, "f4"), np.zeros(64), np.zeros(1, "u4")
    traffic = Traffic()
    with emulating(traffic=traffic):
        Code(KERNEL).launch("moves", (1,), (32,), [*map(Pointer, (x, out, hits)), np.int32(64)])
    places = [a.ctypes.data for a in (x, out, hits)]
    assert hits[0] == 64
    assert [traffic.loaded[p] for p in places] == [1024 // 2, 512, 256]
    assert [traffic.stored[p] for p in places] == [0, 512, 256]


STRIDES = r"""
extern "C" __global__ void beside(const double* x, double* out) {
  out[threadIdx.x] = 2 * x[threadIdx.x];
}
extern "C" __global__ void apart(const double* x, double* out) {
  for (int k = 0; k < 2; k++) out[threadIdx.x] += x[8 * (threadIdx.x % 8) + k];
}
"""


def test_what_warps_ask_for_is_counted_by_sectors(stand_in):
    x, out, traffic = np.ones(64), np.zeros(64), Traffic(by_warps=True)
    with emulating(traffic=traffic):
        for name in ("beside", "apart"):
            Code(STRIDES).launch(name, (1,), (64,), [Pointer(x), Pointer(out)])
    # 64 numbers are 16 sectors; of two warps, twice, each asks for 8 numbers in 8 sectors
    assert traffic.sectors[0] == (32, 32)
    loads, needed = (2 * 2 * n for n in (8, 2))
    assert traffic.sectors[1] == (loads + 4 * 16, needed + 4 * 16)
