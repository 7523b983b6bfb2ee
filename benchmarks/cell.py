"""One workload on one library, in a process of its own, which measures when it is asked to.

    python benchmarks/cell.py "S1 sin(x) + cos(y)" tapeless 1000

It prints what its first calls show, as JSON, and then for each line that it reads the seconds of a
call, until there are no more lines: so libraries can take turns.

first     seconds of the first call: staging, compilation, and the run
memory    megabytes at most in a further call, above what there was before; null but on Linux
check     the sum of the magnitudes of all results, to be compared with other libraries
"""

import functools
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # after the path is set

from benchmarks.workloads import WORKLOADS  # the same

#: The packages of the libraries that are compared.
LIBRARIES = {
    "tapeless": "tapeless",
    "NumPy": "numpy",
    "JAX": "jax",
    "PyTorch": "torch",
    "torch.compile": "torch",
    "autograd": "autograd",
}
BURST = 0.1  # seconds of calls that are timed together


def installed(library):
    return importlib.util.find_spec(LIBRARIES[library]) is not None


def version(library):
    return importlib.metadata.version(LIBRARIES[library])


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


def by_pytorch(w, args, compiled=False):
    import torch  # noqa: PLC0415  # a peer, where it is installed

    from benchmarks.like_numpy import LikeNumpy  # noqa: PLC0415  # imports PyTorch

    fn = (w.torch or w.make)(LikeNumpy)
    for word in reversed(w.transform.split()[1:]):
        fn = torch.func.vmap(fn, w.in_axes) if word == "vmap" else _by_torch(word, fn, w.argnums)
    if compiled:
        fn = torch.compile(fn)
    tensors = torch.utils._pytree.tree_map(  # the only one that it has
        lambda x: x if isinstance(x, int) else torch.as_tensor(np.asarray(x)), args
    )
    return fn, tensors


def _by_torch(word, fn, argnums):
    from torch import func  # noqa: PLC0415  # a peer, where it is installed

    if word == "grad":
        return func.grad(fn, argnums)
    both = func.grad_and_value(fn, argnums)

    def value_and_grad(*args):
        slopes, value = both(*args)
        return value, slopes

    return value_and_grad


def by_torch_compile(w, args):
    return by_pytorch(w, args, compiled=True)


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


def prepared(name, library, size):
    """What the first calls show, and a call without arguments."""
    w = WORKLOADS[name]
    args = w.arguments(size, np.random.default_rng(0))
    call, args = globals()["by_" + library.lower().replace(".", "_")](w, args)
    start = clock()
    check = magnitude(call(*args))
    first = clock() - start
    again = functools.partial(call, *args)
    return {"first": first, "memory": peak(again), "check": check}, again


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


def seconds_of(call, burst=BURST):
    """Seconds a call, of as many as fit into a burst."""
    number, spent = 1, timed(call, 1)
    while spent < burst / 4:
        number *= 2 if spent > burst / 100 else 10
        spent = timed(call, number)
    return spent / number


def clock():
    """Seconds: of the processor, which what else it does leaves alone, where one is used."""
    return time.process_time() if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter()


def timed(call, number):
    start = clock()
    for _ in range(number):
        call()
    return clock() - start


def main(name, library, size):
    shown, call = prepared(name, library, int(size))
    print(json.dumps(shown), flush=True)
    for _ in sys.stdin:
        print(json.dumps(seconds_of(call)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
