"""Measures kernels of rows, of column sums, of transposes and of ensembles in many forms."""

import itertools

import cupy as cp
import numpy as np

from benchmarks.gpu_steps.device import (
    LARGEST_SHARED,
    compile_on_threads,
    kernel,
    microseconds,
    multiprocessors,
    normal,
    registers,
)

NUMBERS = 1 << 25
COLUMNS = (64, 1024, 4096, 32768)
MODES = {0: "read again", 1: "staged", 2: "own"}
CHECKED = 64  # rows


def rows(_):
    """Programs of rows by columns, threads a row, staged or not, numbers a load."""
    variants = [{"REAL": "float", "WIDTH": w, "MODE": m} for w in (1, 4) for m in MODES]
    compile_on_threads("rows.cu", variants)
    for columns in COLUMNS:
        data = _data(columns)
        programs = ("softmax", "softmax_times", "layer_norm", "cross_entropy")
        for program, mode, width in itertools.product(programs, MODES, (1, 4)):
            if (program, mode) == ("layer_norm", 2) or (program, width) == ("softmax_times", 1):
                continue
            yield from _teams(program, columns, mode, width, data)


def _data(columns):
    x = normal(NUMBERS // columns, columns)
    labels = cp.random.RandomState(1).randint(0, columns, len(x)).astype("int64")
    return x, labels, cp.empty_like(x), _expected(x, labels)


def _expected(x, labels):
    count = len(x)
    x, labels = cp.asnumpy(x[:CHECKED]).astype("f8"), cp.asnumpy(labels[:CHECKED])
    e = np.exp(x - x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    hot = np.zeros_like(p)
    hot[np.arange(len(p)), labels] = 1
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return {
        "softmax": p,
        "softmax_times": p,
        "layer_norm": norm,
        "cross_entropy": (p - hot) / count,
    }


def _teams(program, columns, mode, width, data):
    x = data[0]
    teams = [
        t
        for t in (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
        if columns / 256 <= t <= max(1, columns // width)
    ]
    for team in teams:
        block_rows = max(1, 256 // team) if team <= 32 else 1
        shared = block_rows * columns * 4 * (mode == 1)
        if shared > LARGEST_SHARED:
            continue
        function = kernel(
            "rows.cu", f"{program}_kernel", shared, REAL="float", WIDTH=width, MODE=mode
        )
        needed = -(-len(x) // block_rows)
        for blocks in (16, "all") if mode != 2 else (8,):
            count = needed if blocks == "all" else min(needed, blocks * multiprocessors())
            record = {
                "program": program,
                "columns": columns,
                "T": team,
                "R": block_rows,
                "mode": MODES[mode],
                "width": width,
                "blocks": blocks,
            }
            try:
                figures = _measured(
                    function, program, data, count, (team, block_rows), shared, mode
                )
            except (
                cp.cuda.driver.CUDADriverError
            ) as failure:  # more registers or memory than a block has
                figures = {"failed": str(failure)}
            yield {**record, **figures, "registers": registers(function)}


def _measured(function, program, data, blocks, block, shared, mode):
    x, labels, out, wanted = data
    own = cp.empty(blocks * block[1] * x.shape[1] if mode == 2 else 1, x.dtype)
    args = (len(x), x, out, own, x.shape[1])
    if program == "cross_entropy":
        args = (len(x), x, labels, out, own, cp.empty(blocks, x.dtype), x.shape[1])
    launch = lambda _: function((blocks,), block, args, shared_mem=shared)  # noqa: E731  # a launch
    out.fill(np.nan)
    launch(0)
    want = wanted[program]
    error = float(np.max(np.abs(cp.asnumpy(out[:CHECKED]) - want)) / np.abs(want).max())
    error = error if bool(cp.isfinite(out).all()) else np.inf
    t = microseconds(launch, batches=3, batch_us=800)
    return {"us": t, "TB/s": 2 * x.nbytes / t / 1e6, "error": error}


def columns(_):
    """Column sums in parts, and the transposed read of S4 in tiles."""
    for shape in ((1 << 20, 64), (1 << 16, 1024), (16384, 4096), (2048, 32768), (100000, 512)):
        x = normal(*shape)
        wanted = cp.asnumpy(x.sum(0, dtype="f8"))
        scale = float(cp.abs(x).sum(0).max())
        for width, across, down, parts in itertools.product(
            (1, 4), (16, 32, 64, 256), (1, 4, 8, 16), (16, 64, 128, 512, 1024)
        ):
            if (
                across * down not in (256, 512)
                or across > max(16, shape[1] // width)
                or parts * down > shape[0]
            ):
                continue
            yield {
                "shape": shape,
                "width": width,
                "block": (across, down),
                "parts": parts,
                **_column_sums(x, wanted, scale, width, across, down, parts),
            }
    yield from _transposes()


def _column_sums(x, wanted, scale, width, across, down, parts):
    n, c = x.shape
    sums = kernel("columns.cu", "column_sums_kernel", REAL="float", WIDTH=width)
    join = kernel("columns.cu", "join_columns_kernel", REAL="float", WIDTH=width)
    held, out = cp.empty((parts, c), "f4"), cp.full(c, np.nan, "f4")
    grid = (-(-c // (width * across)), parts)

    def launch(_):
        sums(grid, (across, down), (n, x, held, c), shared_mem=across * down * 4 * width)
        join((-(-c // 64),), (64,), (parts, held, out, c))

    launch(0)
    error = float(np.max(np.abs(cp.asnumpy(out) - wanted)) / scale)
    t = microseconds(launch, batches=3, batch_us=800)
    return {"blocks": grid[0] * parts, "us": t, "TB/s": x.nbytes / t / 1e6, "error": error}


def _transposes():
    names = (("s4_naive", 0), ("s4_tiled_32", 32), ("s4_tiled_64", 64), ("s4_pairs", 32))
    for n, (name, tile) in itertools.product((3000, 10000), names):
        x = normal(n, n)
        out = cp.empty_like(x)
        wanted = (x + x * x + 3) * (x * x + x * x.T)
        across = (-(-n // tile)) ** 2 if tile else n
        for height, blocks in itertools.product((4, 8, 16), (16, "all")):
            function = kernel("columns.cu", f"{name}_kernel", REAL="float", WIDTH=1)
            count = across if blocks == "all" else min(across, blocks * multiprocessors())
            grid = (-(-n // 32),) * 2 if name == "s4_pairs" else (count,)
            launch = lambda _, g=grid, b=(tile or 64, height): function(g, b, (n, x, out))  # noqa: E731  # a launch
            out.fill(np.nan)
            launch(0)
            error = float(cp.abs(out - wanted).max() / cp.abs(wanted).max())
            t = microseconds(launch, batches=3, batch_us=800)
            yield {
                "program": name,
                "n": n,
                "height": height,
                "blocks": blocks,
                "us": t,
                "TB/s": 2 * x.nbytes / t / 1e6,
                "error": error,
            }


def ensembles(_):
    """Loops in threads: Kepler, Mandelbrot, Lorenz with its gradient, N-body."""
    for real, dtype in (("double", "float64"), ("float", "float32")):
        yield from _kepler(real, dtype)
        yield from _mandelbrot(real, dtype)
        yield from _lorenz(real, dtype)
        yield from _bodies(real, dtype)


def _uniform(low, high, n, dtype, seed=0):
    return cp.random.RandomState(seed).uniform(low, high, n).astype(dtype)


def _timed(name, real, dtype, args, n, **more):
    function = kernel("ensembles.cu", f"{name}_kernel", REAL=real)
    for threads in (64, 128, 256):
        count = -(-n // threads)
        t = microseconds(
            lambda _, c=count, t=threads: function((c,), (t,), args), batches=3, batch_us=1000
        )
        yield {
            "program": name,
            "dtype": dtype,
            "n": n,
            "threads": threads,
            "us": t,
            "registers": registers(function),
            **more,
        }


def _kepler(real, dtype):
    n = 1_000_000
    mean, ecc, out = _uniform(0.1, 3, n, dtype), _uniform(0, 0.9, n, dtype, 1), cp.empty(n, dtype)
    for name in ("kepler", "kepler_both"):
        for record in _timed(name, real, dtype, (n, mean, ecc, out), n):
            error = float(cp.abs(out - ecc * cp.sin(out) - mean).max())
            yield {**record, "error": error}


def _mandelbrot(real, dtype):
    n = 4_000_000
    a, b, out = _uniform(-2, 0.6, n, dtype), _uniform(-1.2, 1.2, n, dtype, 1), cp.empty(n, dtype)
    yield from _timed("mandelbrot", real, dtype, (n, a, b, out), n)
    wanted, function = out.copy(), kernel("ensembles.cu", "mandelbrot_counter_kernel", REAL=real)
    next_row = cp.zeros(1, "uint64")
    for blocks in (4, 8, 16):

        def launch(_, blocks=blocks):
            next_row.fill(0)
            function((blocks * multiprocessors(),), (256,), (n, a, b, out, next_row))

        out.fill(np.nan)
        t = microseconds(launch, batches=3, batch_us=1000)
        yield {
            "program": "mandelbrot_counter",
            "dtype": dtype,
            "n": n,
            "blocks": blocks,
            "us": t,
            "error": float((out != wanted).sum()),
        }


def _lorenz(real, dtype):
    n, steps = 262_144, 1000
    s, out = normal(n, 3, dtype=dtype), cp.empty(n, dtype)
    yield from _timed("lorenz", real, dtype, (n, s, steps, out), n, steps=steps)
    s_bar, function = cp.empty_like(s), kernel("ensembles.cu", "lorenz_grad_kernel", REAL=real)
    for threads, blocks in itertools.product((64, 128, 256), (4, 8, 16)):
        count = min(-(-n // threads), blocks * multiprocessors())
        own = cp.empty(3 * steps * count * threads, dtype)
        t = microseconds(
            lambda _, c=count, t=threads, own=own: function((c,), (t,), (n, s, steps, s_bar, own)),
            batches=2,
            batch_us=1000,
        )
        yield {
            "program": "lorenz_grad",
            "dtype": dtype,
            "n": n,
            "steps": steps,
            "threads": threads,
            "blocks": blocks,
            "own_gb": own.nbytes / 1e9,
            "us": t,
            "TB/s": 6 * steps * n * s.itemsize / t / 1e6,
        }


def _bodies(real, dtype):
    n = 8192
    x, mass, out = normal(n, 3, dtype=dtype), _uniform(1, 2, n, dtype), cp.empty((n, 3), dtype)
    yield from _timed("n_body", real, dtype, (n, x, mass, out), n)
    wanted, function = out.copy(), kernel("ensembles.cu", "n_body_teams_kernel", REAL=real)
    for team in (4, 8, 16, 32):
        if team < 32:
            continue  # the kernel's sums take whole warps
        for height in (4, 8):
            t = microseconds(
                lambda _, t=team, h=height: function((-(-n // h),), (t, h), (n, x, mass, out)),
                batches=3,
                batch_us=1000,
            )
            yield {
                "program": "n_body_teams",
                "dtype": dtype,
                "n": n,
                "T": team,
                "R": height,
                "us": t,
                "error": float(cp.abs(out - wanted).max() / cp.abs(wanted).max()),
            }
