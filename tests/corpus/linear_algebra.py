"""Products, contractions, solves, inverses, determinants and factorisations."""

import numpy as np

from tests.corpus import definite, normal, program


@program(normal(3, 4), normal(4, 2, seed=1), normal(2, seed=2), wrt=(0, 1, 2))
def chain_of_products(a, b, x):
    return a @ b @ x + np.dot(a, np.dot(b, x)) ** 2


@program(normal(3), normal(3, 3, seed=1), wrt=(0, 1))
def quadratic_form(x, a):
    return x @ a @ x + x.dot(a.T).dot(x) * np.inner(x, x)


@program(normal(2, 3, 4), normal(2, 4, 3, seed=1), wrt=(0, 1))
def stacked_products(a, b):
    return np.matmul(a, b) + (a @ b[0])[::-1] * (a[0] @ b)


@program(normal(3), normal(4, seed=1), wrt=(0, 1))
def outer_and_inner(x, y):
    table = np.outer(x, y)
    return np.inner(table, table) + np.vdot(table, table) * np.inner(table, y)


@program(normal(2, 3), normal(3, 4, seed=1), normal(2, 4, seed=2), wrt=(0, 1, 2))
def einsums(a, b, c):
    product = np.einsum("ij,jk->ik", a, b)
    total = np.einsum("ij,jk,ik->", a, b, c)
    return np.einsum("ik,ik->i", product, c) * total + np.einsum("ij->i", a)


@program(normal(3, 3), normal(2, 3, 3, seed=1), wrt=(0, 1))
def einsum_traces_and_batches(a, b):
    return np.einsum("ii", a) * np.einsum("bij,jk->bik", b, a)[1] + np.einsum("bij,bij->ij", b, b)


@program(normal(2, 3, 4), normal(4, 3, 2, seed=1), wrt=(0, 1))
def tensordots(a, b):
    full = np.tensordot(a, b, axes=([1, 2], [1, 0]))
    return full * np.tensordot(a[0], b, axes=1)[0, 1] + np.tensordot(a, a, axes=3)


@program(normal(4), normal(3, 3, seed=1), wrt=(0, 1))
def norms(x, a):
    return (
        np.linalg.norm(x) * np.linalg.norm(a, axis=0)
        + np.linalg.norm(a) ** 2
        + np.linalg.norm(x, 1)
    )


@program(definite(3), normal(3, seed=1), wrt=(0, 1))
def solve_vector(a, b):
    return np.linalg.solve(a, b) ** 2


@program(definite(3), normal(3, 2, seed=1), wrt=(0, 1))
def solve_matrix(a, b):
    x = np.linalg.solve(a, b)
    return x.T @ a @ x


@program(definite(3))
def inverse_and_determinant(a):
    return np.linalg.inv(a) * np.linalg.det(a) + np.linalg.inv(a + a.T)


@program(definite(3))
def log_determinant(a):
    sign, logdet = np.linalg.slogdet(a)
    return sign * logdet * a[0, 1]


@program(normal(3, 3))
def cholesky_factor(a):
    factor = np.linalg.cholesky(a @ a.T + np.eye(3))
    return factor + np.sum(np.log(np.diag(factor)))


@program(normal(4, 2), normal(4, seed=1), 0.3, wrt=(0, 1, 2))
def ridge_regression(x, y, ridge):
    gram = x.T @ x + ridge * np.eye(x.shape[1])
    beta = np.linalg.solve(gram, x.T @ y)
    return np.sum((y - x @ beta) ** 2) + ridge * beta @ beta


@program(normal(3, 3))
def gram_schmidt(a):
    basis = []
    for v in a:
        for q in basis:
            v = v - (q @ v) * q
        basis.append(v / np.sqrt(v @ v))
    return np.stack(basis)


@program(normal(2), normal(2, seed=1), definite(2), wrt=(0, 1, 2))
def mahalanobis(x, mean, covariance):
    d = x - mean
    return d @ np.linalg.inv(covariance) @ d + np.log(np.linalg.det(covariance))


@program(normal(4), normal(3, seed=1), wrt=(0, 1))
def matrix_from_lags(x, kernel):
    toeplitz = np.array([[x[i - j] if i >= j else 0.0 for j in range(4)] for i in range(4)])
    return toeplitz[:, :3] @ kernel


@program(normal(3, 3))
def matrix_powers(a):
    power, total = np.eye(3), np.zeros((3, 3))
    for k in range(1, 5):
        power = power @ a / k
        total += power
    return total
