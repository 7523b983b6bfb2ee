"""Fourier transforms and factorisations in C, which has them from functions of its own."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.c.compiled import checked, library, normal


def frequencies(x):
    return np.fft.fft(x)


def half(x):
    return np.abs(np.fft.rfft(x)) ** 2


def smoothed(x):
    return np.fft.irfft(np.fft.rfft(x) * 0.5, x.shape[0])


def power(x):
    return np.sum(np.abs(np.fft.fft(x * (1 + 2j))) ** 2 * np.arange(x.shape[0]))


#: Prime factors up to 31 are summed up directly, larger ones by convolutions.
LENGTHS = [9, 12, 16, 31, 37, 60, 74, 97, 13 * 37, 1024, 41 * 43]


@pytest.mark.parametrize("n", LENGTHS)
def test_fourier_transforms(n, tmp_path):
    x = normal(n)
    for f in (frequencies, half, smoothed):
        folder = tmp_path / f.__name__
        folder.mkdir()
        np.testing.assert_allclose(library(f, (x,), folder)(x), f(x), rtol=1e-11, atol=1e-12 * n)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_short_transforms(n, tmp_path):
    checked(frequencies, (normal(n),), tmp_path)
    checked(smoothed, (normal(n),), tmp_path)


@pytest.mark.parametrize("n", [12, 37])
def test_gradients_of_transforms(n, tmp_path):
    checked(grad(power), (normal(n),), tmp_path)
    checked(grad(lambda x: np.sum(smoothed(x) ** 3)), (normal(n),), tmp_path)
    checked(grad(lambda x: np.sum(half(x) ** 2)), (normal(n),), tmp_path)


TRANSFORMS = {
    "two axes": lambda x: np.abs(np.fft.fft2(x)),
    "first axis": lambda x: np.fft.fft(x, axis=0),
    "middle axis": lambda x: np.fft.ifft(x[:, None] * np.ones((1, 5, 1)), axis=1),
    "a part of an array": lambda x: np.fft.fft(x[::2, 1:7].T),
    "ortho": lambda x: np.fft.fft(x, norm="ortho"),
    "forward": lambda x: np.fft.ifft(np.fft.fft(x, norm="forward"), norm="forward"),
    "back of half": lambda x: np.fft.irfft(x[:, :7] * (1 - 2j), norm="ortho"),
    "odd": lambda x: np.fft.irfft(x[:, :7] * (1 - 2j), n=13, axis=-1),
    "half along rows": lambda x: np.fft.rfft(x, axis=0, norm="forward"),
    "real of all axes": lambda x: np.fft.irfftn(np.fft.rfftn(x) * 2, s=x.shape, axes=(0, 1)),
    "a batch": vmap(lambda row: np.real(np.fft.ifft(row * 1j))),
    "integers": lambda x: np.fft.fft(np.arange(x.shape[0])) + x[:, 0],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_axes_and_norms(name, dtype, tmp_path):
    checked(TRANSFORMS[name], (normal(10, 12).astype(dtype),), tmp_path)


def upper(a):
    q, r = np.linalg.qr(a)
    return q, r


def projected(a):
    q, r = np.linalg.qr(a)
    return np.sum(q @ np.arange(1.0, q.shape[1] + 1) * a[:, 0]) + np.sum(np.abs(np.diag(r)))


@pytest.mark.parametrize("shape", [(12, 12), (15, 4), (4, 15), (9, 1), (1, 9), (2, 2)])
def test_qr_with_the_signs_of_lapack(shape, tmp_path):
    checked(upper, (normal(*shape),), tmp_path)


def test_qr_of_special_matrices(tmp_path):
    for k, a in enumerate(
        [np.eye(9), np.zeros((9, 4)), np.triu(normal(9, 9)), 1e200 * normal(9, 9)]
    ):
        (tmp_path / str(k)).mkdir()
        checked(upper, (a,), tmp_path / str(k))
    checked(vmap(upper), (normal(3, 9, 4),), tmp_path)


def test_the_gradient_of_qr(tmp_path):
    checked(grad(projected), (normal(12, 4),), tmp_path)


def spectrum(a):
    w, v = np.linalg.eigh(a)
    return w, v @ np.diag(np.exp(w / 10)) @ v.T


def upper_spectrum(a):
    return np.linalg.eigvalsh(a, "U")


def energy(a):
    w, v = np.linalg.eigh(a + a.T)
    return np.sum(w**3) + np.sum((v[:, 0] * v[:, 1]) ** 2)


def symmetric(n):
    a = normal(n, n)
    return a + a.T


@pytest.mark.parametrize("n", [1, 2, 3, 12, 40])
def test_eigenvalues(n, tmp_path):
    checked(spectrum, (symmetric(n),), tmp_path)
    checked(upper_spectrum, (normal(n, n),), tmp_path)  # half of it counts


def test_eigenvalues_of_special_matrices(tmp_path):
    first = np.zeros((9, 9))
    first[0, 1] = first[1, 0] = 1.0
    matrices = [
        *(np.eye(9), np.zeros((9, 9)), first, np.diag(np.arange(9.0) - 4)),
        *(np.ones((9, 9)), 1e-200 * symmetric(9), 1e-3 + np.diag([1e2] * 4 + [1.0] * 5)),
    ]
    for k, a in enumerate(matrices):
        (tmp_path / str(k)).mkdir()
        checked(spectrum, (a,), tmp_path / str(k))
    checked(vmap(spectrum), (np.stack([symmetric(9), np.eye(9)]),), tmp_path)
    checked(jit(upper_spectrum), (symmetric(9).astype(np.float32),), tmp_path)


def test_the_gradient_of_eigenvalues(tmp_path):
    checked(grad(energy), (normal(9, 9),), tmp_path)


def test_what_is_no_number_is_an_error(tmp_path):
    function = library(upper_spectrum, (symmetric(9),), tmp_path)
    with pytest.raises(Exception, match="Eigenvalues did not converge"):
        function(np.full((9, 9), np.nan))


def values(a):
    return np.linalg.svd(a, compute_uv=False)


def rebuilt(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return s, u @ np.diag(s) @ vt, u.T @ u, vt @ vt.T


@pytest.mark.parametrize("shape", [(12, 12), (15, 4), (4, 15), (9, 1), (2, 3)])
def test_singular_values(shape, tmp_path):
    checked(rebuilt, (normal(*shape),), tmp_path)
    if min(shape) > 1:
        checked(grad(lambda a: np.sum(values(a) ** 3)), (normal(*shape),), tmp_path)


def test_singular_values_of_special_matrices(tmp_path):
    matrices = [
        *(np.eye(9), np.zeros((9, 4)), np.ones((9, 4)), np.outer(normal(9), normal(9))),
        *(1e200 * normal(9, 4), 1e-200 * normal(4, 9), np.diag([3.0, 0, 2, 0, 0, 5, 1, 1, 1])),
    ]
    for k, a in enumerate(matrices):
        (tmp_path / str(k)).mkdir()
        f = values if np.max(np.abs(a)) > 1e100 else rebuilt
        checked(f, (a,), tmp_path / str(k))
    checked(values, (normal(9, 4).astype(np.float32),), tmp_path)


def solved(a, b):
    return np.linalg.lstsq(a, b, rcond=None)[0]


def inverse(a):
    return np.linalg.pinv(a)


def rank(a):
    return np.linalg.matrix_rank(a), np.linalg.norm(a, "nuc"), np.linalg.norm(a, 2)


@pytest.mark.parametrize("shape", [(12, 4), (4, 12), (9, 9)])
def test_least_squares(shape, tmp_path):
    a, b = normal(*shape), normal(shape[0], 3, seed=1)
    checked(solved, (a, b), tmp_path)
    checked(solved, (a, b[:, 0]), tmp_path)
    checked(inverse, (a,), tmp_path)
    checked(rank, (a,), tmp_path)
    checked(grad(lambda a: np.sum(solved(a, b) ** 2)), (a,), tmp_path)
    checked(grad(lambda a: np.sum(np.sin(inverse(a)))), (a,), tmp_path)
    checked(grad(lambda a: rank(a)[1] + rank(a)[2]), (a,), tmp_path)


def test_matrices_that_lack_rank(tmp_path):
    a = normal(12, 2) @ normal(2, 9, seed=1)
    for k, f in enumerate((inverse, rank)):
        (tmp_path / str(k)).mkdir()
        checked(f, (a,), tmp_path / str(k))
    checked(solved, (a, normal(12)), tmp_path)
    checked(rank, (np.zeros((9, 9)),), tmp_path)


def complex_spectrum(a):
    return np.linalg.eigvalsh(a * 1j)


def test_complex_matrices_are_refused():
    with pytest.raises(UnsupportedError, match=r"np\.linalg\.eigh of complex numbers has no form"):
        JitToC(complex_spectrum).module_for((normal(9, 9),), {})


def once(x):
    return np.unique(x)


def places(x):
    values, index, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    return values * counts, index, inverse


@pytest.mark.parametrize(
    "x",
    [
        np.round(2 * normal(40)),
        np.round(2 * normal(5, 9)),
        np.array([3, 1, 2, 3, 1, 1, 7, -4, 0, 0]),
        np.array([1.0, np.nan, -np.inf, np.nan, 0.5, np.inf, np.inf, 1.0, -0.5, 2.0]),
        np.zeros(9),
        np.arange(100.0)[::-1].copy(),
        np.array([5, 200, 3, 3, 255, 0, 0, 9, 8], np.uint8),
        normal(9) > 0,
    ],
    ids=str,
)
def test_unique_numbers(x, tmp_path):
    for f in (once, places):
        folder = tmp_path / f.__name__
        folder.mkdir()
        expected, values = f(x), library(f, (x,), folder)(x)
        pairs = [(values, expected)] if f is once else zip(values, expected, strict=True)
        for value, right in pairs:
            np.testing.assert_array_equal(value, right)


def test_the_gradient_of_unique_numbers(tmp_path):
    x = np.round(2 * normal(20)) / 2
    checked(grad(lambda x: np.sum(np.unique(x) ** 2)), (x,), tmp_path)
