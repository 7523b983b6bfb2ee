"""Which kernels load and store tiles, and which must not."""

import re

import numpy as np
import pytest

from tapeless import jit

A, B, X = np.ones((40, 70)), np.ones((70, 40)), np.ones((40, 40))


def below_the_diagonal(a, b):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(i):
            out[i] += a[i, j] * b[j, i]
    return out


def as_far_as_each_row_says(a, b, n):
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(n[i]):
            total += a[i, j] * b[j, i]
        out[i] = total
    return out


def some_of_them(a, b):
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                out[i, j] = b[j, i]
    return out


def shorter(a, b):
    return a + np.concatenate([b.T, np.zeros((a.shape[0], a.shape[1] - b.shape[0]))], axis=1)


def tiles(function, *args):
    """The elements that kernels have tiles of."""
    code = jit(function, backend="gpu").source(*args)
    return re.findall(r"__shared__ \w+ \w+_tile\w*\[32\]\[\d+\];  // (.*)", code)


@pytest.mark.parametrize(
    ("function", "args", "places"),
    [
        (lambda x: x * x + x * x.T, (X,), ["x[j * x_1 + i]"]),
        (lambda a, b: a * b.T, (A, B), ["b[j * b_1 + i]"]),
        (lambda a: np.ascontiguousarray(a.T), (A,), ["a[j * a_1 + i]"]),
        (lambda a, b: np.sum(a * b.T, axis=1), (A, B), ["b[j * b_1 + i]"]),
        (lambda a, b: np.sum(a * b.T), (A, B), ["b[j * b_1 + i]"]),
    ],
)
def test_what_lies_across_is_tiled(function, args, places):
    assert tiles(function, *args) == places


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: x * x, (X,)),
        (lambda a, b: a @ b, (A, B)),
        (lambda a: a - a.sum(axis=0), (A,)),
        (below_the_diagonal, (X, X)),
        (as_far_as_each_row_says, (A, B, np.full(40, 3))),
        (some_of_them, (A, B)),
        (shorter, (A, B[:30])),
    ],
)
def test_what_does_not_or_may_not_be_there_is_not(function, args):
    assert tiles(function, *args) == []


def test_a_block_has_room_for_its_tiles():
    def many(*xs):
        return sum(x.T for x in xs[1:]) + xs[0]

    few, more = [np.ones((40, 40))] * 4, [np.ones((40, 40))] * 9
    assert len(tiles(many, *few)) == 3
    assert tiles(many, *more) == []


def test_launches_know_how_many_tiles_there_are():
    source = jit(lambda a, b: a * b.T, backend="gpu").source(A, B)
    assert "tiles=lambda rows, a, b, out: -(-rows // 32) * -(-b.shape[0] // 32)" in source
    source = jit(lambda a, b: np.sum(a * b.T, axis=1), backend="gpu").source(A, B)
    assert "tiles=lambda rows, a, b, out: -(-rows // 8)" in source
