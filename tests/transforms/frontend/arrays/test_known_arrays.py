"""Arrays that libraries make of known arguments belong to the program where it stores to one."""

import numpy as np
import pytest
import scipy.special

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError

MAKERS = {
    "mgrid": lambda: np.mgrid[0:8, 0:8],
    "ogrid": lambda: np.ogrid[0.0:40.0, 0:50][0],
    "columns": lambda: np.c_[0:40, 1:41],
    "leggauss": lambda: np.polynomial.legendre.leggauss(40)[0],
    "roots": lambda: scipy.special.roots_hermite(40)[1],
    "bytes": lambda: np.frombuffer(bytes(range(48)), dtype=np.uint8).copy(),
    "small": lambda: np.mgrid[0:2, 0:2],
}


def stored_under_a_test(make, x):
    g = make()
    before = g * x
    if x > 0:
        g[0] = 3
    g[1] = 5
    return before, g, g * x


def stored_in_a_loop(make, x):
    g = make()
    total = 0.0
    for i in range(2):
        total = total + np.sum(g * x)
        g[i] = g[i] + 1
    return total, g


def changed_in_place(make, x):
    g = make()
    before = np.sin(g * 1.0) * x
    g += 2
    np.multiply(g, 3, out=g)
    part = g[1:2]
    part.fill(7)
    return before, g, part, np.sum(g) * x


PROGRAMS = [stored_under_a_test, stored_in_a_loop, changed_in_place]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values(program, maker):
    def function(x):
        return program(MAKERS[maker], x)

    for x in (2.0, -1.5):
        for got, wanted in zip(jit(function)(x), function(x), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-14)


def shifted_nodes(x):
    nodes, weights = np.polynomial.legendre.leggauss(40)
    nodes *= x
    weights[3:] += x**2
    return np.sum(weights * np.cos(nodes))


def moved_grid(x):
    g = np.mgrid[0.0:6, 0.0:6]
    g[1] -= x
    g[0, 2, 3] = x**2
    return np.sum(g**2)


@pytest.mark.parametrize("function", [shifted_nodes, moved_grid])
def test_derivatives(function):
    slope = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    for transformed in (
        grad(function),
        jit(grad(function)),
        lambda x: vmap(grad(function))(np.array([x]))[0],
    ):
        assert transformed(1.3) == pytest.approx(slope, rel=1e-7)


def lines_of_grids(n, x):
    columns, rows = np.mgrid[0:n, 0:n]
    height = x[columns] + x[rows]
    columns.shape = rows.shape = n * n
    across, down = np.meshgrid(x, x)
    across.shape = down.shape = across.size
    ours, _ = np.indices((n, n + 1))
    ours.shape = -1
    return height, columns, rows, across + 2 * down, ours


def test_shapes_of_grids():
    x = np.arange(8.0) ** 2
    for got, wanted in zip(jit(lines_of_grids)(7, x), lines_of_grids(7, x), strict=True):
        np.testing.assert_array_equal(got, wanted)


def read_while_staging(x):
    sizes = np.c_[3:40].ravel()
    total = 0.0
    for n in sizes[:3]:
        total = total + np.sum(np.ones(n) * x)
    return total


def test_what_is_only_read_stays_known():
    assert jit(read_while_staging)(2.0) == read_while_staging(2.0)


def coefficients_of_an_object(x):
    p = np.polynomial.Polynomial([1.0, 2.0, 3.0])
    before = p(x)
    p.coef[0] = 5
    return before, p(x)


def value_in_an_object(x):
    p = np.polynomial.Polynomial([1.0, 2.0, 3.0])
    p.coef[0] = x
    return p(2.0)


def test_arrays_of_objects_of_libraries():
    for got, wanted in zip(
        jit(coefficients_of_an_object)(0.5), coefficients_of_an_object(0.5), strict=True
    ):
        assert got == wanted
    with pytest.raises(UnsupportedError, match=r"made outside of the program.*\n.*line"):
        jit(value_in_an_object)(0.5)
