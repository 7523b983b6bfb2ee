"""What random numbers cost, beside NumPy's generator and, where it is installed, JAX.

python benchmarks/random_numbers.py [elements]

Nanoseconds of processor time for an element, the best of several runs that take turns; the ratios
are to NumPy. `jit` is compiled, `plain` is not.
"""

import os
import sys
import time

os.environ.setdefault("TAPELESS_NUM_THREADS", "1")

import numpy as np

import tapeless
from tapeless import random

RUNS = 25


def jax_random():
    """jax.random with 64-bit numbers; None without jax."""
    try:
        import jax  # noqa: PLC0415  # an optional peer
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    return jax


def contestants(kind, dtype, n):
    """Name to a function that draws n numbers."""
    generator, key = np.random.default_rng(0), random.key(0)
    theirs = {"uniform": generator.random, "normal": generator.standard_normal}[kind]
    ours = {"uniform": random.uniform, "normal": random.normal}[kind]
    compiled = tapeless.jit(lambda key: ours(key, (n,), dtype))
    made = {
        "numpy": lambda: theirs(n, dtype),
        "plain": lambda: ours(key, (n,), dtype),
        "jit": lambda: compiled(key),
    }
    jax = jax_random()
    if jax is not None:
        jitted = jax.jit(lambda key: getattr(jax.random, kind)(key, (n,), dtype))
        jax_key = jax.random.key(0)
        made["jax"] = lambda: jitted(jax_key).block_until_ready()
    return made


def times(functions, n):
    """Name to nanoseconds an element."""
    best = dict.fromkeys(functions, float("inf"))
    for f in functions.values():
        f()
    for _ in range(RUNS):
        for name, f in functions.items():
            start = time.process_time()
            f()
            best[name] = min(best[name], (time.process_time() - start) * 1e9 / n)
    return best


def main():
    random.report_reuse(False)
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    for kind in ("uniform", "normal"):
        for dtype in (np.float64, np.float32):
            found = times(contestants(kind, dtype, n), n)
            ratios = ", ".join(
                f"{name} {t:.1f} ns ({t / found['numpy']:.1f})" for name, t in found.items()
            )
            print(f"{kind} {np.dtype(dtype)}: {ratios}")


if __name__ == "__main__":
    main()
