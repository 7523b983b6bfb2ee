"""One workload on one library, in a process of its own: prints what it measured as JSON.

    python benchmarks/cell.py "S1 sin(x) + cos(y)" tapeless 1000

seconds   the median of repeated calls
first     the first call: staging, compilation, and the run
memory    megabytes at most in a further call, above what there was before; null but on Linux
check     the sum of the magnitudes of all results, to be compared with other libraries
"""

import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # after the path is set

from benchmarks.workloads import WORKLOADS  # the same

LIBRARIES = ("tapeless", "NumPy", "JAX", "autograd")
SECONDS, LEAST = 0.5, 5  # of repeated calls, and how many at least
SLOW = 10  # seconds of a first call after which one more is enough


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
    start = time.perf_counter()
    check = magnitude(call(*args))
    first = time.perf_counter() - start
    memory = peak(lambda: call(*args))
    times, end = [], time.perf_counter() + SECONDS
    number = max(1, int(1e-4 / max(1e-7, timed(call, args, 1))))
    least = LEAST if first < SLOW else 1
    while len(times) < least or time.perf_counter() < end:
        times.append(timed(call, args, number))
    return {
        "seconds": statistics.median(times),
        "first": first,
        "memory": memory,
        "check": check,
    }


def peak(call):
    """The memory that a call takes at most, in megabytes."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None

    def kilobytes(name):
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest value begins anew
    call()
    return max(0, kilobytes("VmHWM") - before) / 1000


def timed(call, args, number):
    """Seconds a call, of so many."""
    start = time.perf_counter()
    for _ in range(number):
        call(*args)
    return (time.perf_counter() - start) / number


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
