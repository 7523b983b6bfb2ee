"""A product with an outer product is one of vectors."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 40, 40))
U, V = RNG.normal(size=(2, 40))
PROGRAMS = {
    "second": lambda a, u, v: a @ np.outer(u, v),
    "first": lambda a, u, v: (u[:, None] * v) @ a,
    "transposed": lambda a, u, v: a @ (u[:, None] * v).T,
    "subtracted": lambda a, u, v: a - a @ -np.outer(u, v),
    "both": lambda a, u, v: np.outer(u, v) @ np.outer(v, u) + a,
    "in a loop": lambda a, u, v: sum((a @ np.outer(u * k, v) for k in range(3)), a),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    f = PROGRAMS[name]
    compiled = jit(f)
    np.testing.assert_allclose(compiled(A, U, V), f(A, U, V), rtol=1e-10, atol=1e-10)
    assert "product(" not in compiled.source(A, U, V).replace("_product(", "")


def test_matrices_of_one_column_stay():
    def f(a, u, v):
        return a @ (u[:, None] * v[:, None])

    np.testing.assert_allclose(jit(f)(A, U, V), f(A, U, V), rtol=1e-12)


def test_gradient_of_a_solution_by_least_squares():
    def f(x, y):
        w = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y)
        return np.sum((x @ w - y) ** 2)

    x = A[:, :10]
    along = B[:, :10]
    slope = (f(x + 1e-6 * along, U) - f(x - 1e-6 * along, U)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(f))(x, U) * along), slope, rtol=1e-6)
