"""Measures what the machine and its libraries cost: copies, launches, waits, compilation."""

import ctypes
import shutil
import subprocess
import time

import cupy as cp
import numpy as np

from benchmarks.gpu_steps.device import KERNELS, cubin, kernel, microseconds

EMPTY = 'extern "C" __global__ void empty_kernel(long long rows, const float* x, float* y) {}'


def versions(_):
    """The versions of everything that takes part."""
    import importlib.metadata

    names = ("numpy", "scipy", "cupy-cuda13x", "jax", "torch", "triton", "numba", "gast", "optree")
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    properties = cp.cuda.runtime.getDeviceProperties(0)
    kept = (
        "name",
        "totalGlobalMem",
        "multiProcessorCount",
        "l2CacheSize",
        "sharedMemPerBlockOptin",
        "sharedMemPerMultiprocessor",
        "regsPerMultiprocessor",
        "clockRate",
        "memoryClockRate",
    )
    yield {
        "what": "versions",
        **found,
        "driver": cp.cuda.runtime.driverGetVersion(),
        "runtime": cp.cuda.runtime.runtimeGetVersion(),
        "nvrtc": cp.cuda.nvrtc.getVersion(),
    }
    yield {
        "what": "card",
        **{name: _plain(properties[name]) for name in kept if name in properties},
    }
    query = [
        "nvidia-smi",
        "--query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit,temperature.gpu",
        "--format=csv,noheader",
    ]
    if shutil.which("nvidia-smi"):
        yield {
            "what": "nvidia-smi",
            "line": subprocess.run(
                query, capture_output=True, text=True, check=False
            ).stdout.strip(),
        }


def _plain(value):
    return value.decode() if isinstance(value, bytes) else value


def costs(_):
    """Bandwidths, and what the host pays for a launch, for memory, for a wait."""
    yield from _copies()
    yield from _launches()
    yield from _waits()
    yield from _graphs()
    yield from _one_block()
    yield from _compilation()
    yield from _products()


def _copies():
    for megabytes in (100, 400, 1600):
        x = cp.arange(megabytes * 250_000, dtype="float32")
        y = cp.empty_like(x)
        t = microseconds(lambda _: cp.copyto(y, x))
        yield {"what": "copy", "megabytes": megabytes, "us": t, "TB/s": 2 * x.nbytes / t / 1e6}
    host, pinned = np.empty(25_000_000, "f4"), None
    pinned = np.frombuffer(cp.cuda.alloc_pinned_memory(host.nbytes), "f4", host.size)
    x = cp.empty(host.size, "f4")
    for name, array in (("pageable", host), ("pinned", pinned)):
        array[:] = 1
        t = _wall(lambda: x.set(array), 3)
        yield {"what": "to device", "memory": name, "us": t, "GB/s": host.nbytes / t / 1e3}
        t = _wall(lambda: x.get(out=array), 3)
        yield {"what": "from device", "memory": name, "us": t, "GB/s": host.nbytes / t / 1e3}


def _wall(call, count):
    """Microseconds of a call, waited for, the least of some."""
    times = []
    for _ in range(count):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(1e6 * (time.perf_counter() - start))
    return min(times)


def _host(call, count=2000, batches=5):
    """Microseconds of the host for one of many calls that nobody waits for."""
    times = []
    for _ in range(batches):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for _ in range(count // batches):
            call()
        times.append(1e6 * (time.perf_counter() - start) / (count // batches))
    return sorted(times)[batches // 2]


def _launches():
    x = cp.empty(100, "f4")
    raw = cp.RawKernel(EMPTY, "empty_kernel")
    yield {
        "what": "host launch",
        "by": "RawKernel",
        "us": _host(lambda: raw((1,), (32,), (1, x, x))),
    }
    module = cp.cuda.function.Module()
    module.load(cubin(EMPTY))
    function = module.get_function("empty_kernel")
    yield {
        "what": "host launch",
        "by": "function.Function",
        "us": _host(lambda: function((1,), (32,), (1, x, x))),
    }
    yield {
        "what": "host launch",
        "by": "function.Function, numpy number",
        "us": _host(lambda: function((1,), (32,), (np.int64(1), x, x))),
    }
    yield {
        "what": "host launch",
        "by": "cuLaunchKernel, ctypes, ready arguments",
        "us": _host(_ready(function, x)),
    }
    yield {
        "what": "host launch",
        "by": "cuLaunchKernel, ctypes, pointers taken anew",
        "us": _host(_anew(function, x)),
    }
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        yield {
            "what": "host launch",
            "by": "function.Function, other stream",
            "us": _host(lambda: function((1,), (32,), (1, x, x))),
        }
    yield {
        "what": "device launch",
        "by": "function.Function, in a row",
        "us": microseconds(lambda _: function((1,), (32,), (1, x, x))),
    }


def _ready(function, x):
    """A call of cuLaunchKernel with arguments that are prepared."""
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    values = (ctypes.c_longlong(1), ctypes.c_void_p(x.data.ptr), ctypes.c_void_p(x.data.ptr))
    places = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
    pointer = ctypes.c_void_p(function.ptr)

    def call(held=values):
        launch(pointer, 1, 1, 1, 32, 1, 1, 0, None, places, None)

    return call


def _anew(function, x):
    """A call of cuLaunchKernel that asks arrays and the stream for their pointers."""
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    values = (ctypes.c_longlong * 3)()
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(values) + 8 * k for k in range(3)))
    pointer = ctypes.c_void_p(function.ptr)
    current = cp.cuda.get_current_stream

    def call():
        values[0], values[1], values[2] = 1, x.data.ptr, x.data.ptr
        launch(pointer, 1, 1, 1, 32, 1, 1, 0, ctypes.c_void_p(current().ptr), places, None)

    return call


def _waits():
    x, pool = cp.zeros(100, "f4"), cp.get_default_memory_pool()
    one = x[:1].reshape(())
    calls = {
        "cp.empty": lambda: cp.empty((100, 100), "f4"),
        "cp.ndarray": lambda: cp.ndarray((100, 100), "f4"),
        "pool.malloc": lambda: pool.malloc(40000),
        "cp.ascontiguousarray": lambda: cp.ascontiguousarray(x),
        "x.flags.c_contiguous": lambda: x.flags.c_contiguous,
        "x[3:]": lambda: x[3:],
        "x + x": lambda: x + x,
        "cp.asarray(numpy, 100)": lambda: cp.asarray(np.ones(100, "f4")),
        "item": lambda: one.item(),
        "synchronize": lambda: cp.cuda.get_current_stream().synchronize(),
        "get_current_stream": lambda: cp.cuda.get_current_stream(),
        "Device()": lambda: cp.cuda.Device(),
        "event record": cp.cuda.Event(disable_timing=True).record,
    }
    for name, call in calls.items():
        yield {"what": "host", "call": name, "us": _host(call, 1000)}


def _graphs():
    x = cp.zeros(100, "f4")
    function = kernel("points.cu", "touch_kernel", REAL="float", BYTES=4, LOADS=1)
    for count in (20, 200):
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            start = time.perf_counter()
            stream.begin_capture()
            for _ in range(count):
                function((1,), (32,), (1, x, x, 1))
            graph = stream.end_capture()
            captured = 1e6 * (time.perf_counter() - start)
            graph.launch()
            stream.synchronize()
            host = _host(graph.launch, 100)
            t = microseconds(lambda _: graph.launch())
            plain = microseconds(
                lambda _: [function((1,), (32,), (1, x, x, 1)) for _ in range(count)]
            )
        yield {
            "what": "graph",
            "kernels": count,
            "capture_us": captured,
            "host_us": host,
            "us_a_kernel": t / count,
            "launched_us_a_kernel": plain / count,
        }


def _one_block():
    x = cp.ones(1024, "f4")
    function = kernel("ensembles.cu", "barriers_kernel", REAL="float")
    for threads in (128, 256, 1024):
        t = microseconds(lambda _, threads=threads: function((1,), (threads,), (10000, x)))
        yield {"what": "one block", "threads": threads, "ns a pass (two barriers)": t / 10}


def _compilation():
    for file, macros in (
        ("points.cu", ("REAL=float", "BYTES=16", "LOADS=1")),
        ("columns.cu", ("REAL=float", "WIDTH=4")),
    ):
        text = (KERNELS / file).read_text() + f"// {time.time()}\n"
        start = time.perf_counter()
        code = cubin(text, "--std=c++17", *(f"-D{m}" for m in macros))
        yield {
            "what": "NVRTC",
            "file": file,
            "kernels": text.count("_kernel("),
            "ms": 1e3 * (time.perf_counter() - start),
            "bytes": len(code),
        }
    start = time.perf_counter()
    cubin(EMPTY + f"// {time.time()}")
    yield {
        "what": "NVRTC",
        "file": "an empty kernel",
        "kernels": 1,
        "ms": 1e3 * (time.perf_counter() - start),
    }


def _products():
    for dtype, n in (("float32", 4096), ("float64", 4096), ("float32", 1000)):
        x = cp.ones((n, n), dtype)
        t = microseconds(lambda _, x=x: x @ x)
        yield {"what": "product", "dtype": dtype, "n": n, "us": t, "TFLOP/s": 2 * n**3 / t / 1e6}
