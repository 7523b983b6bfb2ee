"""Systems of triangular matrices: no second factorisation, the same values, slopes and errors."""

import numpy as np
import pytest

from tapeless import grad, jit, jvp

N = 150  # more than what loops solve, and no multiple of a block
RNG = np.random.default_rng(0)
A = RNG.normal(size=(N, N))
K = A @ A.T / N + np.eye(N)
B = RNG.normal(size=(N, 7))


def likelihood(k, y):
    low = np.linalg.cholesky(k)
    alpha = np.linalg.solve(low.T, np.linalg.solve(low, y))
    return y @ alpha + 2 * np.sum(np.log(np.diagonal(low)))


def of_factor(k, b):
    return np.linalg.solve(np.linalg.cholesky(k), b)


def of_parts(a, b):
    return np.linalg.solve(np.tril(a), b) - np.linalg.solve(-np.triu(a), b)


def of_part_above(a, b):
    return np.linalg.solve(np.triu(a, 0).T, b), np.linalg.solve(np.triu(a, -1), b)


def of_parts_below(a, b):
    return np.linalg.solve(np.tril(a, -1), b)


def overwritten(a, b):
    low = np.tril(a)
    low[0] = 1.0
    return np.linalg.solve(low, b)


def in_turn(k, b):
    c = b.T.copy().T
    x = np.linalg.solve(np.linalg.cholesky(k), c)
    return x, c


def several(values):
    return values if isinstance(values, tuple) else (values,)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("function", [of_factor, of_parts, of_part_above, overwritten, in_turn])
@pytest.mark.parametrize("columns", [0, 1, 7, None])
def test_values(function, dtype, columns):
    k, b = K.astype(dtype), (B[:, 0] if columns is None else B[:, :columns]).astype(dtype)
    for x, y in zip(several(jit(function)(k, b)), several(function(k, b)), strict=True):
        assert x.dtype == y.dtype
        size = np.max(np.abs(y), initial=1.0)
        np.testing.assert_allclose(x, y, atol=size * (1e-3 if dtype == np.float32 else 1e-11))


@pytest.mark.parametrize("n", [0, 1, 64, 65, 128])
def test_sizes(n):
    k, b = K[:n, :n], B[:n]
    jitted = jit(of_factor)
    jitted(K, B)
    np.testing.assert_allclose(jitted(k, b), of_factor(k, b), atol=1e-10)


def test_which_are_solved_by_blocks():
    assert "solve_lower(" in jit(of_factor).source(K, B)
    text = jit(of_parts).source(K, B)
    assert "solve_lower(" in text
    assert "solve_upper(" in text
    assert "solve_" not in jit(overwritten).source(K, B)
    text = jit(of_part_above).source(K, B)
    assert text.count("solve_lower(") == 2  # the function and its call
    assert "solve_upper(" not in text


def test_singular_matrices():
    for function, a in ((of_parts_below, K), (of_parts, np.zeros((N, N)))):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            function(a, B)
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            jit(function)(a, B)


def test_nan_stays():
    a = np.tril(K)
    a[70, 3] = np.nan
    assert np.isnan(jit(of_parts)(a, B)).any()


def test_slopes():
    y, along = B[:, 0], A + A.T
    slope = np.sum(jit(grad(likelihood))(K, y) * along)
    h = 1e-6
    expected = (likelihood(K + h * along, y) - likelihood(K - h * along, y)) / (2 * h)
    assert slope == pytest.approx(expected, rel=1e-5)
    assert jit(lambda k: jvp(likelihood, (k, y), (along, 0 * y))[1])(K) == pytest.approx(slope)
    assert "solve_upper" in jit(grad(likelihood)).source(K, y)
