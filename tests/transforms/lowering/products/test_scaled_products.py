"""Products of scaled matrices: the product is scaled, or the other operand, and not the matrix."""

import re

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(60, 50)), RNG.normal(size=(50, 40))
X, U, V = RNG.normal(size=50), RNG.normal(size=60), RNG.normal(size=50)


def by_a_number(a, b, x, u, v):
    return 1.5 * a @ x


def by_two_numbers(a, b, x, u, v):
    return (u[0] * a * v[0] / 3) @ x


def by_rows(a, b, x, u, v):
    return (u[:, None] * a) @ x


def by_columns(a, b, x, u, v):
    return (a * v) @ x


def divided_by_columns(a, b, x, u, v):
    return -(a / (2 + v**2)) @ x


def transposed(a, b, x, u, v):
    return (u[0] * a).T @ u + (v[:, None] * a.T) @ u


def vector_first(a, b, x, u, v):
    return u @ (a * v) + u @ (a * u[:, None])


def read_by_two_products(a, b, x, u, v):
    m = v[1] * a
    return m.T @ (m @ x)


def of_matrices(a, b, x, u, v):
    return (v[0] * a) @ b + v[1] * (u[:, None] @ b[:1])


def of_two_scaled_matrices(a, b, x, u, v):
    return (v[0] * a) @ (b * v[:, None])


def in_a_loop(a, b, x, u, v):
    for k in range(3):
        x = x + (v[k] * a).T @ (a @ x) / 1000
    return x


MOVED = [
    *(by_a_number, by_two_numbers, by_rows, by_columns, divided_by_columns, transposed),
    *(vector_first, read_by_two_products, of_matrices),
]


def read_elsewhere(a, b, x, u, v):
    m = v[0] * a
    return m @ x + m[:, 0]


def with_a_larger_product(a, b, x, u, v):
    return (v[0] * b[:, :3]) @ b[:3]


def by_a_matrix(a, b, x, u, v):
    return (a * (u[:, None] + v)) @ x


def of_integers(a, b, x, u, v):
    return (3 * (a > 0).astype(np.int8)) @ x


KEPT = [
    *(in_a_loop, of_two_scaled_matrices, read_elsewhere),
    *(with_a_larger_product, by_a_matrix, of_integers),
]


def new_matrices(source):
    """How many matrices the driver and the kernels make memory for."""
    shapes = re.findall(r" = (?:empty|scratch)\(\(?(.*?)\)?, np\.\w+\)", source)
    return sum(shape.count(",") == 1 or shape in ("a.shape", "b.shape") for shape in shapes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [*MOVED, *KEPT])
def test_values(function, dtype):
    args = [x.astype(dtype) for x in (A, B, X, U, V)]
    got, wanted = jit(function)(*args), function(*args)
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    scale = np.max(np.abs(wanted))
    np.testing.assert_allclose(got, wanted, atol=scale * (1e-12 if dtype == np.float64 else 2e-5))


@pytest.mark.parametrize("function", [*MOVED, in_a_loop])
def test_derivatives(function):
    def loss(*args):
        return np.sum(function(*args) ** 2)

    args = (A[:6, :5], B[:5, :4], X[:5], U[:6], V[:5])
    check_grads(jit(loss), args, order=1, modes=["rev"])
    wanted = grad(loss, (0, 2, 4))(A, B, X, U, V)
    for ours, theirs in zip(jit(grad(loss, (0, 2, 4)))(A, B, X, U, V), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-11 * np.max(np.abs(theirs)))


@pytest.mark.parametrize("function", MOVED)
def test_no_scaled_matrix_is_made(function):
    inexact = jit(function).source(A, B, X, U, V)
    exact = jit(function, fastmath=False).source(A, B, X, U, V)
    assert new_matrices(inexact) < new_matrices(exact)


@pytest.mark.parametrize("function", KEPT)
def test_others_stay(function):
    inexact = jit(function).source(A, B, X, U, V)
    assert new_matrices(inexact) == new_matrices(
        jit(function, fastmath=False).source(A, B, X, U, V)
    )


def test_as_it_is_written_without_fastmath():
    exact = jit(by_a_number, fastmath=False)(A, B, X, U, V)
    np.testing.assert_array_equal(exact, by_a_number(A, B, X, U, V))
