"""Factors, solvers and functions of matrices against SciPy, by what they mean, and derivatives."""

import operator

import numpy as np
import pytest
import scipy.linalg

from tapeless import check_grads, grad, jit, vmap
from tapeless.scipy import linalg
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 4)) + 3 * np.eye(4)
S = A @ A.T
TALL, WIDE = RNG.standard_normal((5, 3)), RNG.standard_normal((3, 5))
B, V = RNG.standard_normal((4, 2)), RNG.standard_normal(4)


def _symmetric(f):
    return lambda a, *more: f(a @ a.T + np.eye(4), *more)


# What both libraries have, called alike; results that are unique.
CALLS = {
    "cholesky": lambda m: m.cholesky(S),
    "cholesky, lower": lambda m: m.cholesky(S, lower=True),
    "cho_solve": lambda m: m.cho_solve(m.cho_factor(S), V),
    "cho_solve, lower": lambda m: m.cho_solve(m.cho_factor(S, lower=True), B),
    "solve": lambda m: m.solve(A, B),
    "solve, positive": lambda m: m.solve(S, V, assume_a="pos"),
    "solve_triangular": lambda m: m.solve_triangular(A, V),
    "solve_triangular, lower": lambda m: m.solve_triangular(A, B, lower=True, unit_diagonal=True),
    "solve_triangular, turned": lambda m: m.solve_triangular(A, B, trans=1),
    "solve_triangular, conjugate": lambda m: m.solve_triangular(A + 1j * S, B, trans="C"),
    "inv": lambda m: m.inv(A),
    "det": lambda m: m.det(A),
    "lu": lambda m: m.lu(A),
    "lu, tall": lambda m: m.lu(TALL),
    "lu, wide": lambda m: m.lu(WIDE, permute_l=True),
    "lu_factor": lambda m: m.lu_factor(A),
    "lu_solve": lambda m: m.lu_solve(m.lu_factor(A), V),
    "lu_solve, turned": lambda m: m.lu_solve(m.lu_factor(A), B, trans=1),
    "singular values": lambda m: m.svd(TALL, compute_uv=False),
    "eigenvalues": lambda m: m.eigh(S, eigvals_only=True),
    "expm": lambda m: m.expm(A),
    "expm, small": lambda m: m.expm(A / 100),
    "expm_frechet": lambda m: m.expm_frechet(A, S),
    "polar": lambda m: m.polar(A),
    "polar, left": lambda m: m.polar(WIDE, side="left"),
    "toeplitz": lambda m: m.toeplitz(V, B[:, 0]),
    "toeplitz, symmetric": lambda m: m.toeplitz(V),
    "hankel": lambda m: m.hankel(V, B[:, 0]),
    "hankel, zeros": lambda m: m.hankel(V),
    "circulant": lambda m: m.circulant(V),
    "companion": lambda m: m.companion(V),
    "fiedler": lambda m: m.fiedler(V),
    "fiedler_companion": lambda m: m.fiedler_companion(V),
    "fiedler_companion, odd": lambda m: m.fiedler_companion(V[:3]),
    "leslie": lambda m: m.leslie(V, V[1:]),
    "convolution_matrix": lambda m: m.convolution_matrix(V, 3),
    "convolution_matrix, same": lambda m: m.convolution_matrix(V, 3, mode="same"),
    "convolution_matrix, valid": lambda m: m.convolution_matrix(V, 6, mode="valid"),
    "block_diag": lambda m: m.block_diag(A, B),
    "hilbert": lambda m: m.hilbert(3),
    "dft": lambda m: m.dft(4),
}
SMOOTH = {
    "cholesky": (_symmetric(linalg.cholesky), A),
    "cho_solve": (_symmetric(lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b)), A, B),
    "solve": (linalg.solve, A, V),
    "solve, positive": (_symmetric(lambda a, b: linalg.solve(a, b, assume_a="pos")), A, B),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, trans=1), A, B),
    "inv": (linalg.inv, A),
    "det": (linalg.det, A),
    "lu": (lambda a: linalg.lu(a)[1:], A),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), A, V),
    "svd": (lambda a: linalg.svd(a, compute_uv=False), A),
    "eigh": (_symmetric(lambda a: linalg.eigh(a, eigvals_only=True)), A),
    "eigh, general": (lambda a, b: linalg.eigh(a + a.T, b @ b.T, eigvals_only=True), A, A),
    "qr": (lambda a: linalg.qr(a, mode="r")[0], TALL),
    "expm": (linalg.expm, A),
    "expm_frechet": (linalg.expm_frechet, A / 3, B @ B.T),
    "sqrtm": (lambda a: linalg.sqrtm(a @ a.T).real, A),
    "polar": (linalg.polar, A),
    "solve_sylvester": (linalg.solve_sylvester, A, S[:2, :2], B),
    "toeplitz": (linalg.toeplitz, V, B[:, 0]),
    "companion": (linalg.companion, V),
    "fiedler_companion": (linalg.fiedler_companion, V),
}


def _compare(made, want):
    if isinstance(want, tuple):
        assert len(made) == len(want)
        for x, y in zip(made, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)
    else:
        np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    _compare(CALLS[name](linalg), CALLS[name](scipy.linalg))


@pytest.mark.parametrize("name", CALLS)
def test_jaxs_values(name):
    if name in ("lu, tall", "solve_triangular, conjugate"):
        pytest.skip("compared with SciPy only")
    _compare(CALLS[name](linalg), CALLS[name](jax_or_skip().scipy.linalg))


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    function, *args = SMOOTH[name]
    check_grads(function, tuple(args), order=1)


@pytest.mark.parametrize("name", ["cholesky", "solve", "inv", "expm", "lu_solve", "toeplitz"])
def test_under_vmap(name):
    function, *args = SMOOTH[name]
    batch = [np.stack([x, x + 0.1]) for x in args]
    want = [function(*each) for each in zip(*batch, strict=True)]
    np.testing.assert_allclose(vmap(function)(*batch), want, rtol=1e-9, atol=1e-12)


def test_under_jit():
    def solved(a, v):
        return linalg.cho_solve(linalg.cho_factor(a), v)

    np.testing.assert_allclose(jit(solved)(S, V), solved(S, V), rtol=1e-9)


def test_decompositions_give_the_matrix_back():
    u, s, vh = linalg.svd(TALL, full_matrices=False)
    np.testing.assert_allclose((u * s) @ vh, TALL)
    assert linalg.svd(TALL)[0].shape == (5, 5)
    for mode, shape in [("full", (5, 5)), ("economic", (5, 3))]:
        q, r = linalg.qr(TALL, mode=mode)
        assert q.shape == shape
        np.testing.assert_allclose(q @ r, TALL)
    product, r = linalg.qr_multiply(TALL, WIDE, mode="right")
    np.testing.assert_allclose(product @ r, WIDE @ TALL)
    w, v = linalg.eigh(A, lower=False)
    whole = np.triu(A) + np.triu(A, 1).T
    np.testing.assert_allclose(whole @ v, v * w, atol=1e-12)
    w, v = linalg.eigh(S, A.T @ A)
    np.testing.assert_allclose(S @ v, A.T @ A @ v * w, atol=1e-9)
    w, v = linalg.eigh_tridiagonal(V, V[1:])
    np.testing.assert_allclose(
        v * w @ v.T, np.diag(V) + np.diag(V[1:], 1) + np.diag(V[1:], -1), atol=1e-12
    )
    some = linalg.eigh_tridiagonal(V, V[1:], eigvals_only=True, select="i", select_range=(1, 2))
    np.testing.assert_allclose(some, w[1:3])


def test_functions_by_what_they_mean():
    root = linalg.sqrtm(A)
    np.testing.assert_allclose(root @ root, A, atol=1e-10)
    x = linalg.solve_sylvester(A, S[:2, :2], B)
    np.testing.assert_allclose(A @ x + x @ S[:2, :2], B, atol=1e-10)
    assert np.isnan(linalg.expm(1e9 * np.eye(2))).all()
    np.testing.assert_allclose(
        linalg.expm(np.stack([A, -A]))[1] @ linalg.expm(A), np.eye(4), atol=1e-8
    )


def test_expm_has_more_than_one_derivative():
    """exp(x) of a number as a matrix: every derivative is exp(x)."""
    derivative = lambda x: linalg.expm(x * np.eye(2))[0, 0]  # noqa: E731 (it is replaced)
    for _ in range(3):
        derivative = grad(derivative)
        assert derivative(0.7) == pytest.approx(np.exp(0.7), rel=1e-12)


def test_several_triangular_systems():
    many = np.stack([A, S])
    for trans in (0, 1):
        made = linalg.solve_triangular(many, np.stack([B, B]), trans=trans, lower=True)
        want = [scipy.linalg.solve_triangular(a, B, trans=trans, lower=True) for a in many]
        np.testing.assert_allclose(made, want, rtol=1e-9)


def test_all_that_jax_has():
    peer = jax_or_skip().scipy.linalg
    assert {n for n in dir(peer) if n[0] != "_"} <= set(linalg.__all__)
    assert all(map(callable, map(operator.attrgetter, linalg.__all__)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linalg.solve(A, V, assume_a="banded"), "assume_a must be"),
        (lambda: linalg.solve_triangular(A, V, trans=3), "trans must be 0, 1 or 2"),
        (lambda: linalg.eigh(A, type=2), "not supported"),
        (lambda: linalg.eigh_tridiagonal(V, V[1:], select="v"), "'a' or 'i'"),
        (lambda: linalg.qr(A, pivoting=True), "pivoting is not supported"),
        (lambda: linalg.qr_multiply(A, A, mode="both"), "'left' or 'right'"),
        (lambda: linalg.polar(A, side="up"), "'right' or 'left'"),
        (lambda: linalg.companion(V[:1]), "two coefficients or more"),
        (lambda: linalg.fiedler_companion(V[:1]), "two coefficients or more"),
        (lambda: linalg.convolution_matrix(V, 2, mode="wrap"), "full, same or valid"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
