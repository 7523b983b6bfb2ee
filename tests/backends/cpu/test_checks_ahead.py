"""Loops that do much with elements at computed places test these ahead, and run on vectors."""

import ast
import textwrap

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.backends.cpu.llvm.checks_ahead import checks_ahead

LOOP = """
def kernel(x, z, y):
    for i in range(x.shape[0]):
        k = int64(floor(x[i]))
        if not -z.shape[0] <= k < z.shape[0]:
            raise IndexError(f'index {k}')
        y[i] = exp(z[k]) * exp(x[i])
"""
AHEAD = """
def kernel(x, z, y):
    outside = False
    for i in range(x.shape[0]):
        k = int64(floor(x[i]))
        outside = outside | (k < -z.shape[0]) | (k >= z.shape[0])
    if outside:
        for i in range(x.shape[0]):
            k = int64(floor(x[i]))
            if not -z.shape[0] <= k < z.shape[0]:
                raise IndexError(f'index {k}')
    for i in range(x.shape[0]):
        k = int64(floor(x[i]))
        y[i] = exp(z[k]) * exp(x[i])
"""


def ahead(text, apart=True):
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return ast.unparse(checks_ahead(function, apart))


def test_the_loop_before_and_after():
    assert ahead(LOOP) == AHEAD.strip()


def changed(old, new):
    text = LOOP.replace(old, new)
    assert text != LOOP
    return text


STAYS = {
    "little work": changed("exp(z[k]) * exp(x[i])", "z[k] * x[i]"),
    "a place that is computed is stored to": changed("y[i]", "y[k]"),
    "what is tested is stored to": changed("y[i]", "x[i]"),
    "a test of an element at a tested place": changed(
        "        y[i]",
        "        j = z[k]\n        if not -3 <= j < 3:\n            raise IndexError\n        y[i]",
    ),
    "a number that passes hand on": changed("k = int64(floor(x[i]))", "k = k + 1"),
    "a number that passes add to": changed("k = int64(floor(x[i]))", "k += 1"),
    "a costly index": changed("floor(x[i])", "exp(x[i])"),
    "another test": changed("if not -z.shape[0] <= k < z.shape[0]", "if k > 3"),
    "a loop inside": changed("y[i] =", "for j in range(3):\n            y[i] ="),
}


@pytest.mark.parametrize("why", STAYS)
def test_other_loops_stay(why):
    assert ahead(STAYS[why]) == STAYS[why].strip()


def test_arrays_that_may_share_memory_are_left_alone():
    assert ahead(LOOP, apart=False) == LOOP.strip()


def test_names_of_the_loop_are_left_alone():
    text = ahead(LOOP.replace("k", "outside"))
    assert "outside_ = outside_ | (outside < -z.shape[0])" in textwrap.dedent(text)


def warped(image, t):
    h, w = image.shape
    i, j = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
    x, y = t[0] * j + t[1] * i + t[2], t[0] * i - t[1] * j + t[3]
    k, m = np.floor(x).astype(int), np.floor(y).astype(int)
    a, b = x - k, y - m
    top = image[m, k] * (1 - a) + image[m, k + 1] * a
    return top * (1 - b) + (image[m + 1, k] * (1 - a) + image[m + 1, k + 1] * a) * b


def weighted(x, k, w):
    return np.exp(np.sin(x) * w[k]) + np.log1p(w[k] ** 2)


def test_values_and_errors_of_an_image():
    rng = np.random.default_rng(0)
    image, t = rng.normal(size=(20, 21)), np.array([0.9, 0.05, 0.1, 1.1])
    compiled = jit(warped)
    np.testing.assert_allclose(compiled(image, t), warped(image, t), rtol=1e-12)
    for k, distance in ((2, 3.0), (2, -40.0), (3, 25.0)):
        beyond = t + distance * np.eye(4)[k]
        with pytest.raises(IndexError) as wanted:
            warped(image, beyond)
        with pytest.raises(IndexError) as found:
            compiled(image, beyond)
        assert str(found.value).startswith("index ")
        assert str(found.value).rpartition(" ")[2] == str(wanted.value).rpartition(" ")[2]


def test_the_first_index_that_is_outside_is_told_of():
    rng = np.random.default_rng(1)
    x, k, w = rng.normal(size=90), rng.integers(-7, 7, 90), rng.normal(size=7)
    compiled = jit(weighted)
    np.testing.assert_allclose(compiled(x, k, w), weighted(x, k, w), rtol=1e-12)
    k[[40, 60, 80]] = 8, -9, 7
    with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 7"):
        compiled(x, k, w)
    slope = jit(grad(lambda x, k, w: np.sum(weighted(x, k, w))))
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 7"):
        slope(x, k, w)
    unchecked = jit(weighted, boundscheck=False)
    k[[40, 60, 80]] = 1
    np.testing.assert_allclose(unchecked(x, k, w), weighted(x, k, w), rtol=1e-12)
