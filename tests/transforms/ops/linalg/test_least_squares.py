"""Least squares and pseudoinverses of matrices whose rank is not full, and stays what it is."""

import numpy as np
import pytest

from tapeless import grad, jit, jvp
from tests.transforms.ops.agreement import check_slopes, check_values

RNG = np.random.default_rng(8)
U, V, B = RNG.normal(size=7), RNG.normal(size=4), RNG.normal(size=7)


def of_rank(u, v, rank):
    """A matrix of rank 1 or 2, with as many rows as u has numbers."""
    a = np.outer(u, v)
    return a if rank == 1 else a + np.outer(np.sin(3 * u), v * v)


PROGRAMS = {
    "pinv": lambda u, v, rank: np.linalg.pinv(of_rank(u, v, rank)),
    "lstsq": lambda u, v, rank: np.linalg.lstsq(of_rank(u, v, rank), B[: len(u)])[0],
    "lstsq of more": lambda u, v, rank: np.linalg.lstsq(
        of_rank(u, v, rank), np.stack([B[: len(u)], u], 1)
    )[0],
    "lstsq of the range": lambda u, v, rank: np.linalg.lstsq(of_rank(u, v, rank), u * v[0])[0],
}
SIDES = [(7, 4), (4, 7), (4, 4), (7, 1), (1, 4)]


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("sides", SIDES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_slopes(name, sides, rank):
    n, m = sides
    u, v = np.resize(U, n), np.resize(np.append(V, U), m)

    def program(u, v):
        return PROGRAMS[name](u, v, rank)

    check_values(program, u, v)
    check_slopes(program, u, v)


@pytest.mark.parametrize("sides", SIDES[:3], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name, sides):
    n, m = sides
    u, v = U[:n], np.resize(np.append(V, U), m)

    def total(u):
        return np.sum(np.sin(PROGRAMS[name](u, v, 1)))

    first, second = np.cos(np.arange(n)), np.sin(1.0 + np.arange(n))
    slope = grad(total)
    expected = (slope(u + 1e-5 * first) - slope(u - 1e-5 * first)) @ second / 2e-5
    bent = jvp(slope, (u,), (first,))[1]
    np.testing.assert_allclose(bent @ second, expected, rtol=1e-5, atol=1e-9)
    bent = jit(grad(lambda u: slope(u) @ second))(u)
    np.testing.assert_allclose(bent @ first, expected, rtol=1e-5, atol=1e-9)


def test_there_are_no_residuals_where_columns_depend_on_each_other():
    def residuals(a, b):
        return np.linalg.lstsq(a, b)[1]

    independent = RNG.normal(size=(5, 2))
    for a in (independent, np.outer(U[:5], V[:2]), independent[:2], independent[:1]):
        check_values(residuals, a, B[: len(a)])
        check_values(residuals, a, np.stack([B, U], 1)[: len(a)])
