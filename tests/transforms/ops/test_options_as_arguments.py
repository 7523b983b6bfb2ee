"""Options of functions that are arguments of the program: values are those of NumPy and SciPy."""

import warnings

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special

import tapeless

X = np.array([0.3, -1.0, 2.0, 0.5])
M = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 1.5]])
OF_ORDERS = {
    "vector": lambda x, m, o: np.linalg.norm(x, o),
    "matrix": lambda x, m, o: np.linalg.norm(m, o),
    "rows": lambda x, m, o: np.linalg.norm(m, o, axis=1),
    "vector_norm": lambda x, m, o: np.linalg.vector_norm(x, ord=o),
    "matrix_norm": lambda x, m, o: np.linalg.matrix_norm(m, ord=o),
    "scipy": lambda x, m, o: sl.norm(x, o),
    "scipy matrix": lambda x, m, o: sl.norm(m, o),
    "cond": lambda x, m, o: np.linalg.cond(m, o),
}
OF_INTEGERS = {
    "tri": lambda x, m, k: np.tri(3, k=k),
    "eye": lambda x, m, k: np.eye(3, k=k),
    "eye of so many": lambda x, m, k: np.eye(k + 2, k=k),
    "tril_indices": lambda x, m, k: np.tril_indices(3, k),
    "triu": lambda x, m, k: np.triu(m, k),
    "trans": lambda x, m, k: sl.solve_triangular(m, m[0], trans=k),
    "gradient": lambda x, m, k: np.gradient(x, edge_order=k),
}


def outcome(f, *args):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tapeless.tree.leaves(f(*args))
    except (ValueError, np.linalg.LinAlgError) as e:
        return type(e)


def assert_as_numpy(function, *args):
    expected = outcome(function, *args)
    compiled = tapeless.jit(function)
    for f in (compiled.plain, compiled)[: 2 if args[-1] in (np.inf, 1) else 1]:
        actual = outcome(f, *args)
        if isinstance(expected, type):
            assert actual is expected
            continue
        for x, y in zip(actual, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10)


@pytest.mark.usefixtures("traced")  # floats decide what is computed
@pytest.mark.parametrize("order", [1, 2, 3, 2.5, 0, -1, np.inf, -np.inf, 1.0, None, "fro", "nuc"])
@pytest.mark.parametrize("name", OF_ORDERS)
def test_orders_of_norms(name, order):
    assert_as_numpy(OF_ORDERS[name], X, M, order)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers(name, k):
    assert_as_numpy(OF_INTEGERS[name], X, M, k)


@pytest.mark.parametrize("rcond", [1.5, 1.0, 0.5, 0.0, -1.0])
@pytest.mark.parametrize("a", [M, M[:, :2], M[:2], np.outer(M[0], M[0])], ids=range(4))
def test_least_squares_up_to_a_ratio(a, rcond):
    def fitted(a, rcond):
        x, squares, rank, _ = np.linalg.lstsq(a, a[:, 0] + 1, rcond)
        return a @ x, squares, rank

    expected = fitted(a, rcond)
    for x, y in zip(tapeless.jit(fitted).plain(a, rcond), expected, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, atol=1e-10)


@pytest.mark.parametrize("lower", [False, True])
def test_a_matrix_that_is_not_positive_is_an_error(lower):
    def solution(a, b):
        return np.sum(sl.solve(a, b, assume_a="pos", lower=lower) ** 2)

    slope = tapeless.jit(tapeless.value_and_grad(solution))
    value, derivative = slope(M, X[:3])
    assert value == pytest.approx(solution(M, X[:3]), rel=1e-12)
    step = np.zeros((3, 3))
    step[(1, 0) if lower else (0, 1)] = 1e-6
    difference = (solution(M + step, X[:3]) - solution(M - step, X[:3])) / 2e-6
    assert np.sum(derivative * step) / 1e-6 == pytest.approx(difference, rel=1e-6)
    with pytest.raises(np.linalg.LinAlgError):
        solution(M - 2 * np.eye(3), X[:3])
    with pytest.raises(np.linalg.LinAlgError):
        slope(M - 2 * np.eye(3), X[:3])


def test_norms_and_polynomials_of_float16():
    h = np.array([0.5, 0.25, 1.5], dtype=np.float16)
    assert tapeless.jit(np.linalg.norm).plain(h).dtype == np.linalg.norm(h).dtype
    scaled = lambda h, x: x * (np.linalg.norm(h) - np.sum(h > 0))  # noqa: E731
    np.testing.assert_allclose(tapeless.jit(scaled)(h, X), scaled(h, X), rtol=1e-6)
    assert tapeless.jit(lambda h: np.poly(h)).plain(h).dtype == np.poly(h).dtype


def solved_by_factors(a, b, k):
    return sl.lu_solve(sl.lu_factor(a), b, trans=k)


@pytest.mark.parametrize("imaginary", [0.0, 1.0j])
def test_kinds_of_systems_one_after_the_other(imaginary):
    """The second value of an option is the first that is no constant."""
    a, compiled = M + imaginary * M[::-1], tapeless.jit(solved_by_factors).plain
    for k in (1, 2, 0, 2, 1):
        expected = solved_by_factors(a, X[:3], k)
        np.testing.assert_allclose(compiled(a, X[:3], k), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="trans must be 0, 1 or 2, not 3"):
        compiled(a, X[:3], 3)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("n", [2, 80])  # in kernels, and by LAPACK
def test_singular_factors_give_infinities(n, k):
    a, b = np.eye(n) + np.eye(n, k=1), np.ones(n)
    a[-1, -1] = 0.0

    def solution(lu, rows, b):
        return sl.lu_solve((lu, rows), b, trans=k)

    expected = solution(a, np.arange(n), b)
    assert not np.all(np.isfinite(expected))
    for f in (tapeless.jit(solution).plain, tapeless.jit(solution)):
        np.testing.assert_array_equal(np.isfinite(f(a, np.arange(n), b)), np.isfinite(expected))


Z = np.array([[1 + 2j, 0.3, 1j], [0.2j, -1, 2.0], [0.5, 1 - 1j, 3]])
SINGLE = np.array([1.0, 2.0, 4.0, 3.0], np.float32)
ONE_AFTER_THE_OTHER = {
    "tril_indices": (lambda m: np.tril_indices(3, 1, m), (2, 0, None, 0, 5)),
    "triu_indices": (lambda m: np.triu_indices(3, 0, m), (None, 0, 2)),
    "columns of a triangle": (lambda n: np.triu_indices_from(np.ones((2, n))), (2, 0, 3)),
    "ndmin": (lambda k: np.array([1.0, 2.0], ndmin=k), (1, 3, 0)),
    "windows": (
        lambda m: [f(m) for f in (np.bartlett, np.hanning, np.hamming, np.blackman)],
        (3, 1.5, 1, 2.7, 0),
    ),
    "kaiser": (lambda m: np.kaiser(m, 2.0), (3, 1, 5)),
    "tensorinv": (lambda k: np.linalg.tensorinv(np.eye(6).reshape(6, 6) + 0.1, ind=k), (1, 1)),
    "transpose": (lambda k: np.transpose(X, k), (0, -1)),
    "real_if_close": (lambda t: np.real_if_close(X + 1e-14j, tol=t), (1000.0, 0.1, 100.0)),
    "compress": (lambda k: np.compress([True], X[0], axis=k), (0, -1)),
    "repeat": (lambda k: np.repeat(X[0], 2, axis=k), (0, -1)),
    "squeeze": (lambda k: np.squeeze(X[0], axis=k), (0, -1)),
    "rank of a vector": (lambda t: np.linalg.matrix_rank(X * t, tol=t), (0.1, 0.0)),
    "logsumexp": (lambda s: scipy.special.logsumexp(Z, axis=0, return_sign=s), (True, False)),
    "polyfit": (lambda d: np.polyfit(X, Z.ravel()[:4], d, cov=True), (1, 2)),
    "fractions of trials": (
        lambda p: [
            f(k, n, p)
            for f in (scipy.special.bdtr, scipy.special.bdtrc)
            for k in (0.0, 1.5, 2.0)
            for n in (0.5, 2.9, 3.0)
        ],
        (0.3, 1, 0.5, 0),
    ),
    "gradient of float32": (
        lambda h: np.gradient(SINGLE, h),
        (2.0, np.float64(3.0), np.array([0.0, 1.0, 3.0, 3.5])),
    ),
    "so many float32 numbers": (lambda n: np.linspace(SINGLE[0], SINGLE[1], n), (3, 1, 0, 5)),
    "powers of float32": (lambda n: np.logspace(SINGLE[0], SINGLE[1], n), (1, 3)),
    "lu": (lambda p: sl.lu(Z, permute_l=p), (False, True)),
}


@pytest.mark.usefixtures("traced")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ONE_AFTER_THE_OTHER)
def test_values_one_after_the_other(name):
    function, values = ONE_AFTER_THE_OTHER[name]
    compiled = tapeless.jit(function).plain
    for value in (*values, values[0]):
        expected = tapeless.tree.leaves(function(value))
        for x, y in zip(tapeless.tree.leaves(compiled(value)), expected, strict=True):
            assert (np.shape(x), np.asarray(x).dtype) == (np.shape(y), np.asarray(y).dtype)
            np.testing.assert_allclose(
                x, y, rtol=1e-7 if np.asarray(y).dtype == SINGLE.dtype else 1e-10, atol=1e-12
            )
