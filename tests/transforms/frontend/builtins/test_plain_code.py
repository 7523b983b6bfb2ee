"""Functions of libraries that are plain NumPy code: entered where symbols are passed to them."""

import numpy as np
import pytest
import scipy.sparse
from numpy.polynomial import chebyshev, hermite_e, laguerre, legendre, polynomial

import tapeless
from tests.corpus.differences import gradient

signal = pytest.importorskip("scipy.signal", reason="SciPy is optional")
optimize = pytest.importorskip("scipy.optimize", reason="SciPy is optional")
stats = pytest.importorskip("scipy.stats", reason="SciPy is optional")

X = np.array([0.3, 1.2, 0.7, 2.1, 1.5, 0.4])
T = np.linspace(0.1, 1, 7)
PROGRAMS = {
    "polyval": lambda x: polynomial.polyval(x, x[:3]),
    "polyder": lambda x: polynomial.polyder(x) * polynomial.polyint(x)[:5],
    "polyvander": lambda x: polynomial.polyvander(x, 3),
    "polymul": lambda x: polynomial.polymul(x, x[:3]) + polynomial.polyfromroots(x[:7])[0],
    "polyadd": lambda x: polynomial.polyadd(x, x[:3]) - polynomial.polysub(x, x[:2]),
    "chebval": lambda x: chebyshev.chebval(x / 3, x) + np.sum(chebyshev.chebder(x)),
    "chebmul": lambda x: chebyshev.chebmul(x, x[:2]),
    "legval": lambda x: legendre.legval(x / 3, x) + np.sum(legendre.legint(x)),
    "hermeval": lambda x: hermite_e.hermeval(x, x[:4]),
    "lagval": lambda x: laguerre.lagval(x, x[:4]),
    "chirp": lambda x: signal.chirp(T, x[0], 1.0, x[1]),
    "gausspulse": lambda x: signal.gausspulse(x, fc=2.0),
    "sawtooth": lambda x: signal.sawtooth(x) + signal.square(x),
    "sweep_poly": lambda x: signal.sweep_poly(T, x[:2]),
    "rosen": lambda x: optimize.rosen(x) + optimize.rosen_der(x),
    "trimboth": lambda x: stats.trimboth(x, 0.2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    program = PROGRAMS[name]
    expected = program(X)
    np.testing.assert_allclose(tapeless.jit(program)(X), expected, rtol=1e-11)
    weights = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))

    def total(x):
        return np.sum(weights * program(x))

    np.testing.assert_allclose(tapeless.grad(total)(X), gradient(total, X), rtol=1e-5, atol=1e-6)


def test_numbers_that_are_known_are_computed_while_staging():
    def integral(x):
        nodes, weights = legendre.leggauss(5)
        return np.sum(weights * np.exp(-x * nodes))

    assert "eig" not in tapeless.grad(integral).source(0.7)
    assert tapeless.jit(integral)(0.7) == pytest.approx(2 * np.sinh(0.7) / 0.7, rel=1e-8)


def test_whether_an_array_is_sparse_is_known():
    def doubled(x):
        return 2 * (x.toarray() if scipy.sparse.issparse(x) or scipy.sparse.isspmatrix(x) else x)

    np.testing.assert_array_equal(tapeless.jit(doubled)(X), 2 * X)
