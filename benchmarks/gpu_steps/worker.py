"""Runs programs on one system: `python -m benchmarks.gpu_steps.worker SYSTEM SECONDS`.

For each program: the first call, the comparison with NumPy's float64, then calls in a row over
inputs that take turns. A line of JSON a program.
"""

import argparse
import json
import math
import os
import re
import statistics
import tempfile
import time
import traceback
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", ".6")

import numpy as np

from benchmarks.gpu_steps.programs import PROGRAMS, apply

TOLERANCE = {"float32": 2e-5, "float64": 1e-9}
CACHED_BYTES = 150e6  # three times the second-level cache
ROWS_CHECKED = 48
WARM = 6  # calls before a program is timed: those before a CUDA graph is taken, and compared


def leaves(tree):
    """The arrays of nested tuples and lists, in order."""
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree]


def mapped(function, tree):
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(function, part) for part in tree)
    return function(tree) if isinstance(tree, np.ndarray) else tree


class Jax:
    """JAX with `jit`, 64-bit numbers on; `precision` is that of products."""

    def __init__(self, precision=None):
        import jax

        jax.config.update("jax_enable_x64", True)
        if precision:
            jax.config.update("jax_default_matmul_precision", precision)
        self.jax, self.wait, self.put = jax, jax.block_until_ready, jax.numpy.asarray

    def build(self, program):
        make = program.jax or (lambda jax: program.make(jax.numpy))
        return self.jax.jit(apply(self.jax, program.transform, make(self.jax)))

    def host(self, array):
        return np.asarray(array)


class Torch:
    """PyTorch with torch.compile."""

    def __init__(self):
        import torch

        self.torch = torch

    def put(self, array):
        return self.torch.as_tensor(array, device="cuda")

    def wait(self, _):
        self.torch.cuda.synchronize()

    def build(self, program):
        if program.torch is None:
            raise NotImplementedError("no form for PyTorch")
        function = self.torch.compile(program.torch(self.torch))
        if not program.transform:
            return function

        def gradient(*args):
            held = [leaf.requires_grad_() for leaf in leaves(args[0])]
            value = function(*args)
            slopes = self.torch.autograd.grad(value, held)
            return (value.detach(), *slopes) if program.transform == "value_and_grad" else slopes

        return gradient

    def host(self, array):
        return array.detach().cpu().numpy()


class Tapeless:
    """tapeless with jit on a GPU, arguments as CuPy's arrays."""

    def __init__(self):
        import cupy

        import tapeless

        self.cupy, self.tapeless, self.put = cupy, tapeless, cupy.asarray

    def wait(self, _):
        self.cupy.cuda.Device().synchronize()

    def build(self, program):
        function = apply(self.tapeless, program.transform, program.make(np))
        return self.tapeless.jit(function, backend="gpu")

    def host(self, array):
        return self.cupy.asnumpy(array)


SYSTEMS = {"jax": Jax, "jax-exact": lambda: Jax("highest"), "torch": Torch, "tapeless": Tapeless}


def reference(program, args):
    """What NumPy computes in float64, for the first rows where rows are independent."""
    args = mapped(lambda x: x.astype("f8") if x.dtype.kind == "f" else x, args)
    if program.batched:
        args = mapped(lambda x: x[:ROWS_CHECKED], args)
    if "grad" in program.transform:
        return leaves(_derived_on_the_host(program, args))
    function = program.make(np)
    if program.transform == "vmap":
        return [np.array([function(*row) for row in zip(*args, strict=True)])]
    return leaves(function(*args))


def _kept_reference(program, args, key):
    """The reference, computed by the first process that asks for it."""
    word = re.sub("[^a-z0-9]+", "-", f"{key}-{_dtype_of(args)}".lower())
    path = Path(tempfile.gettempdir()) / f"gpu-reference-{os.getppid()}-{word}.npz"
    if path.exists():
        with np.load(path) as kept:
            return [kept[str(k)] for k in range(len(kept.files))]
    want = reference(program, args)
    np.savez(path, **{str(k): x for k, x in enumerate(want)})
    return want


def _dtype_of(args):
    return next(x.dtype for x in leaves(list(args)) if isinstance(x, np.ndarray))


def _derived_on_the_host(program, args):
    """By JAX in float64 on the CPU."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # no effect where JAX has the GPU already
    import jax

    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices("cpu")[0]):
        make = program.jax or (lambda jax: program.make(jax.numpy))
        out = jax.jit(apply(jax, program.transform, make(jax)))(*args)
        return jax.tree_util.tree_map(np.asarray, jax.tree_util.tree_leaves(out))


def error(got, want):
    """The largest difference relative to the largest number, of the leaves."""
    worst = 0.0
    if len(got) != len(want):
        return math.inf
    for x, y in zip(got, want, strict=True):
        x = x[: len(y)] if np.ndim(y) and len(x) >= ROWS_CHECKED == len(y) else x
        if np.shape(x) != np.shape(y):
            return math.inf
        difference = float(np.max(np.abs(x - y), initial=0)) / (
            float(np.max(np.abs(y), initial=0)) or 1.0
        )
        worst = max(worst, difference if math.isfinite(difference) else math.inf)
    return worst


def measure(system, call, inputs):
    """Microseconds of a call in a row, of the host's part, and of a call that is waited for."""

    def row(count):
        start = time.perf_counter()
        for k in range(count):
            out = call(*inputs[k % len(inputs)])
        queued = time.perf_counter()
        system.wait(out)
        return (time.perf_counter() - start) / count, (queued - start) / count

    row(max(len(inputs), WARM))
    single = statistics.median(row(1)[0] for _ in range(5))
    count = max(2, min(300, int(0.02 / single)))
    rows = [row(count) for _ in range(7)] if single < 1 else [(single, single)]
    queued = statistics.median(row(10)[1] for _ in range(5)) if single < 1 else single
    return {
        "us": 1e6 * statistics.median(t for t, _ in rows),
        "us_low": 1e6 * min(t for t, _ in rows),
        "host_us": 1e6 * queued,
        "single_us": 1e6 * single,
    }


def run(system, name, dtype, small=False):
    """The record of one program."""
    program = PROGRAMS[name]
    rng = np.random.default_rng(7)
    first = program.arguments(rng, dtype, small)
    size = sum(x.nbytes for x in leaves(list(first)))
    inputs = [mapped(system.put, first)]
    inputs += [
        mapped(lambda x, shift=shift: system.put(np.roll(x, shift, 0)), first)
        for shift in range(1, 1 + min(3, int(CACHED_BYTES / size)))
    ]
    call = system.build(program)
    start = time.perf_counter()
    out = call(*inputs[0])
    system.wait(out)
    record = {
        "program": name,
        "dtype": dtype,
        "first_s": time.perf_counter() - start,
        "traffic": program.traffic(*first),
        "work": program.work(*first),
    }
    record["error"] = error(
        [system.host(x) for x in leaves(_plain(out))],
        _kept_reference(program, first, f"{name}-{small}"),
    )
    record["right"] = record["error"] <= TOLERANCE[dtype] * program.tolerance
    del out
    if small:
        return record
    record |= measure(system, call, inputs)
    want = _kept_reference(program, first, f"{name}-{small}")
    later = error([system.host(x) for x in leaves(_plain(call(*inputs[0])))], want)
    record["error"] = max(record["error"], later)  # of what runs by now
    record["right"] = record["error"] <= TOLERANCE[dtype] * program.tolerance
    return record


def _plain(out):
    """Results as nested tuples and lists."""
    return tuple(_plain(part) for part in out) if isinstance(out, (tuple, list)) else out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--only", default="", help="beginnings of names, with ';' between them")
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument(
        "--small", action="store_true", help="small arguments, checked and not timed"
    )
    options = parser.parse_args()
    end = time.perf_counter() + options.seconds
    system = SYSTEMS[options.system]()
    chosen = [
        n for n in PROGRAMS if not options.only or n.startswith(tuple(options.only.split(";")))
    ]
    for dtype in options.dtypes.split(","):
        for name in (n for n in chosen if dtype in PROGRAMS[n].dtypes):
            if time.perf_counter() > end:
                print(
                    json.dumps({"program": name, "dtype": dtype, "skipped": "no time left"}),
                    flush=True,
                )
                continue
            try:
                record = run(system, name, dtype, options.small)
            except Exception as failure:  # noqa: BLE001  # a program that fails is a record too
                last = traceback.extract_tb(failure.__traceback__)[-1]
                record = {
                    "program": name,
                    "dtype": dtype,
                    "failed": f"{type(failure).__name__}: {str(failure)[:300]}",
                    "where": f"{last.filename}:{last.lineno}",
                }
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
