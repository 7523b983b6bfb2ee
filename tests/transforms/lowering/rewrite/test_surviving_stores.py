"""Derivatives of stores by index arrays in loops: where places repeat, the last store counts."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
ELEMENTS = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4], [4, 0, 1], [2, 2, 3], [-1, 3, 4]])
E, X = RNG.random(6) + 0.5, RNG.random(5)


def stiffness(e, x):
    total = np.zeros((5, 5))
    for k in range(len(ELEMENTS)):
        nodes = ELEMENTS[k]
        total[np.ix_(nodes, nodes)] += e[k] * (np.outer(x[nodes], x[nodes]) + np.eye(3))
    u = np.linalg.solve(total + 5 * np.eye(5), np.arange(5.0))
    return np.arange(5.0) @ u


def pairs_of_places(e, x):
    total = np.zeros((5, 5))
    for k in range(len(ELEMENTS)):
        i, j = ELEMENTS[k, 0], ELEMENTS[k, 1]
        total[[i, j], [j, i]] += e[k] * x[i]
    return np.sum(total**2)


def rows(e, x):
    v = np.zeros(5)
    for k in range(len(ELEMENTS)):
        v[ELEMENTS[k]] = v[ELEMENTS[k]] * 0.5 + e[k] * x[ELEMENTS[k]]
    return np.sum(v**3)


def a_row_by_integers(e, x):
    total = np.zeros((3, 5))
    for k in range(len(ELEMENTS)):
        total[k % 3, ELEMENTS[k]] = e[k] * x[:3] * total[1, 2] + x[2:]
    return np.sum(total**2)


@pytest.mark.parametrize("f", [stiffness, pairs_of_places, rows, a_row_by_integers])
def test_derivatives(f):
    d, d_2, h = RNG.normal(size=E.shape), RNG.normal(size=X.shape), 1e-6
    expected = (f(E + h * d, X + h * d_2) - f(E - h * d, X - h * d_2)) / (2 * h)
    plain = grad(f, (0, 1))(E, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left to Python
        compiled = jit(grad(f, (0, 1)))(E, X)
    for slopes in (plain, compiled):
        np.testing.assert_allclose(slopes[0] @ d + slopes[1] @ d_2, expected, rtol=1e-6, atol=1e-8)


def test_many_places_are_numbered():
    """Pairs of very many would take longer than numbers in an array."""
    places = RNG.integers(0, 400, size=(3, 300))

    def f(x):
        total = np.zeros(400)
        for k in range(3):
            total[places[k]] = total[places[k]] * 0.5 + x
        return np.sum(total**2)

    x = RNG.normal(size=300)
    np.testing.assert_allclose(jit(grad(f))(x), grad(f)(x), rtol=1e-12)
