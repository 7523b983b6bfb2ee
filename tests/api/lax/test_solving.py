"""Implicit derivatives of roots and of solutions of linear equations."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, lax
from tests.api.lax.tables import check_slopes

A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
SKEW = A + np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -0.5], [0.0, 0.0, 0.0]])
B = np.array([1.0, 2.0, 3.0])


def newton(f, x):
    return lax.fori_loop(0, 20, lambda _, x: x - f(x) / (2 * x), x)


def root(a):
    return lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))


def test_root():
    np.testing.assert_allclose(root(4.0), 2)
    np.testing.assert_allclose(grad(root)(4.0), 0.25)
    np.testing.assert_allclose(tapeless.jvp(root, (4.0,), (2.0,))[1], 0.5)
    np.testing.assert_allclose(grad(grad(root))(4.0), -1 / 32)
    np.testing.assert_allclose(tapeless.vmap(grad(root))(np.array([4.0, 9.0])), [1 / 4, 1 / 6])
    np.testing.assert_allclose(tapeless.jit(grad(root))(4.0), 0.25)


def test_root_is_not_differentiated_through_the_solver():
    grad(root)(4.0)
    assert "saved" not in grad(root).source(4.0)


def test_root_with_aux_and_of_several_numbers():
    def solve(f, x):
        step = lambda _, x: x - np.linalg.solve(tapeless.jacfwd(f)(x), f(x))  # noqa: E731 (short)
        return lax.fori_loop(0, 20, step, x), 3

    def f(a):
        def equation(x):
            return np.stack([x[0] * x[1] - a, x[0] + x[1] - 3 * a])

        def tangent_solve(g, y):
            return np.linalg.solve(tapeless.jacfwd(g)(y), y)

        x, aux = lax.custom_root(equation, np.array([2.0, 0.5]), solve, tangent_solve, has_aux=True)
        return x * aux

    check_slopes(f, (1.1,), 1)


def conjugate_gradients(matvec, b):
    def step(state):
        x, r, p = state
        image = matvec(p)
        length = (r @ r) / (p @ image)
        after = r - length * image
        return x + length * p, after, after + (after @ after) / (r @ r) * p

    return lax.while_loop(lambda s: s[1] @ s[1] > 1e-24, step, (np.zeros_like(b), b, b))[0]


def by_iteration(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, conjugate_gradients, symmetric=True)


def dense(matvec, b):
    return np.linalg.solve(np.stack([matvec(e) for e in np.eye(3)], 1), b)


def by_matrix(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, dense, dense)


def total(solve):
    return lambda a, b: np.sum(solve(a, b) ** 2)


@pytest.mark.parametrize(("solve", "a"), [(by_iteration, A), (by_matrix, SKEW)])
def test_linear_solve(solve, a):
    np.testing.assert_allclose(solve(a, B), np.linalg.solve(a, B), rtol=1e-8, atol=1e-12)
    got = grad(total(solve), argnums=(0, 1))(a, B)
    want = grad(total(np.linalg.solve), argnums=(0, 1))(a, B)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-10)
    tangents = (0.3 * a, 0.1 * B)
    got = tapeless.jvp(total(solve), (a, B), tangents)[1]
    want = tapeless.jvp(total(np.linalg.solve), (a, B), tangents)[1]
    np.testing.assert_allclose(got, want, rtol=1e-7)


def test_linear_solve_twice():
    got = tapeless.hessian(total(by_matrix), argnums=1)(SKEW, B)
    inverse = np.linalg.inv(SKEW)
    np.testing.assert_allclose(got, 2 * inverse.T @ inverse, rtol=1e-9)


def test_linear_solve_with_aux():
    def f(b):
        solve = lambda matvec, b: (dense(matvec, b), np.sum(b))  # noqa: E731 (short)
        x, aux = lax.custom_linear_solve(lambda x: A @ x, b, solve, symmetric=True, has_aux=True)
        return np.sum(x**2) + 0 * aux

    np.testing.assert_allclose(grad(f)(B), grad(total(np.linalg.solve), 1)(A, B))


def test_refused():
    with pytest.raises(TypeError, match="has no transpose_solve"):
        grad(lambda b: np.sum(lax.custom_linear_solve(lambda x: SKEW @ x, b, dense)))(B)
    with pytest.raises(TypeError, match="solve must return a value built like"):
        lax.custom_linear_solve(lambda x: A @ x, B, lambda matvec, b: (b, b))
    with pytest.raises(TypeError, match="tangent_solve must be a function"):
        lax.custom_root(np.sin, 1.0, newton, None)
