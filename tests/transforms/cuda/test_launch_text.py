"""The text that launches kernels, and the kernels that join what blocks leave."""

import ast
import ctypes
import itertools
import shutil
import subprocess

import numpy as np
import pytest

from tapeless.transforms.cuda.launch_text import C_TYPES, COMBINED, KERNEL, NAMES, join_texts

ALL = [(np.dtype(d), word) for d, word in itertools.product(C_TYPES, COMBINED)]


def test_each_kernel_is_there_once():
    double, single = np.dtype("f8"), np.dtype("f4")
    assert join_texts([(double, "first")]) == []
    assert len(join_texts([(double, "sum"), (single, "sum"), (double, "sum")])) == 2
    assert join_texts([(np.dtype("c16"), "sum")]) == join_texts([(double, "sum")])


def test_the_compiler_takes_them():
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="NVRTC is not there")
    program = nvrtc.createProgram("\n".join(join_texts(ALL)), "joins.cu", (), ())
    try:
        nvrtc.compileProgram(program, ("--std=c++17", "-arch=sm_90"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    assert len(nvrtc.getCUBIN(program)) > 1000


def test_all_names_of_the_text_are_taken():
    """A function of the user with one of them would stand in its place."""
    tree = ast.parse(KERNEL)
    made = {s.name for s in tree.body}
    assert made <= {*NAMES}


SHIM = r"""
#include <barrier>
#include <thread>
#include <vector>
#define __global__
#define __shared__ static
#define __syncthreads() block->arrive_and_wait()
struct Place { unsigned x, y; };
static thread_local Place threadIdx, blockIdx;
static Place blockDim;
static std::barrier<>* block;
%s
extern "C" void run(void (*kernel)(const void*, void*, long long, long long), const void* parts,
                    void* out, long long count, long long n, unsigned across, unsigned blocks) {
  blockDim = {across, 256 / across};
  for (unsigned b = 0; b < blocks; b++) {
    std::barrier<> all(256);
    block = &all;
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < 256; k++) threads.emplace_back([=] {
      threadIdx = {k %% across, k / across};
      blockIdx = {b, 0};
      kernel(parts, out, count, n);
    });
    for (auto& thread : threads) thread.join();
  }
}
"""


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    """Joins parts by the kernels themselves: a block is 256 threads of the CPU."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not there")
    folder = tmp_path_factory.mktemp("joins")
    source, library = folder / "joins.cpp", folder / "joins.so"
    source.write_text(SHIM % "\n".join(join_texts(ALL)))
    command = ["g++", "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread"]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))

    def call(parts, word):
        out = np.empty(parts.shape[1:], parts.dtype)
        across = min(1 << max(0, out.size - 1).bit_length(), 32)
        kernel = loaded[f"join_{word}_{parts.dtype.name}"]
        sizes = [ctypes.c_longlong(len(parts)), ctypes.c_longlong(out.size)]
        places = [ctypes.c_void_p(x.ctypes.data) for x in (parts, out)]
        loaded.run(kernel, *places, *sizes, across, -(-out.size // across))
        return out

    return call


@pytest.mark.parametrize("shape", [(1,), (2,), (255,), (257,), (2048,), (3, 5), (64, 33), (300, 2)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("word", ["sum", "max", "min"])
def test_values(joined, rng, shape, dtype, word):
    parts = rng.integers(0, 100, shape).astype(dtype)  # whole numbers: sums are exact
    wanted = {"sum": parts.sum(0, dtype=dtype), "max": parts.max(0), "min": parts.min(0)}
    np.testing.assert_array_equal(joined(parts, word), wanted[word])


def test_other_words(joined, rng):
    flags = rng.random((500, 40)) < 0.01
    np.testing.assert_array_equal(joined(flags, "any"), flags.any(axis=0))
    np.testing.assert_array_equal(joined(~flags, "all"), (~flags).all(axis=0))
    factors = rng.choice([0.5, 1.0, 2.0], (50, 3))
    np.testing.assert_array_equal(joined(factors, "prod"), factors.prod(axis=0))


@pytest.mark.parametrize("word", ["max", "min", "sum"])
@pytest.mark.parametrize("place", [0, 1, 255, 256, 299])
def test_nan_stays(joined, rng, word, place):
    parts = rng.random(300)
    parts[place] = np.nan
    assert np.isnan(joined(parts, word))


def test_the_same_bits_each_time(joined, rng):
    parts = rng.standard_normal(2048)
    assert len({joined(parts, "sum").tobytes() for _ in range(5)}) == 1
