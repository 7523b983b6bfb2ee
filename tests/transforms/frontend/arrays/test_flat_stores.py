"""Stores through `flat` to arrays that a library makes of what is known, and arrays of texts."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

POINT = np.array([[0.5, 1.5], [-0.7, 1.9]])


def to_nodes(x):
    nodes = np.polynomial.legendre.leggauss(3)[0]
    nodes.flat[1] = x[0, 0]
    return (nodes**2 * np.arange(3)).sum()


def to_all(x):
    inverse = np.linalg.inv(x @ x.T)
    inverse.flat = 5.0
    inverse.flat[0] = x[0, 0]
    return (inverse**2).sum()


def to_a_table(x):
    lines = ["1 2", "3 4"]
    lines.append("5 6")
    table = np.loadtxt(lines)
    rows = int(table[0, 1])
    table.flat[1] = x[0, 0]
    return table[:rows].sum() * x[0, 1]


def under_a_test(x):
    table = np.genfromtxt(["1,2", "3,4"], delimiter=",")
    if x[0, 0] > 0:
        table.flat[1:3] = x[1]
    return (table * x).sum()


@pytest.mark.parametrize("f", [to_nodes, to_all, to_a_table, under_a_test])
@pytest.mark.parametrize("x", [POINT, -POINT], ids=["plus", "minus"])
def test_stores(f, x):
    assert jit(f)(x) == pytest.approx(f(x))
    np.testing.assert_allclose(vmap(f)(np.stack([x, -x])), [f(x), f(-x)])
    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    differences = np.reshape([(f(x + s) - f(x - s)) / 2e-6 for s in steps], (2, 2))
    np.testing.assert_allclose(grad(f)(x), differences, rtol=1e-6, atol=1e-7)
