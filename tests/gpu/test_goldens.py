"""Emitted modules for a GPU, as text to read: kernels of each form, their launches, the driver."""

import ast
import re

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, value_and_grad, vmap
from tapeless.transforms.cuda.helpers import HELPERS
from tapeless.transforms.cuda.packed_loops import PACK_LOOP
from tests.gpu import programs
from tests.gpu.test_programs import code_of

pytestmark = pytest.mark.every_case

#: What reductions and joins are made of is alike for all kernels.
ALIKE = re.compile(
    r'(__device__ \w+ (team|block)_\w+|extern "C" __global__\s+void (join|take)_\w+)\('
)


def heat_of_a_small_plate(u, steps):
    """A function of its own: `heat_2d` may be compiled for large ones already."""
    return programs.heat_2d(u, steps)


def row_sums(x):
    return np.sum(x * x, axis=1)


def column_means(x):
    return np.mean(x, axis=0)


def scaled(x, limit):
    total = 0.0
    for k in range(len(x)):
        if x[k] > limit:
            raise ValueError(f"number {k} is above the limit")
        total += x[k]
    print("the total is", total)  # noqa: T201  # what programs print is what is printed
    return x / total


def checked_rows(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i, 0] < 0:
            raise ValueError("a row begins with a negative number")
        out[i] = np.sqrt(x[i, 0]) + x[i].sum()
    return out


def positive_squares(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v * v)  # noqa: PERF401  # a list that grows is what is printed
    return np.array(found)


def noisy(x):
    return x + 0.1 * tapeless.random.normal(tapeless.random.key(7), x.shape)


def trained(w, b, x, y):
    def loss(w, b):
        return np.mean((np.tanh(x @ w + b) - y) ** 2)

    value, (w_bar, b_bar) = value_and_grad(loss, (0, 1))(w, b)
    return value, w - 0.1 * w_bar, b - 0.1 * b_bar


matrix = np.ones((40, 50))
places = np.arange(40)
CASES = {
    "points": (programs.s2, (np.ones((40, 50), "f4"),)),
    "points_of_several_arrays": (grad(programs.black_scholes_sum), (np.ones(9),) * 3),
    "transposed": (programs.s4, (np.ones((40, 40)),)),
    "row_sums": (row_sums, (matrix,)),
    "column_means": (column_means, (matrix,)),
    "rows_by_teams": (programs.layer_norm, (matrix, np.ones(50), np.ones(50))),
    "staged_rows": (programs.softmax, (matrix,)),
    "cross_entropy": (value_and_grad(programs.cross_entropy), (matrix, places)),
    "training_step": (trained, (np.ones((50, 9)), np.ones(9), matrix, np.ones((40, 9)))),
    "while_of_each_thread": (vmap(programs.kepler), (np.ones(9), np.ones(9))),
    "counted_stack": (vmap(grad(programs.kepler)), (np.ones(9), np.ones(9))),
    "stencil": (programs.heat_2d, (np.zeros((2000, 3000)), 5)),
    "one_block": (heat_of_a_small_plate, (matrix, 5)),
    "while_in_one_block": (programs.conjugate_gradients, (np.eye(9), np.ones(9), 1e-9)),
    "loop_of_the_driver": (
        programs.conjugate_gradients,
        (np.zeros((3000, 3000)), np.zeros(3000), 1e-9),
    ),
    "list_that_grows": (positive_squares, (np.ones(9),)),
    "atomic_additions": (programs.histogram, (np.ones(9), places[:9])),
    "last_store_wins": (programs.last_store_wins, (np.ones(9), places[:9])),
    "print_and_raise": (scaled, (np.ones(9), 2.0)),
    "raise_in_rows": (checked_rows, (matrix,)),
    "random_numbers": (noisy, (np.ones(9),)),
    "sorted_rows": (programs.median_of_rows, (matrix,)),
}


def own_text(source):
    """A module without what all modules have: the class that launches, and device functions."""
    code, lines = code_of(source), source.splitlines()
    if not code:
        return source
    body = ast.parse(source).body
    (kernel,) = (s for s in body if isinstance(s, ast.ClassDef) and s.name == "Kernel")
    source = "\n".join([*lines[: kernel.lineno - 1], *lines[kernel.end_lineno + 2 :], ""])
    parts = code.strip().split("\n\n")
    return source.replace(code, "\n" + "\n\n".join(p for p in parts if not is_alike(p)) + "\n")


def is_alike(part):
    """Whether a part of CUDA C is one of those that many kernels need."""
    alike = {*PACK_LOOP.split("\n\n"), *(text.strip() for text in HELPERS.values())}
    return part in alike or bool(ALIKE.match(part))


@pytest.mark.parametrize("name", CASES)
def test_golden(golden, name):
    function, args = CASES[name]
    source = jit(function, backend="gpu").lower(*args).source()
    assert max(map(len, source.splitlines())) <= 100
    golden(f"cuda/{name}.py", own_text(source))
