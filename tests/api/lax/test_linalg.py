"""Factorisations by what they must satisfy, against jax.lax.linalg, and their derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tests.api.lax.tables import agree, by_jax, check_slopes

RNG = np.random.default_rng(4)
linalg = lax.linalg


def normal(*shape):
    return RNG.normal(size=shape)


X = normal(4, 4)
S = X @ X.T + np.eye(4)
L = np.linalg.cholesky(S)
TALL = normal(5, 3)
D = 4 + normal(5)
V = normal(4)
OPTIONS = [
    {"left_side": left, "lower": lower, "transpose_a": turned, "unit_diagonal": unit}
    for left in (False, True)
    for lower in (False, True)
    for turned, unit in ((False, False), (True, True))
]
CALLS = {
    "cholesky": (lambda lax, x: lax.linalg.cholesky(x), (S,)),
    "cholesky_update": (lambda lax, r, w: lax.linalg.cholesky_update(r, w), (L.T, V)),
    "eigenvalues": (lambda lax, x: lax.linalg.eigh(x)[1], (S,)),
    "projections": (lambda lax, x: (v := lax.linalg.eigh(x)[0])[:, :2] @ v[:, :2].T, (S,)),
    "r of qr": (lambda lax, x: abs(lax.linalg.qr(x, full_matrices=False)[1]), (TALL,)),
    "singular values": (lambda lax, x: lax.linalg.svd(x, compute_uv=False), (TALL,)),
    "lu": (lambda lax, x: lax.linalg.lu(x), (X,)),
    "lu, wide": (lambda lax, x: lax.linalg.lu(x), (TALL.T,)),
    "lu, tall": (lambda lax, x: lax.linalg.lu(x), (TALL,)),
    "lu_pivots_to_permutation": (
        lambda lax, p: lax.linalg.lu_pivots_to_permutation(p, 5),
        (np.array([3, 2, 4, 3], np.int32),),
    ),
    "triangular_solve": (
        lambda lax, a, b: [
            lax.linalg.triangular_solve(a, b.T if options["left_side"] else b, **options)
            for options in OPTIONS
        ],
        (X + 4 * np.eye(4), normal(3, 4)),
    ),
    "tridiagonal_solve": (
        lambda lax, a, b, c, x: lax.linalg.tridiagonal_solve(a, b, c, x),
        (D / 5, D, D / 7, normal(5, 2)),
    ),
    "householder_product": (
        lambda lax, a, t: lax.linalg.householder_product(a, t),
        (TALL, np.array([0.3, 1.2, 0.7])),
    ),
    "symmetric_product": (
        lambda lax, a, c: lax.linalg.symmetric_product(a, c, alpha=2.0, beta=0.5),
        (TALL, np.eye(5)),
    ),
}
SMOOTH = {
    **dict.fromkeys(("cholesky", "eigenvalues", "projections", "r of qr", "lu, tall"), 1),
    "singular values": 1,
    "cholesky_update": 2,
    "triangular_solve": 2,
    "tridiagonal_solve": 4,
    "householder_product": 2,
    "symmetric_product": 2,
}


@pytest.fixture(scope="module")
def theirs():
    return by_jax(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_as_jax_does(name, theirs):
    call, operands = CALLS[name]
    agree(call(lax, *operands), theirs[name], 1e-10)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes(name):
    call, operands = CALLS[name]
    check_slopes(lambda *xs: call(lax, *xs), operands, SMOOTH[name])


def test_factors_make_the_matrix():
    c = linalg.cholesky(S)
    np.testing.assert_allclose(c @ c.T, S)
    vectors, values = linalg.eigh(S)
    np.testing.assert_allclose(vectors * values @ vectors.T, S)
    u, s, vh = linalg.svd(TALL, full_matrices=False)
    np.testing.assert_allclose(u * s @ vh, TALL)
    q, r = linalg.qr(TALL)
    assert q.shape == (5, 5)
    np.testing.assert_allclose(q @ r, TALL)
    both, pivots, order = linalg.lu(TALL)
    lower, upper = np.tril(both, -1) + np.eye(5, 3), np.triu(both)[:3]
    np.testing.assert_allclose(lower @ upper, TALL[order])
    np.testing.assert_array_equal(linalg.lu_pivots_to_permutation(pivots, 5), order)
    after = linalg.cholesky_update(L.T, V)
    np.testing.assert_allclose(after.T @ after, S + np.outer(V, V))
    np.testing.assert_allclose(after, np.triu(after))


def test_solutions_solve():
    a, b = CALLS["triangular_solve"][1]
    for options in OPTIONS:
        part = np.tril(a) if options["lower"] else np.triu(a)
        if options["unit_diagonal"]:
            part = part - np.diag(np.diag(part)) + np.eye(4)
        part = part.T if options["transpose_a"] else part
        right = b.T if options["left_side"] else b
        x = linalg.triangular_solve(a, right, **options)
        np.testing.assert_allclose(part @ x if options["left_side"] else x @ part, right)
    dl, d, du, b = CALLS["tridiagonal_solve"][1]
    x = linalg.tridiagonal_solve(dl, d, du, b)
    whole = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
    np.testing.assert_allclose(whole @ x, b)


def test_products_of_reflections():
    taus = np.array([0.3, 1.2, 0.7])
    whole = np.eye(5)
    for k, tau in enumerate(taus):
        v = np.concatenate([np.zeros(k), [1.0], TALL[k + 1 :, k]])
        whole = whole @ (np.eye(5) - tau * np.outer(v, v))
    np.testing.assert_allclose(linalg.householder_product(TALL, taus), whole[:, :3])
    c = normal(5, 5)
    np.testing.assert_allclose(linalg.ormqr(TALL, taus, c), whole @ c)
    np.testing.assert_allclose(linalg.ormqr(TALL, taus, c, transpose=True), whole.T @ c)
    np.testing.assert_allclose(linalg.ormqr(TALL, taus, c, left=False), c @ whole)
    turned = linalg.ormqr(TALL, taus, c, left=False, transpose=True)
    np.testing.assert_allclose(turned, c @ whole.T)


def test_eig():
    values, left, right = linalg.eig(X)
    np.testing.assert_allclose(X @ right, right * values)
    np.testing.assert_allclose(left.conj().T @ X, values[:, None] * left.conj().T, atol=1e-12)
    np.testing.assert_allclose(np.sum(np.abs(left) ** 2, 0), 1)


def test_batched():
    many = np.stack([X, X.T])
    for got, want in zip(tapeless.vmap(linalg.lu)(many), linalg.lu(many), strict=True):
        np.testing.assert_allclose(got, want)


def test_refused():
    with pytest.raises(ValueError, match="takes matrices, not an array of 1 axes"):
        linalg.cholesky(V)
    with pytest.raises(NotImplementedError, match="qr with pivoting"):
        linalg.qr(X, pivoting=True)
    with pytest.raises(AttributeError, match=r"lax\.linalg\.qdwh does not exist here: use svd"):
        _ = linalg.qdwh
