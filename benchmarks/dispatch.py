"""What a call costs beyond the work: finding the function that was emitted for the arguments.

python benchmarks/dispatch.py           # a Markdown table, microseconds
"""

import functools
import importlib.util
import time

import numpy as np

import tapeless
from tapeless.backends import cpu
from tapeless.transformations.compilation.jit import jit

X = np.ones(3)
MANY = [np.ones(3) for _ in range(100)]
NAMED = {f"layer{k}": {"w": np.ones(3), "b": np.ones(3)} for k in range(50)}
SCALE = 2.0
KERNELS = """
from numba import njit

@njit
def scalar(x, y):
    return x * y + x

@njit(nogil=True)
def arrays(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * y[i] + x[i]
"""


def product(x, y):
    return x * y + x


def scaled(x):
    return scale(x)


def scale(x):
    return x * SCALE


def weighted(x, y, z):
    return np.sum(x * y * z)


def cases():
    """(name, target in microseconds, call, the call without what finds the function)."""
    found = [
        ("one scalar", 1, tapeless.grad(np.sin), (0.5,)),
        ("two scalars", 1, tapeless.grad(product), (2.0, 3.0)),
        ("one scalar, two names from outside", 1, tapeless.grad(scaled), (2.0,)),
        ("three arrays", 3, tapeless.value_and_grad(weighted, (0, 1, 2)), (X, X, X)),
    ]
    found += [
        ("compiled, two scalars", 1, jit(product), (2.0, 3.0)),
        ("compiled, three arrays", 3, jit(lambda x, y, z: x * y * z), (X, X, X)),
        ("compiled, list of 100 arrays", 40, jit(lambda parts: parts[0] * 2), (MANY,)),
        ("compiled, dicts of 100 arrays", 40, jit(lambda d: d["layer7"]["w"] * 2), (NAMED,)),
    ]
    for name, target, fun, args in found:
        fun(*args)
        fun(*args)
        yield name, target, functools.partial(fun, *args), functools.partial(fun.last.run, *args)
    for name, args in (("scalar", (2.0, 3.0)), ("arrays", (X, X, np.empty(3)))):
        kernel = cpu.load(name, KERNELS)
        kernel(*args)
        yield f"compiled kernel, {name}", 1, functools.partial(kernel.entry, *args), None


def peers():
    """The same under JAX, where it is installed."""
    if importlib.util.find_spec("jax") is None:
        return
    import jax  # noqa: PLC0415  # an optional peer

    jax.config.update("jax_enable_x64", True)
    for name, fun, args in (
        ("JAX: two scalars", jax.jit(jax.grad(product)), (2.0, 3.0)),
        (
            "JAX: list of 100 arrays",
            jax.jit(lambda parts: parts),
            ([*map(jax.numpy.ones, [3] * 100)],),
        ),
    ):
        fun(*args)
        yield name, functools.partial(fun, *args)


def microseconds(call, seconds=0.02, rounds=9):
    """Processor time of one call, the best of several rounds."""
    number, best = 1, np.inf
    while (spent := _spent(call, number)) < seconds / 2:
        number *= 2
    for _ in range(rounds):
        best = min(best, spent / number)
        spent = _spent(call, number)
    return min(best, spent / number) * 1e6


def _spent(call, number):
    start = time.process_time()
    for _ in range(number):
        call()
    return time.process_time() - start


def table():
    """The lines of the table."""
    yield "| call | µs | beyond the emitted function | target |"
    yield "|---|---|---|---|"
    for name, target, call, bare in cases():
        whole = microseconds(call)
        beyond = whole if bare is None else whole - microseconds(bare)
        yield f"| {name} | {whole:.2f} | {beyond:.2f} | {target} |"
    for name, call in peers():
        yield f"| {name} | {microseconds(call):.2f} | | |"


if __name__ == "__main__":
    for line in table():
        print(line)
