"""Loops along rows of one array and columns of another are run in tiles, where they may."""

import ast

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu import load
from tapeless.backends.cpu.llvm.loop_tiling import ROWS, WHOLE, tile_loops
from tests.backends.cpu.text import module

READS = """
@njit(nogil=True)
def f(x, y, out):
    for i in range(x.shape[1]):
        for j in range(x.shape[0]):
            t = y[i, j] * 2
            out[i, j] = t + x[j, i]
"""
IN_TILES = [
    f"range(0, x.shape[0], {ROWS} if x.shape[0] > {WHOLE} else {WHOLE})",
    "range(x.shape[1])",
    f"range(start, min(start + ({ROWS} if x.shape[0] > {WHOLE} else {WHOLE}), x.shape[0]))",
]


def loops(text, apart=True, others=()):
    """The loops of the function, as they are compiled."""
    made = tile_loops(ast.parse(text.replace("@njit(nogil=True)", "")).body[0], others, apart)
    return [ast.unparse(s.iter) for s in ast.walk(made) if isinstance(s, ast.For)]


def test_tiles():
    assert loops(READS) == IN_TILES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y[i, j]", "out[i, j]"),  # the element that the pass stores
        ("x[j, i]", "np.exp(x[j, i])"),
        ("x[j, i]", "exp(x[j, i])"),  # of the library of functions for vectors
        ("x[j, i]", "(x[j, i] if y[i, j] > 0 else 1.0)"),
        ("out[i, j]", "out[j, i]"),
        ("y[i, j]", "y[i, 0]"),
    ],
)
def test_what_else_is_done_in_tiles(old, new):
    assert loops(READS.replace(old, new)) == IN_TILES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[j, i]", "x[i, j]"),  # nothing goes along columns
        ("y[i, j]", "out[i, j - 1]"),  # what another pass has stored
        ("y[i, j]", "out[j, i]"),
        ("out[i, j] =", "out[i, 0] ="),  # the last of many stores
        ("out[i, j] =", "out[i, 0] = out[i, 0] +"),
        ("t = y[i, j] * 2", "y[0, 0] = t = y[i, j]"),
        ("t + x[j, i]", "s + x[j, i]; s = t"),  # what the last pass has made
        ("x[j, i]", "g(x[j, i])"),  # a function that may raise an error
        ("t = y[i, j] * 2", "t = 1.0\n            if x[j, i] > 0: break"),
        ("range(x.shape[0])", "range(i)"),
        ("t = y[i, j] * 2", "y = x"),
    ],
)
def test_what_is_not(old, new):
    assert old in READS
    assert len(loops(READS.replace(old, new), others={"g"})) == 2


def test_memory_that_is_shared():
    """Without a promise that there is none, each pass sees what the one before has stored."""
    assert len(loops(READS, apart=False)) == 2


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (5, 7), (ROWS, 3), (WHOLE, 2), (WHOLE + 1, 2),
                                   (WHOLE + ROWS + 5, 3)])  # fmt: skip
def test_values(shape, rng):
    x, y = rng.normal(size=shape), rng.normal(size=shape[::-1])
    out = np.zeros(shape[::-1])
    load("f", module(READS), apart=True)(x, y, out)
    np.testing.assert_array_equal(out, y * 2 + x.T)


def with_its_transpose(x):
    return (x + 3) * (x + x.T)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [3, 1000, 1500])
def test_a_program(n, order, rng):
    x = np.asarray(rng.normal(size=(n, n)).astype(np.float32), order=order)
    np.testing.assert_allclose(jit(with_its_transpose)(x), with_its_transpose(x), 1e-6)


def into_its_transpose(x, y):
    y[:] = x.T + y
    return y


def test_a_program_that_stores_to_what_it_is_given(rng):
    for n in (50, 1100):
        x, y = rng.normal(size=(2, n, n))
        want = x.T + y
        np.testing.assert_array_equal(jit(into_its_transpose)(x, y), want)
        np.testing.assert_array_equal(y, want)
