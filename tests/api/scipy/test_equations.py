"""Equations of matrices in staged functions, by what SciPy gives; and their derivatives."""

import numpy as np
import pytest
import scipy.linalg as sl

import tapeless
from tapeless.scipy import linalg

RNG = np.random.default_rng(3)
A = RNG.standard_normal((4, 4))
S = A @ A.T + np.eye(4)
B, V = RNG.standard_normal((4, 2)), RNG.uniform(0.2, 0.9, 5)
FIRST = 3.0 * (np.arange(5) == 0)

SMOOTH = {
    "lstsq": (lambda a: sl.lstsq(a, V[:4])[0], B),
    "lstsq, what is left": (lambda a: sl.lstsq(a, V[:4])[1], B),
    "pinvh": (sl.pinvh, S),
    "pinvh, upper": (lambda a: sl.pinvh(a, lower=False), S),
    "solve_toeplitz": (lambda v: sl.solve_toeplitz(v + FIRST, v), V),
    "solve_toeplitz, row": (lambda v: sl.solve_toeplitz((v + FIRST, v**2), np.eye(5)), V),
    "matmul_toeplitz": (lambda v: sl.matmul_toeplitz((v, v**2), v), V),
    "solve_circulant": (lambda v: sl.solve_circulant(v + FIRST, v), V),
    "solve_sylvester": (lambda a: sl.solve_sylvester(a, S, a.T), A),
    "solve_continuous_are": (
        lambda a: sl.solve_continuous_are(a, a[:, :2], S, np.diag([1.0, 2.0])),
        A,
    ),
    "solve_continuous_lyapunov": (lambda a: sl.solve_continuous_lyapunov(a - S, S), A),
    "solve_discrete_lyapunov": (lambda a: sl.solve_discrete_lyapunov(0.2 * a, S), A),
    "khatri_rao": (lambda b: sl.khatri_rao(b, B), B),
    "orthogonal_procrustes": (lambda a: sl.orthogonal_procrustes(a, S)[0], A),
    "eigvalsh_tridiagonal": (lambda v: sl.eigvalsh_tridiagonal(v, v[1:]), V),
    "hessenberg": (lambda a: np.stack(sl.hessenberg(a, calc_q=True)), A),
    "hessenberg, small": (lambda a: sl.hessenberg(a[:2, :2]) + sl.hessenberg(a[:1, :1]), A),
    "companion": (sl.companion, V),
    "leslie": (lambda v: sl.leslie(v, v[1:]), V),
    "convolution_matrix": (lambda v: sl.convolution_matrix(v, 3), V),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_values_and_derivatives(name):
    function, x = SMOOTH[name]
    expected = function(x)
    compiled = tapeless.jit(function)
    np.testing.assert_allclose(compiled(x), expected, rtol=1e-9, atol=1e-11)
    assert compiled(x).dtype == expected.dtype
    single = x.astype(np.float32)
    assert compiled(single).dtype == function(single).dtype
    both = tapeless.vmap(function)(np.stack([x, 1.01 * x]))
    np.testing.assert_allclose(both, [expected, function(1.01 * x)], rtol=1e-9, atol=1e-11)
    tapeless.check_grads(function, (x,), order=2)


def test_matrices_without_a_basis_of_eigenvectors():
    """Their square root and logarithm are known, and derivatives follow them."""
    block = np.array([[1.0, 1.0], [0.0, 1.0]])
    root = np.array([[1.0, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(linalg.sqrtm(block), root, atol=1e-12)
    np.testing.assert_allclose(linalg.sqrtm(np.stack([block, 4 * block]))[1], 2 * root, atol=1e-12)
    slope = tapeless.jvp(sl.sqrtm, (block,), (block,))[1]
    np.testing.assert_allclose(slope, root / 2, atol=1e-12)


def test_hessenberg_of_complex_matrices_and_of_zeros():
    z, step = A + 1j * S, np.triu(A, -1)
    step[3, 2] = 0
    for a in (z, z[:2, :2], step, np.diag(V), np.eye(3, dtype=int)):
        h, q = sl.hessenberg(a, calc_q=True)
        for found in (linalg.hessenberg, tapeless.jit(sl.hessenberg)):
            made = found(a, calc_q=True)
            np.testing.assert_allclose(made[0], h, atol=1e-13)
            np.testing.assert_allclose(made[1], q, atol=1e-13)

    def shown(re, im):
        h, q = sl.hessenberg(re + 1j * im, calc_q=True)
        return np.stack([h.real, h.imag, q.real, q.imag])

    tapeless.check_grads(shown, (z.real, z.imag), order=1)
    with pytest.raises(ValueError, match="expected a square matrix"):
        linalg.hessenberg(B)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_real_matrices_have_real_functions_or_none(name):
    function = tapeless.jit(getattr(sl, name))
    with pytest.raises(ValueError, match="pass a complex matrix"):
        function(-np.eye(2))
    np.testing.assert_allclose(function(-np.eye(2) + 0j), getattr(sl, name)(-np.eye(2)))
    assert function(S).dtype == float


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (lambda a: sl.solve_banded((1, 1), a, V[:4]), ValueError, "does not equal ab.shape"),
        (lambda a: sl.solve_circulant(a[0], a, singular="lstsq"), ValueError, "singular='raise'"),
        (lambda a: sl.logm(np.stack([a, a])), tapeless.TapelessError, "several matrices"),
        (lambda a: sl.fractional_matrix_power(a, a[0, 0]), tapeless.TapelessError, "must be known"),
        (lambda a: sl.rsf2csf(a, a), tapeless.TapelessError, "no rule"),
        (lambda a: sl.schur(a, sort="lhp"), tapeless.TapelessError, "schur with options"),
    ],
)
def test_what_is_refused(function, error, match):
    with pytest.raises(error, match=match):
        tapeless.jit(function)(S)
