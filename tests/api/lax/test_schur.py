"""Schur, Hessenberg and tridiagonal form: what they must satisfy, SciPy's and LAPACK's numbers."""

import numpy as np
import pytest
import scipy.linalg as sl

import tapeless.numpy as jnp
from tapeless import grad, jit, lax, vmap
from tapeless.staging.jax_arrays import Array
from tapeless.transforms.errors import NotDifferentiableError

RNG = np.random.default_rng(7)
A = RNG.normal(size=(3, 5, 5))
Z = A + 1j * RNG.normal(size=A.shape)
linalg = lax.linalg


@pytest.mark.parametrize(
    "x", [A[0], Z[0], A, Z, A.astype(np.float32)], ids=lambda x: f"{x.dtype}{x.shape}"
)
@pytest.mark.parametrize("transform", [lambda f: f, jit])
def test_schur(x, transform):
    t, v = transform(linalg.schur)(x)
    assert t.dtype == v.dtype == x.dtype
    tolerance = 1e-4 if x.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(v @ t @ np.conj(np.swapaxes(v, -1, -2)), x, atol=tolerance)
    eye = np.broadcast_to(np.eye(5), x.shape)
    np.testing.assert_allclose(v @ np.conj(np.swapaxes(v, -1, -2)), eye, atol=tolerance)
    assert not np.any(np.tril(t, -2 if x.dtype.kind == "f" else -1))


def test_schur_of_a_rotation():
    # JAX 0.10.2 gives these numbers
    t, v = linalg.schur(np.array([[1.0, 2.0], [-3.0, 4.0]]))
    np.testing.assert_allclose(t, [[2.5, 0.91886117], [-4.08113883, 2.5]], rtol=1e-8)
    np.testing.assert_allclose(v, [[0.81124219, 0.58471028], [-0.58471028, 0.81124219]], rtol=1e-8)


def test_schur_of_a_batch_and_of_a_rule():
    wanted = [sl.schur(a) for a in A]
    for found in (vmap(sl.schur)(A), vmap(linalg.schur)(A), jit(vmap(sl.schur))(A)):
        for k in (0, 1):
            np.testing.assert_allclose(found[k], [w[k] for w in wanted], atol=1e-12)
    assert jit(lambda a: sl.schur(a, output="complex"))(A[0])[0].dtype == complex
    assert type(linalg.schur(jnp.asarray(A[0]))[0]) is Array
    assert len(linalg.schur(A[0], compute_schur_vectors=False)) == 1
    with pytest.raises(NotDifferentiableError, match="schur has no derivative here"):
        grad(lambda a: np.sum(sl.schur(a)[0]))(A[0])
    with pytest.raises(NotImplementedError, match="cannot be sorted"):
        linalg.schur(A[0], sort_eig_vals=True)


@pytest.mark.parametrize(
    "a", [A[0], Z[0], A[0, :1, :1], A[0, :2, :2], np.eye(4)], ids=lambda x: f"{x.dtype}{x.shape}"
)
@pytest.mark.parametrize("transform", [lambda f: f, jit])
def test_hessenberg(a, transform):
    packed, taus = transform(linalg.hessenberg)(a)
    (gehrd,) = sl.get_lapack_funcs(("gehrd",), (a,))
    wanted, factors, _ = gehrd(a)
    np.testing.assert_allclose(packed, wanted, atol=1e-13)
    np.testing.assert_allclose(taus, factors[: len(a) - 1], atol=1e-13)
    q = np.eye(len(a), dtype=packed.dtype)
    q[1:, 1:] = linalg.householder_product(packed[1:, :-1], taus) if len(a) > 1 else 1
    np.testing.assert_allclose(q @ np.triu(packed, -1) @ np.conj(q.T), a, atol=1e-13)


@pytest.mark.parametrize("a", [A[0], Z[0], A[0, :2, :2]], ids=lambda x: f"{x.dtype}{x.shape}")
def test_tridiagonal(a):
    a = a + np.conj(a.T)
    packed, d, e, taus = linalg.tridiagonal(a)
    assert d.dtype == e.dtype == float
    bands = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    np.testing.assert_allclose(np.linalg.eigvalsh(bands), np.linalg.eigvalsh(a), atol=1e-12)
    np.testing.assert_array_equal(np.triu(packed, 1), np.triu(a, 1))
    q = np.eye(len(a), dtype=packed.dtype)
    q[1:, 1:] = linalg.householder_product(packed[1:, :-1], taus)
    np.testing.assert_allclose(q @ bands @ np.conj(q.T), a, atol=1e-12)
    with pytest.raises(NotImplementedError, match="the lower triangle is read"):
        linalg.tridiagonal(a, lower=False)


def test_several_matrices():
    with pytest.raises(NotImplementedError, match="several matrices at once"):
        linalg.hessenberg(A)
    found = vmap(linalg.hessenberg)(A)
    np.testing.assert_allclose(found[0], [linalg.hessenberg(a)[0] for a in A], atol=1e-13)


def test_slopes_of_hessenberg():
    def total(a):
        packed, taus = linalg.hessenberg(a)
        return np.sum(packed * np.arange(25.0).reshape(5, 5)) + np.sum(taus)

    slope, step = grad(total)(A[0]), 1e-6
    for place in ((0, 0), (3, 1), (4, 0)):
        up, down = A[0].copy(), A[0].copy()
        up[place] += step
        down[place] -= step
        np.testing.assert_allclose(slope[place], (total(up) - total(down)) / 2 / step, rtol=1e-5)
