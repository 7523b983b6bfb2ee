"""Formulas of sizes: at other sizes they give what the report of a call of those sizes says."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

DATA = np.ones((5, 7))


def power_steps(x, w, n):
    for _ in range(n):
        x = np.tanh(w @ x)
        x = x / np.sqrt(np.sum(x**2))
    return np.sum(np.cumsum(x))


def neighbours(x, y, k):
    total = np.sum(x[1:] * y) + np.sum(np.fft.fft(x).real)
    for i in range(k):
        total += np.sum(x[i // 2 :] ** 2)
    return total


def triangle(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total += x[i] * x[j]
    return total


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.inv(a @ a.T))


def of_outside(x):
    return np.sum(np.sin(DATA @ x)) + np.sum(x)


def blocks(x):
    rows = x[: len(x) // 4 * 4].reshape(len(x) // 4, 4)
    return np.sum(np.max(rows, axis=1)) + np.sum(x[-3:] ** 2)


def array(*shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def of_steps(n, steps):
    return array(n), array(n, n), steps


#: program, arguments for sizes, the sizes of a call, those of another
CASES = {
    "jit": (jit(power_steps), of_steps, (30, 5), (700, 11)),
    "jit of grad": (jit(grad(power_steps)), of_steps, (30, 5), (700, 11)),
    "grad": (grad(power_steps), of_steps, (30, 5), (700, 11)),
    "no passes": (jit(grad(power_steps)), of_steps, (30, 5), (40, 0)),
    "transforms": (jit(neighbours), lambda n, k: (array(n), array(n - 1), k), (16, 3), (100, 8)),
    "a batch": (
        vmap(grad(neighbours), (0, None, None)),
        lambda m, n, k: (array(m, n), array(n - 1), k),
        (3, 16, 3),
        (50, 12, 9),
    ),
    "loops in loops": (jit(triangle), lambda n: (array(n), n), (9,), (40,)),
    "libraries": (grad(solved), lambda n: (array(n, n), array(n)), (5,), (64,)),
    "libraries under jit": (jit(grad(solved)), lambda n: (array(n, n), array(n)), (5,), (64,)),
    "arrays from outside": (jit(grad(of_outside)), lambda n: (array(n),), (7,), (7,)),
    "quotients": (jit(grad(blocks)), lambda n: (array(n),), (16,), (1003,)),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_at_other_sizes(case):
    program, arguments, here, there = CASES[case]
    formulas = program.explain(*arguments(*here)).by_size
    other = program.explain(*arguments(*there))
    lines = program.explain(*arguments(*here)).lines
    named = {
        name: n
        for mine, its in zip(formulas.sizes, other.by_size.sizes, strict=True)
        for name, n in zip(mine.names, [its.value] * len(mine.names), strict=True)
    }
    value = formulas.evaluated(named)
    assert value(formulas.work.operations) == other.work.operations
    assert value(formulas.work.bytes) == other.work.bytes
    assert value(formulas.peak_memory) == other.peak_memory
    for line, wanted in zip(program.explain(*arguments(*here)).lines, other.lines, strict=True):
        assert line.source == wanted.source
    reports = program.explain(*arguments(*here))
    at = reports.by_size.evaluated(named)
    for line, wanted in zip(reports.lines, other.lines, strict=True):
        if line.by_size is not None:
            assert at(line.by_size.operations) == wanted.work.operations
            assert at(line.by_size.bytes) == wanted.work.bytes
    for residual, wanted in zip(reports.saved, other.saved, strict=True):
        shape = ", ".join(str(at(n)) for n in residual.lengths)
        assert f"{residual.dtype}[{shape}]" == wanted.what
    assert lines
