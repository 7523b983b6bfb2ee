"""Measure what gradients, calls, staging and the import cost, beside peers in the same run.

Times are medians of interleaved repetitions, of processor time on one core, and what counts are
the ratios within a run: other work on the machine disturbs these least.  Peers that are not
installed are left out.

    python benchmarks/run.py                # prints the tables of benchmarks/README.md
    python benchmarks/run.py --profile      # and where the time of staging goes
"""

import argparse
import cProfile
import importlib.util
import inspect
import os
import pstats
import random
import statistics
import subprocess
import sys
import time
import types
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402  # after the number of threads is set

import tapeless  # noqa: E402  # the same
from benchmarks.fifty import fifty_lines  # noqa: E402  # the same
from benchmarks.models import arguments, models  # noqa: E402  # the same


def medians(calls, seconds=1.0):
    """The median time of each call in seconds; they take turns, each time in another order."""
    times = [[] for _ in calls]
    turns = [*zip(calls, times, strict=True)]
    for call in calls:
        call()
    shuffle = random.Random(0).shuffle
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end or len(times[0]) < 5:
        shuffle(turns)  # a call leaves caches and threads in its own way to the next
        for call, kept in turns:
            start = time.process_time()
            call()
            kept.append(time.process_time() - start)
    return [statistics.median(kept) for kept in times]


def peers(name):
    """Name -> (primal, gradient) of a model for each library that is installed."""
    params, x, y = arguments(name)
    function = models(np)[name]
    gradient = tapeless.grad(function)
    found = {"tapeless": (lambda: function(params, x, y), lambda: gradient(params, x, y))}
    if importlib.util.find_spec("autograd"):
        found["autograd"] = of_autograd(name, params, x, y)
    if importlib.util.find_spec("jax"):
        found["JAX, jit"] = of_jax(name, params, x, y)
    if importlib.util.find_spec("torch"):
        found["PyTorch"] = of_torch(name, params, x, y)
    reference = found["tapeless"][1]()
    for library, (_, call) in found.items():
        for key, value in call().items():
            same = np.allclose(np.asarray(value), reference[key], rtol=1e-6, atol=1e-9)
            assert same, f"{library} has another gradient of {name} by {key}"
    return found


def of_autograd(name, params, x, y):
    import autograd  # noqa: PLC0415  # a peer, where it is installed
    import autograd.numpy as anp  # noqa: PLC0415  # the same

    function = models(anp)[name]
    gradient = autograd.grad(function)
    plain = models(np)[name]
    return lambda: plain(params, x, y), lambda: gradient(params, x, y)


def of_jax(name, params, x, y):
    import jax  # noqa: PLC0415  # a peer, where it is installed

    jax.config.update("jax_enable_x64", True)
    function = jax.jit(models(jax.numpy)[name])
    gradient = jax.jit(jax.grad(models(jax.numpy)[name]))
    params, x, y = jax.tree.map(jax.numpy.asarray, (params, x, y))
    ready = jax.block_until_ready
    return lambda: ready(function(params, x, y)), lambda: ready(gradient(params, x, y))


def of_torch(name, params, x, y):
    import torch  # noqa: PLC0415  # a peer, where it is installed

    torch.set_num_threads(1)
    params = {k: torch.as_tensor(v, dtype=torch.float64) for k, v in params.items()}
    x, y = (v if v is None else torch.as_tensor(v) for v in (x, y))
    function = models(like_numpy(torch))[name]
    gradient = torch.func.grad(function)

    def primal():
        with torch.no_grad():
            return function(params, x, y)

    return primal, lambda: gradient(params, x, y)


def like_numpy(torch):
    """The functions of the models under NumPy's names and conventions."""

    class Like:
        tanh, exp, log, log1p = torch.tanh, torch.exp, torch.log, torch.log1p

        @staticmethod
        def sum(x, axis=None, keepdims=False):
            return torch.sum(x) if axis is None else torch.sum(x, dim=axis, keepdim=keepdims)

        @staticmethod
        def max(x, axis, keepdims=False):
            return torch.amax(x, dim=axis, keepdim=keepdims)

    return Like


def gradients():
    """Time of the gradient over that of the function itself."""
    print("| model | library | function | gradient | ratio | gradient over NumPy's function |")
    print("|---|---|---|---|---|---|")
    for name in models(np):
        found = peers(name)
        times = medians([call for pair in found.values() for call in pair])
        plain = times[0]
        for k, library in enumerate(found):
            primal, gradient = times[2 * k : 2 * k + 2]
            row = [name, library, f"{primal * 1e3:.2f} ms", f"{gradient * 1e3:.2f} ms"]
            print(
                "|", " | ".join([*row, f"{gradient / primal:.2f}", f"{gradient / plain:.2f}"]), "|"
            )


def scalar(x, y):
    """A function of two scalars, too cheap to hide what a call costs."""
    return x * y + x


def emitted(derivative, *args):
    """The emitted function itself."""
    derivative(*args)
    namespace = {}
    exec(derivative.source(), namespace)
    (function,) = [found for found in namespace.values() if inspect.isfunction(found)]
    return function


def dispatch():
    """What a repeated call of grad(f) on scalars costs over the emitted function."""
    derivative = tapeless.grad(scalar)
    plain = emitted(derivative, 1.5, 2.5)
    numbers = range(1000)

    def through():
        for _ in numbers:
            derivative(1.5, 2.5)

    def directly():
        for _ in numbers:
            plain(1.5, 2.5)

    ours, theirs = medians([through, directly])
    print(
        f"| a call on scalars over the emitted function | {(ours - theirs) * 1e3:.2f} us | 10 us |"
    )


def stage_fifty():
    """Stage a fresh function object, for what was staged before is kept."""
    code, names = fifty_lines.__code__.replace(), dict(fifty_lines.__globals__)
    fresh = types.FunctionType(code, names, fifty_lines.__name__)
    tapeless.grad(fresh).source(0.5, 0.3, 0.7, np.linspace(0.1, 1.0, 6), 5)


def staging():
    """From a function of fifty lines to the module of its gradient, once everything is imported."""
    (took,) = medians([stage_fifty], seconds=3)
    print(f"| staging and emitting a gradient of 50 lines | {took * 1e3:.0f} ms | 100 ms |")


def import_time(runs=9):
    """What `import tapeless` costs beyond `import numpy`, each in a fresh process."""

    def run(line):
        clock = "time.process_time()"
        code = f"import time, numpy; start = {clock}; {line}; print({clock} - start)"
        return float(subprocess.check_output([sys.executable, "-c", code]))

    for line in ("import tapeless", "from tapeless import grad"):
        took = statistics.median(run(line) for _ in range(runs))
        print(f"| `{line}` beyond numpy | {took * 1e3:.0f} ms | 200 ms |")


def profile():
    """Where the time of staging goes."""
    stage_fifty()
    with cProfile.Profile() as profiler:
        stage_fifty()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)


def main():
    parser = argparse.ArgumentParser(description="Measure tapeless beside its peers.")
    parser.add_argument("--profile", action="store_true", help="where the time of staging goes")
    options = parser.parse_args()
    gradients()
    print("\n| cost | measured | target |\n|---|---|---|")
    dispatch()
    staging()
    import_time()
    if options.profile:
        profile()


if __name__ == "__main__":
    main()
