"""Options of functions: weights, densities, methods, what is assumed of matrices."""

import numpy as np
import pytest
import scipy.linalg

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError
from tests.corpus.differences import gradient
from tests.transforms.ops.agreement import check_slopes, check_values

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])
W = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
M = np.arange(6.0).reshape(2, 3)
Z = np.array([1 + 2j, 3 - 1j, 0.5j])
X = np.array([0.0, 1.0, 2.0, 3.0, 4.5, 6.0])
Y = np.array([1.0, 0.5, 2.0, 3.0, -1.0, 0.7])
V = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
B = np.array([1.0, 2.0, 3.0])

FITS = {
    "weighted": lambda x, y, w: np.polyfit(x, y, 2, w=w),
    "covariance": lambda x, y, w: np.polyfit(x, y, 2, cov=True)[1],
    "weighted covariance": lambda x, y, w: np.polyfit(x, y, 2, w=w, cov="unscaled")[1],
    "several": lambda x, y, w: np.polyfit(x, np.stack([y, x * y], 1), 2, w=w),
}


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    check_values(FITS[name], X, Y, V, rtol=1e-7)
    check_slopes(FITS[name], X, Y, V)


def test_constants_of_integrals():
    for k in (3.0, [3.0, 1.0]):
        check_values(lambda p, k=k: np.polyint(p, 2, k=k), A)
    check_slopes(lambda p: np.polyint(p, 1, k=p[0]), A)


EDGES = np.array([-2.0, 0.0, 1.0, 3.0])
HISTOGRAMS = {
    "density": lambda x, w: np.histogram(x, EDGES, density=True),
    "weights": lambda x, w: np.histogram(x, EDGES, weights=w),
    "both": lambda x, w: np.histogram(x, EDGES, weights=w, density=True),
    "a range": lambda x, w: np.histogram(x, 4, range=(-1, 1), weights=w),
    "a number of bins": lambda x, w: np.histogram(x, 4, weights=w, density=True),
    "integers": lambda x, w: np.histogram(x, 4, weights=np.array([1, 2, 3, 4, 5])),
    "truth values": lambda x, w: np.histogram(x > 0, 3),
    "a matrix": lambda x, w: np.histogram(x[:4].reshape(2, 2), 3, weights=w[:4].reshape(2, 2)),
}


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(name):
    check_values(HISTOGRAMS[name], A, W)


def test_histogram_of_nothing():
    check_values(lambda x: np.histogram(x, 3), np.zeros(0))


@pytest.mark.parametrize("name", ["weights", "both"])
def test_slopes_of_histograms(name):
    check_slopes(lambda x, w: HISTOGRAMS[name](x, w)[0], A, W)


def test_histograms_of_a_batch():
    def f(w):
        return np.histogram(A, EDGES, weights=w)[0]

    rows = np.stack([W, 2 * W])
    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_allclose(run(rows), [f(w) for w in rows])


def test_slopes_at_the_ends_between_coordinates():
    x = np.array([0.0, 1.0, 3.0, 3.5, 5.0])
    f = np.stack([A, A * A], 1)
    check_values(lambda f, x: np.gradient(f, x, axis=0, edge_order=2), f, x)
    check_slopes(lambda f, x: np.gradient(f, x, axis=0, edge_order=2), f, x)
    check_values(lambda f, x: np.gradient(f, x, 0.5, edge_order=2), np.outer(A, A), x)


METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("q", [0.0, 0.125, 0.2, 0.25, 0.4, 0.5, 1.0, [0.2, 0.7]])
def test_quantiles_by_steps(method, q):
    for x in (A, A[:4], np.arange(8.0), np.arange(8)):
        check_values(lambda x: np.quantile(x, q, method=method), x)
    check_values(lambda x: np.quantile(x, q, axis=1, method=method, keepdims=True), M)
    check_slopes(lambda x: np.quantile(x, q, method=method), A)


@pytest.mark.parametrize("q", [0.0, 0.3, 1.0, [0.2, 0.7]])
def test_quantiles_by_weights(q):
    def f(x, w):
        return np.quantile(x, q, weights=w, method="inverted_cdf")

    check_values(f, A, W)
    check_values(f, A, np.array([0.0, 0.0, 1.0, 2.0, 1.0]))
    check_values(f, A, -W)
    check_values(f, M, M)
    check_slopes(f, A, W)
    check_values(lambda x, w: np.quantile(x, q, weights=w), A, W)
    check_values(lambda x, w: np.percentile(x, 30, weights=w, method="inverted_cdf"), A, W)


def test_quantiles_by_weights_along_an_axis():
    with pytest.raises(UnsupportedError, match="along an axis"):
        jit(lambda m, w: np.quantile(m, 0.5, axis=1, weights=w, method="inverted_cdf"))(M, B)


def test_medians_of_complex_numbers():
    check_values(lambda z: np.median(z), Z)
    check_values(lambda z: np.median(z), np.append(Z, 1j))
    check_values(lambda z: np.median(z), np.append(Z, np.nan))
    check_values(lambda z: np.median(z, axis=0, keepdims=True), Z.reshape(3, 1))
    check_slopes(lambda x: np.median(x[:4] + 1j * x[1:]), A)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_correlations_of_complex_numbers(mode):
    check_values(lambda z: np.correlate(z, z[:2], mode), Z)
    check_values(lambda z: np.correlate(z[:2], z, mode), Z)
    check_values(lambda z: np.correlate(z.real, z[:2], mode), Z)
    check_slopes(lambda x: np.correlate(x[:4] + 1j * x[1:], x[:3] * 1j, mode), A)


ASSUMED = ("gen", "sym", "her", "pos", "diagonal", "upper triangular", "lower triangular")


@pytest.mark.parametrize("assumed", ASSUMED)
@pytest.mark.parametrize("lower", [False, True])
def test_systems(assumed, lower):
    def f(a, b):
        return scipy.linalg.solve(a, b, assume_a=assumed, lower=lower)

    a = S + 0.01 * (np.triu(S, 1) if lower else np.tril(S, -1))  # the triangle that is not read
    if assumed == "diagonal":
        a = np.diag(B)
    check_values(f, a, B)
    if assumed in ("sym", "pos", "gen"):
        check_slopes(f, a, B)


def test_transposed_systems():
    check_values(lambda a, b: scipy.linalg.solve(a, b, transposed=True), S + np.triu(S), B)
    with pytest.raises(ValueError, match="not a recognized matrix structure"):
        jit(lambda a, b: scipy.linalg.solve(a, b, assume_a="nice"))(S, B)


EIGEN = {
    "two matrices": lambda a, b: scipy.linalg.eigh(a, b, eigvals_only=True),
    "values of two": lambda a, b: scipy.linalg.eigvalsh(a, b),
    "vectors of two": lambda a, b: np.abs(scipy.linalg.eigh(a, b)[1]),
    "some values": lambda a, b: scipy.linalg.eigh(a, subset_by_index=[1, 2])[0],
    "some vectors": lambda a, b: np.abs(scipy.linalg.eigh(a, subset_by_index=[1, 2])[1]),
    "the upper triangle": lambda a, b: scipy.linalg.eigvalsh(a, lower=False),
}


@pytest.mark.parametrize("name", EIGEN)
def test_eigenvalues(name):
    check_values(EIGEN[name], S, S + np.eye(3), rtol=1e-8)


@pytest.mark.parametrize("name", ["two matrices", "some values"])
def test_slopes_of_eigenvalues(name):
    def f(a, b):
        return EIGEN[name](a + a.T, b + b.T)

    check_slopes(f, S / 2, S / 2 + np.eye(3))


def test_numbers_as_lines():
    check_values(lambda x: np.argsort(x[0]), A)
    check_values(lambda x: np.take(x[0], [0, 0], axis=-1), A)
    check_values(lambda m: np.lexsort(m), M)


FITS_TOLD = {
    "full": lambda x, y, w: np.polyfit(x, y, 2, full=True)[:4],
    "full, weighted": lambda x, y, w: np.polyfit(x, y, 1, full=True, w=w)[1],
    "full, several": lambda x, y, w: np.polyfit(x, np.stack([y, x * y], 1), 2, full=True)[:2],
    "all points met": lambda x, y, w: np.polyfit(x[:3], y[:3], 2, full=True)[:3],
    "rcond": lambda x, y, w: np.polyfit(x, y, 2, rcond=1e-12),
    "rcond, covariance": lambda x, y, w: np.polyfit(x, y, 2, rcond=1e-12, w=w, cov=True)[1],
}


@pytest.mark.parametrize("name", FITS_TOLD)
def test_polyfit_tells_of_the_fit(name):
    f = FITS_TOLD[name]
    r = np.random.default_rng(3)
    x, y, w = r.uniform(-1, 1, 8), r.normal(size=8), r.uniform(0.5, 2, 8)

    def objective(y):
        parts = f(x, y, w)
        return sum(np.sum(part * 1.5) for part in (parts if isinstance(parts, tuple) else (parts,)))

    for ours, theirs in zip(jit(f)(x, y, w), f(x, y, w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(grad(objective)(y), gradient(objective, y), rtol=1e-5, atol=1e-8)
