"""Names that a program may have, whatever they mean in CUDA C, in CuPy or in our own text."""

import linecache

import numpy as np
import pytest

import tapeless
from tapeless import jit

NAMES = """
packed pack place lane row team teams rows error results room pass_ block_sum join_sum result_0
nullptr noexcept decltype thread_local static_cast xor co_await concept alignas char16_t
__global__ __shared__ threadIdx atomicAdd i64 u64 malloc double int float min max j0
cp cupyx numpy on_device empty read module Kernel CODE raising
β Δx φ ħ
"""

#: The name as an argument, as an array of the driver, and as a number of a kernel.
TEXT = """
def argument(NAME, y):
    return np.sin(NAME) + y.sum(), NAME.max()


def array(x, y):
    NAME = x * 2 + y.sum()
    for k in range(3):
        NAME = NAME + y
    return np.cumsum(NAME)


def number(x, y):
    out = np.zeros(len(x))
    for k in range(len(x)):
        NAME = x[k] * y[k]
        while NAME < 5:
            NAME = 2 * NAME + 1
        out[k] = NAME
    return out


def NAME(x, y):
    return np.sqrt(x * x + y), x.sum()
"""


def functions(name):
    text, file = TEXT.replace("NAME", name), f"<names {name}>"
    space = {"np": np}
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    *rest, last = [f for key, f in space.items() if key not in ("np", "__builtins__")]
    return [*rest, last]


@pytest.mark.parametrize("name", NAMES.split())
def test_programs_have_the_names_that_users_give(name, gpu):
    x, y = np.linspace(0.5, 2, 7), np.arange(7.0)
    for f in functions(name):
        found = tapeless.device_get(jit(f, backend="gpu")(x, y))
        for a, b in zip(tapeless.tree.leaves(found), tapeless.tree.leaves(f(x, y)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_letters_of_other_alphabets_are_spelled_out(gpu):
    text = jit(functions("Δx")[2], backend="gpu").source(np.ones(3), np.ones(3))
    kernels = text.partition('r"""')[2].partition('"""')[0]
    assert "double Deltax = x[k] * y[k];" in kernels
    assert kernels.isascii()
