"""Measures kernels of points by bytes of a load, loads in flight, threads and blocks."""

import itertools

import cupy as cp
import numpy as np

from benchmarks.gpu_steps.device import (
    compile_on_threads,
    kernel,
    microseconds,
    multiprocessors,
    normal,
    registers,
)

SIZES = {"cube": 10000, "s1": 5000, "s3": 5000}
FULL = "all"  # blocks for all numbers: no thread takes a second one


def points(_):
    """Every variant of three programs, then other forms of them at one setting."""
    types = {"float": ("float32", (4, 8, 16)), "double": ("float64", (8, 16))}
    variants = [
        (real, b, n) for real, (_, sizes) in types.items() for b in sizes for n in (1, 2, 4)
    ]
    compile_on_threads("points.cu", [{"REAL": r, "BYTES": b, "LOADS": n} for r, b, n in variants])
    for real, program in (
        ("float", "cube"),
        ("float", "s1"),
        ("float", "s3"),
        ("double", "cube"),
        ("double", "s3"),
    ):
        dtype, sizes = types[real]
        yield from _program(program, real, dtype, sizes)
    yield from _other_forms()


def _inputs(program, dtype):
    n = SIZES[program]
    x, out = normal(n, n, dtype=dtype), cp.empty((n, n), dtype)
    return x, normal(n, dtype=dtype, seed=1), out


def _expected(program, x, y):
    x = cp.asnumpy(x[:3]).astype("f8")
    if program.startswith("s3"):
        for _ in range(10):
            x = 0.5 * x + 0.1 * np.sin(x)
        return x
    return {
        "cube": lambda: x * x * x,
        "quad": lambda: x + x * x + 3,
        "sincos": lambda: np.sin(x) + np.cos(x),
        "sin_cos": lambda: np.sin(x) + np.cos(x),
        "s1": lambda: np.sin(x) + np.cos(cp.asnumpy(y).astype("f8")),
    }[program]()


def _program(program, real, dtype, sizes):
    x, y, out = _inputs(program, dtype)
    floor = 2 * x.nbytes
    wanted = _expected(program, x, y)
    grid = itertools.product(sizes, (1, 2, 4), (128, 256, 512), (4, 8, 16, 32, FULL))
    for size, loads, threads, blocks in grid:
        if program == "s1" and loads > 1:
            continue
        function = kernel("points.cu", f"{program}_kernel", REAL=real, BYTES=size, LOADS=loads)
        launch = _launch(
            function, program, x, y, out, _blocks(blocks, x, size * loads * threads), threads
        )
        record = {
            "program": program,
            "dtype": dtype,
            "bytes": size,
            "loads": loads,
            "threads": threads,
            "blocks": blocks,
        }
        yield {**record, **_measured(launch, out, wanted, floor), "registers": registers(function)}


def _blocks(blocks, x, bytes_a_block):
    needed = -(-x.nbytes // bytes_a_block)
    return needed if blocks == FULL else min(needed, blocks * multiprocessors())


def _launch(function, program, x, y, out, blocks, threads):
    args = (x.size, x, y, out, x.shape[1]) if program.startswith("s1") else (x.size, x, out)
    return lambda _: function((blocks,), (threads,), args)


def _measured(launch, out, wanted, floor):
    out.fill(np.nan)
    launch(0)
    error = np.max(np.abs(cp.asnumpy(out[:3]) - wanted) / (np.abs(wanted).max() or 1))
    error = error if bool(cp.isfinite(out).all()) else np.inf
    t = microseconds(launch, batches=5, batch_us=1000)
    return {"us": t, "TB/s": floor / t / 1e6, "error": float(error)}


def _other_forms():
    """A sine of our own, sincos, the cosine of y read, a team for each row."""
    names = ("quad", "sincos", "sin_cos", "s3", "s3_unrolled", "s3_own", "s1", "s1_read")
    for real, dtype in (("float", "float32"), ("double", "float64")):
        x, y, out = _inputs("s1", dtype)
        y_read = cp.cos(y)
        for name, blocks in itertools.product(names, (8, 16, FULL)):
            function = kernel("points.cu", f"{name}_kernel", REAL=real, BYTES=16, LOADS=1)
            beside = y_read if name == "s1_read" else y
            launch = _launch(function, name, x, beside, out, _blocks(blocks, x, 16 * 256), 256)
            wanted = _expected(name.removesuffix("_read"), x, y)
            yield {
                "program": name,
                "dtype": dtype,
                "bytes": 16,
                "loads": 1,
                "threads": 256,
                "blocks": blocks,
                **_measured(launch, out, wanted, 2 * x.nbytes),
                "registers": registers(function),
            }
        function = kernel("points.cu", "s1_rows_kernel", REAL=real, BYTES=16, LOADS=1)
        for team, blocks in itertools.product((64, 128, 256), (8, 16, FULL)):
            rows = 256 // team
            count = (
                -(-5000 // rows)
                if blocks == FULL
                else min(-(-5000 // rows), blocks * multiprocessors())
            )

            def launch(_, count=count, block=(team, rows)):
                function((count,), block, (5000, x, y, out, 5000))

            yield {
                "program": "s1_rows",
                "dtype": dtype,
                "threads": team,
                "blocks": blocks,
                **_measured(launch, out, _expected("s1", x, y), 2 * x.nbytes),
            }
