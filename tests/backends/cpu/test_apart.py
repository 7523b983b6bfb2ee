"""What compiled code takes for granted: arrays that do not share memory, sums in any order."""

import re

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu import load
from tapeless.backends.cpu.llvm import compile as direct
from tapeless.backends.cpu.numba import compile as compiler
from tapeless.backends.cpu.numba.reassociable_sums import HELPERS, instructions
from tapeless.transforms.errors import ArgumentError
from tests.backends.cpu.text import HEAD

SHIFT = """
@njit(nogil=True)
def shift(x, out):
    for i in range(x.shape[0] - 1):
        out[i + 1] = x[i]
"""
NOALIAS = r"(?:ptr|i8\*) noalias[^,]*%\"?arg\.(\w+)"
FLAGS = {"fastmath": {"reassoc", "contract"}}


@pytest.fixture
def assembly(monkeypatch):
    """The texts that are given to LLVM."""
    seen = []
    parse = compiler.llvm.parse_assembly
    monkeypatch.setattr(
        compiler.llvm, "parse_assembly", lambda text: seen.append(text) or parse(text)
    )
    return seen


@pytest.fixture
def direct_assembly(monkeypatch, tmp_path):
    """The same, for kernels that are compiled now and without Numba."""
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    seen = []
    parse = direct.llvm.parse_assembly
    monkeypatch.setattr(
        direct.llvm, "parse_assembly", lambda text: seen.append(text) or parse(text)
    )
    return seen


@pytest.mark.parametrize("apart", [False, True])
def test_arrays_are_said_to_be_apart(apart, assembly, monkeypatch):
    monkeypatch.setenv("TAPELESS_DISABLE_CACHE", "1")
    shift = load("shift", HEAD + SHIFT, apart=apart)
    out = np.zeros(5)
    shift(np.arange(5.0), out)
    np.testing.assert_array_equal(out, [0, 0, 1, 2, 3])
    marked = [set(re.findall(NOALIAS, text)) for text in assembly]
    assert ({"x", "out"} in marked) is apart


def test_hand_written_kernels_may_work_in_place():
    shift = load("shift", HEAD + SHIFT)
    x = np.arange(5.0)
    shift(x, x)
    np.testing.assert_array_equal(x, np.zeros(5))


def test_two_arguments_that_are_stored_to_may_be_one_array():
    @jit
    def f(x, y):
        x[:] = 1.0
        y[:] = 2.0

    for x, y in ((np.zeros(6), np.zeros(6)), (z := np.zeros(6), z)):
        f(x, y)
        np.testing.assert_array_equal(y, 2.0)
        assert x is y or (x == 1.0).all()


def test_which_functions_are_sums_in_any_order():
    def plus(a, b):
        return a + b

    assert instructions(HELPERS["plus"], FLAGS) is HELPERS["plus"]
    assert instructions(HELPERS["plus_product"], FLAGS) is HELPERS["plus_product"]
    assert instructions(plus, FLAGS) is None  # of somebody else
    assert instructions(HELPERS["plus"], {}) is None
    plus.__doc__ = HELPERS["plus"].__doc__
    assert instructions(plus, FLAGS) is HELPERS["plus"]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_sums_of_several_types(dtype):
    @jit
    def f(x, mask):
        for _ in range(1):
            x = np.eye(3, dtype=x.dtype) @ x
        return x, np.sum(x), np.sum(mask), x @ x

    x, mask = np.array([0.5, 2.0, 1.0], dtype), np.array([1, 0, 1], "i4")
    same, total, count, square = f(x, mask)
    np.testing.assert_array_equal(same, x)
    assert (total, count, square) == (3.5, 2, 5.25)
    assert total.dtype == square.dtype == same.dtype == np.dtype(dtype)


def test_arrays_that_are_read_and_stored_to_are_apart(direct_assembly):
    @jit
    def f(x, y):
        for _ in range(3):
            y[1:-1] = x[:-2] + x[2:]
            x[1:-1] = y[:-2] - y[2:]

    def by_numpy(x, y):
        for _ in range(3):
            y[1:-1] = x[:-2] + x[2:]
            x[1:-1] = y[:-2] - y[2:]

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    a, b = x.copy(), y.copy()
    f(x, y)
    by_numpy(a, b)
    np.testing.assert_allclose(x, a)
    np.testing.assert_allclose(y, b)
    marked = {name for text in direct_assembly for name in re.findall(NOALIAS, text)}
    assert {"x", "y"} <= marked
    for other in (x, x[::-1]):
        with pytest.raises(ArgumentError, match="share memory"):
            f(x, other)
