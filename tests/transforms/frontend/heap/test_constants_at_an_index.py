"""Texts, functions and tuples at an index from data are chosen as `a if test else b` chooses."""

from typing import NamedTuple

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

ROWS = np.array([[0.32, 0.13, 0.24], [0.11, 0.33, 0.25], [0.05, 0.07, 0.31]])


class Species(NamedTuple):
    name: str
    weight: float


def text(r):
    name = ["a", "b", "c"][int(np.argmax(r))]
    return r[0] if name == "b" else 2.0 * r[1]


def from_the_end(r):
    name = ("a", "b", "c")[-1 - int(np.argmax(r))]
    return r[0] if name == "a" else 2.0 * r[1]


def function(r):
    functions = [np.sin, np.cos, lambda t: t * t]
    return functions[int(np.argmax(r))](r[0]) + functions[0](r[1])


def text_in_a_loop(r):
    total = 0.0
    for v in r:
        kind = ("low", "middle", "high")[min(int(v * 10), 2)]
        if kind == "low":
            total += v
        else:
            total += v * v if kind == "middle" else np.sin(v)
    return total


def pairs(r):
    name, factor = [("a", 1.0), ("b", 2.0), ("c", r[0])][int(np.argmax(r))]
    return factor * r[0] if name == "b" else factor * r[1] ** 2


def named_tuples(r):
    table = [Species("a", 1.0), Species("b", r[1]), Species("c", 3.0)]
    total = 0.0
    for v in r:
        species = table[int(v * 10) % 3]
        total += species.weight * v if species.name != "b" else species.weight * v * v
    return total


def none_or_a_number(r):
    factor = [None, 2.0][int(r[0] > 0.2)]
    return r[0] if factor is None else factor * r[1]


PROGRAMS = [
    text, from_the_end, function, text_in_a_loop, pairs, named_tuples, none_or_a_number,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    """Each is staged for all values."""
    compiled, slope = tapeless.jit(program), tapeless.grad(program)
    for r in ROWS:
        assert compiled(r) == pytest.approx(program(r), rel=1e-14)
        np.testing.assert_allclose(slope(r), gradient(program, r), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(tapeless.vmap(program)(ROWS), [program(r) for r in ROWS])
    slopes = tapeless.jit(tapeless.vmap(slope))(ROWS)
    np.testing.assert_allclose(slopes, [slope(r) for r in ROWS], rtol=1e-9)


@pytest.mark.parametrize("transformation", [tapeless.jit, tapeless.grad])
def test_an_index_out_of_bounds(transformation):
    def f(r):
        return r[0] if ("a", "b")[int(r[0] * 100)] == "a" else r[1]

    with pytest.raises(IndexError, match="out of bounds"):
        transformation(f)(ROWS[0])


@pytest.mark.usefixtures("traced")
def test_many_constants_are_traced():
    names = [str(k) for k in range(40)]

    def f(r):
        return r[0] if names[int(r[0] * 100)] == "32" else r[1]

    assert [tapeless.jit(f)(r) for r in ROWS] == [f(r) for r in ROWS]
