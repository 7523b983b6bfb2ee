"""Compiles checked-in CUDA C and times launches on a GPU by events."""

import functools
import statistics
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cupy as cp
import numpy as np

KERNELS = Path(__file__).parents[1] / "gpu_kernels"
SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
REGISTERS = 4  # CU_FUNC_ATTRIBUTE_NUM_REGS
LARGEST_SHARED = 232448 - 1024  # bytes a block on sm_90; team sums take up to 1 KB of them


@functools.cache
def architecture():
    return f"sm_{cp.cuda.Device().compute_capability}"


def cubin(text, *options):
    """The machine code of a text of CUDA C, by NVRTC, for this device."""
    nvrtc = cp.cuda.nvrtc
    program = nvrtc.createProgram(text, "kernels.cu", [], [])
    try:
        nvrtc.compileProgram(program, [f"--gpu-architecture={architecture()}", *options])
    except nvrtc.NVRTCError as error:
        raise RuntimeError(nvrtc.getProgramLog(program)) from error
    return nvrtc.getCUBIN(program)


@functools.cache
def _cubin_of(file, macros):
    options = ["--std=c++17", *(f"-D{name}={value}" for name, value in macros)]
    return cubin((KERNELS / file).read_text(), *options)


@functools.cache
def _module(file, macros):
    module = cp.cuda.function.Module()
    module.load(_cubin_of(file, macros))
    return module


def _ordered(macros):
    return tuple(sorted((name, str(value)) for name, value in macros.items()))


def compile_on_threads(file, variants):
    """Compiles a file of kernels for each set of macros, so that `kernel` finds it."""
    with ThreadPoolExecutor(16) as pool:
        [*pool.map(lambda macros: _cubin_of(file, _ordered(macros)), variants)]


def kernel(file, name, shared_bytes=0, **macros):
    """A kernel of a file, allowed `shared_bytes` of dynamic shared memory."""
    function = _module(file, _ordered(macros)).get_function(name)
    if shared_bytes > 48 * 1024:
        cp.cuda.driver.funcSetAttribute(function.ptr, SHARED_BYTES, shared_bytes)
    return function


def registers(function):
    return cp.cuda.driver.funcGetAttribute(REGISTERS, function.ptr)


def multiprocessors():
    return cp.cuda.Device().attributes["MultiProcessorCount"]


def microseconds(launch, batches=7, batch_us=1500.0):
    """The median time of a launch in a row of launches, by events; `launch` is given a counter."""
    start, end = cp.cuda.Event(), cp.cuda.Event()
    for k in range(3):
        launch(k)
    times, repeats, count = [], 2, 0
    for batch in range(batches + 1):
        start.record()
        for _ in range(repeats):
            launch(count)
            count += 1
        end.record()
        end.synchronize()
        time_us = 1e3 * cp.cuda.get_elapsed_time(start, end) / repeats
        if batch:
            times.append(time_us)
        repeats = max(2, min(500, int(batch_us / time_us)))
    return statistics.median(times)


def normal(*shape, dtype="float32", seed=0):
    """Random numbers, drawn on the device where there is cuRAND."""
    try:
        return cp.random.RandomState(seed).standard_normal(shape, dtype=dtype)
    except (ImportError, RuntimeError):
        return cp.asarray(
            np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)
        )
