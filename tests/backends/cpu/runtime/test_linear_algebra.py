"""NumPy's linear algebra in drivers: one thread of the BLAS, and LAPACK without copies."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.runtime import blas, linear_algebra

DTYPES = ["f4", "f8", "c8", "c16"]
SIZES = [3, 130, 301]


def matrix(n, dtype, rng):
    a = rng.normal(size=(n, n))
    return (a + 1j * rng.normal(size=(n, n)) if dtype[0] == "c" else a).astype(dtype)


def near(x, y, dtype):
    assert x.dtype == y.dtype
    np.testing.assert_allclose(
        x, y, rtol=0, atol=np.abs(y).max() * (2e-3 if dtype in ("f4", "c8") else 1e-9)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n, dtype, rng):
    a = matrix(n, dtype, rng)
    a = a @ a.conj().T + n * np.eye(n, dtype=dtype)
    f = jit(lambda a: np.linalg.cholesky(a) + 1)
    for x in (a, np.asfortranarray(a), a + np.triu(np.ones_like(a), 1)):  # reads the lower triangle
        near(f(x), np.linalg.cholesky(x) + 1, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [1, 7, 400])
def test_solve(n, columns, dtype, rng):
    a, b = matrix(n, dtype, rng), np.resize(matrix(n, dtype, rng), (n, columns))
    f = jit(lambda a, b: np.linalg.solve(a, b) + 1)
    for x in (a, a.T, a[::-1]):
        near(f(x, b), np.linalg.solve(x, b) + 1, dtype)
    near(f(a, np.asfortranarray(b)), np.linalg.solve(a, b) + 1, dtype)
    near(jit(lambda a: np.linalg.inv(a) + 1)(a), np.linalg.inv(a) + 1, dtype)
    near(
        jit(lambda a, b: np.linalg.solve(a, b) + 1)(a, b[:, 0]),
        np.linalg.solve(a, b[:, 0]) + 1,
        dtype,
    )


@pytest.mark.parametrize("n", SIZES)
def test_matrices_without_a_solution(n):
    zeros = np.zeros((n, n))
    for f in (np.linalg.inv, lambda a: np.linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            jit(lambda a, f=f: f(a) + 1)(zeros)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        jit(lambda a: np.linalg.cholesky(a) + 1)(-np.eye(n))


def test_lengths_that_do_not_fit(rng):
    a = rng.normal(size=(200, 200))
    for b in (np.ones((150, 3)), np.ones(150)):
        with pytest.raises(ValueError, match=r"mismatch|broadcast|core dimension"):
            linear_algebra.solve(a, b)
    assert linear_algebra.solve(a, np.ones((200, 0))).shape == (200, 0)
    assert linear_algebra.solve(a, np.ones((200, 2), "f4")).dtype == "f8"
    with pytest.raises(np.linalg.LinAlgError):
        linear_algebra.cholesky(np.ones((200, 150)))


def test_one_thread(monkeypatch, rng):
    if blas.threads() is None:
        pytest.skip("NumPy's BLAS here does not tell how many threads it takes")
    get, put = blas.threads()
    before, seen = get(), []
    put(2)
    try:
        numpy = linear_algebra.numpy_in_one_thread()
        a = rng.normal(size=(150, 150))
        monkeypatch.setattr(linear_algebra, "_call", lambda *args: seen.append(get()))
        numpy.linalg.cholesky(a)
        assert seen == [1]
        assert get() == 2
        np.testing.assert_allclose(numpy.linalg.eigvalsh(a + a.T), np.linalg.eigvalsh(a + a.T))
        np.testing.assert_allclose(numpy.linalg.norm(a, axis=1), np.linalg.norm(a, axis=1))
        np.testing.assert_allclose(numpy.einsum("ij,jk->k", a, a), np.ones(150) @ a @ a)
        assert get() == 2
    finally:
        put(before)
