"""One workload on one library, in a process of its own: prints what it measured as JSON.

    python benchmarks/cell.py "S1 sin(x) + cos(y)" tapeless 1000

seconds   the median of repeated calls
first     the first call: staging, compilation, and the run
memory    megabytes at most, above what there was before the first call
check     the sum of the magnitudes of all results, to be compared with other libraries
"""

import importlib.util
import json
import resource
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402  # after the path is set

from benchmarks.workloads import WORKLOADS  # noqa: E402  # the same

LIBRARIES = ("tapeless", "NumPy", "JAX", "autograd")
SECONDS, LEAST = 0.5, 5  # of repeated calls, and how many at least


def installed(library):
    return library == "NumPy" or importlib.util.find_spec(library.lower()) is not None


def by_tapeless(w, args):
    import tapeless  # noqa: PLC0415  # only what is measured is imported

    return transformed(w, tapeless, w.make(np), args), args


def by_numpy(w, args):
    """The function itself, also where a derivative is measured."""
    function = w.make(np)
    if "vmap" in w.transform:
        return lambda x: [function(v) for v in x], args
    return function, args


def by_jax(w, args):
    import jax  # noqa: PLC0415  # a peer, where it is installed

    jax.config.update("jax_enable_x64", True)
    fn = transformed(w, jax, (w.jax or w.make)(jax.numpy), args)
    numbers = jax.tree.map(lambda x: x if isinstance(x, int) else jax.numpy.asarray(x), args)
    return lambda *a: jax.block_until_ready(fn(*a)), numbers


def by_autograd(w, args):
    import autograd  # noqa: PLC0415  # a peer, where it is installed
    import autograd.numpy as anp  # noqa: PLC0415  # the same

    fn = w.make(anp)
    if "vmap" in w.transform:
        return autograd.elementwise_grad(fn), args
    if w.transform == "jit":
        return fn, args
    made = getattr(autograd, w.transform.split()[-1])
    return made(fn, w.argnums if isinstance(w.argnums, int) else list(w.argnums)), args


def transformed(w, library, fn, args):
    """The transformation that is measured, in the words that JAX and tapeless share."""
    static = [k for k, x in enumerate(args) if isinstance(x, int)]
    for word in reversed(w.transform.split()):
        if word in ("grad", "value_and_grad"):
            fn = getattr(library, word)(fn, w.argnums)
        elif word == "vmap":
            fn = library.vmap(fn, w.in_axes)
        elif static and library.__name__ == "jax":
            fn = library.jit(fn, static_argnums=static)
        else:
            fn = library.jit(fn)
    return fn


def magnitude(value):
    if isinstance(value, (list, tuple)):
        return sum(map(magnitude, value))
    return float(np.sum(np.abs(np.asarray(value, np.float64))))


def measure(name, library, size):
    w = WORKLOADS[name]
    args = w.arguments(size, np.random.default_rng(0))
    call, args = globals()[f"by_{library.lower()}"](w, args)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    check = magnitude(call(*args))
    first = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    times, end = [], time.perf_counter() + SECONDS
    number = max(1, int(1e-4 / max(1e-7, timed(call, args, 1))))
    while len(times) < LEAST or time.perf_counter() < end:
        times.append(timed(call, args, number))
    return {
        "seconds": statistics.median(times),
        "first": first,
        "memory": memory,
        "check": check,
    }


def timed(call, args, number):
    """Seconds a call, of so many."""
    start = time.perf_counter()
    for _ in range(number):
        call(*args)
    return (time.perf_counter() - start) / number


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
