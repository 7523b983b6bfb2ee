"""SciPy's functions compute in SciPy's dtypes: results have the dtype and shape of theirs."""

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
import scipy.linalg as sl
import scipy.special

from tests.transforms.ops.agreement import check_values

M = np.array([[4, 1, 0], [1, 5, 2], [0, 2, 6]])
DTYPES = ("bool", "int8", "uint16", "int32", "float32", "float64")
MATRICES = {
    "cholesky": sl.cholesky,
    "inv": sl.inv,
    "det": sl.det,
    "pinv": sl.pinv,
    "svdvals": sl.svdvals,
    "eigvals": lambda a: np.sort(sl.eigvals(a).real),
    "eigvalsh": sl.eigvalsh,
    "polar": lambda a: sl.polar(a)[1],
    "qr": lambda a: np.abs(sl.qr(a, mode="economic")[1]),
    "toeplitz": sl.toeplitz,
    "hankel": lambda a: sl.hankel(a[0], a[1]),
    "circulant": sl.circulant,
    "solve_banded": lambda a: sl.solve_banded((1, 1), a[[0, 2, 1]], a[0]),
    "solveh_banded": lambda a: sl.solveh_banded(a[1:], a[0], lower=True),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices(name, dtype):
    matrix = np.eye(3, dtype=bool) if dtype == "bool" else M.astype(dtype)
    check_values(MATRICES[name], matrix, rtol=2e-6 if dtype != "float64" else 1e-9)


@pytest.mark.parametrize(
    "name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "irfft2"]
)
def test_transforms_of_half_floats(name):
    """SciPy transforms float16 as float32, NumPy as float16."""
    half = np.arange(12.0).reshape(3, 4).astype(np.float16)
    check_values(getattr(scipy.fft, name), half, rtol=1e-5)
    check_values(getattr(np.fft, name), half, rtol=4e-3)


@pytest.mark.parametrize("module", [scipy.fft, scipy.fftpack])
def test_transforms_along_one_axis_as_a_number(module):
    check_values(lambda x: module.fftn(x, axes=0), np.arange(6.0).reshape(2, 3))
    check_values(lambda x: module.ifft2(x, axes=(0, 0)), np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int16", "float64"])
@pytest.mark.parametrize("name", ["pbdv", "pbvv", "pbwa"])
def test_functions_of_an_order_that_is_a_number_of_python(name, dtype):
    x = np.array([0.5, 1.5, 2.0]).astype(dtype)
    check_values(lambda x: getattr(scipy.special, name)(2, x)[0], x, rtol=1e-6)


@pytest.mark.parametrize("kind", ["her", "pos", "sym"])
def test_systems_of_complex_matrices(kind):
    """LAPACK reads the diagonal of a Hermitian matrix as real."""
    matrix = M + 0.25j * (np.eye(3) + np.triu(M, 1) - np.tril(M, -1))
    check_values(lambda a: sl.solve(a, np.arange(3.0), assume_a=kind), matrix)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64"])
def test_functions_of_counts(dtype):
    x = np.array([0, 1, 3, 4]).astype(dtype)
    for f in (
        scipy.special.factorial,
        lambda x: scipy.special.comb(x, 2),
        lambda x: scipy.special.comb(5, x),
        lambda x: scipy.special.comb(x, x),
        lambda x: scipy.special.comb(x, x, repetition=True),
        lambda x: scipy.special.perm(x, 2),
        scipy.special.cbrt,
        scipy.special.exp2,
        scipy.special.expm1,
        scipy.special.log1p,
    ):
        check_values(f, x, rtol=1e-6)
    check_values(scipy.special.factorial, np.array([np.nan, -1.0, 2.5]))
