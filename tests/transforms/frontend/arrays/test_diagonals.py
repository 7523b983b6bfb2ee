"""Diagonals are views; those of np.einsum can be stored to, others cannot."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import AliasError


def scaled(x):
    y = x.copy()
    diagonal = np.einsum("ii->i", y)
    diagonal *= 3
    y[0] += 1
    return (y**2 * np.arange(4.0).reshape(2, 2)).sum() + diagonal[0]


def of_a_stack(x):
    y = np.stack([x, 2 * x, x])
    np.einsum("kii->ki", y)[1] = 7 * x[0]
    return (y**2).sum()


def seen(x):
    y = x.copy()
    diagonal = np.diagonal(y)
    y[0, 0] = 9 * x[1, 1]
    return diagonal.sum()


POINT = np.array([[0.5, 1.5], [2.5, 0.1]])


@pytest.mark.parametrize("f", [scaled, of_a_stack, seen])
def test_views(f):
    assert jit(f)(POINT) == pytest.approx(f(POINT))
    np.testing.assert_allclose(vmap(f)(POINT[None]), [f(POINT)])
    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    differences = np.reshape([(f(POINT + s) - f(POINT - s)) / 2e-6 for s in steps], (2, 2))
    np.testing.assert_allclose(grad(f)(POINT), differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "diagonal", [np.diag, np.diagonal, lambda y: y.diagonal(1), np.linalg.diagonal]
)
def test_others_are_read_only(diagonal):
    def f(x):
        y = x.copy()
        diagonal(y)[0] = 1.0
        return y.sum()

    with pytest.raises(AliasError, match="read-only"):
        jit(f)(POINT)
